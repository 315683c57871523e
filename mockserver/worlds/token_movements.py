"""What the transactions of a chain move, and what the service's own contracts hold by them."""

from collections.abc import Iterator

from mockserver.engine.catalog import NATIVE, Catalog, Chain
from mockserver.engine.ledger import account_address
from mockserver.engine.payouts import Payout
from mockserver.operations.deposit_transactions import moved_by, payer_in
from mockserver.signing import keccak, rlp
from mockserver.worlds.transaction_store import ChainTransaction

ZERO = f"0x{0:040x}"

TokenMove = tuple[str, str, str, int]
"""A token's address, who paid, who received, hexadecimal ones in lower case, and smallest units."""


def vault_of(chain: Chain) -> str:
    """Return the contract by which the service pays out on a chain."""
    return account_address(chain.minter_proxy_v2 or chain.minter or chain.vault or ZERO)


def own_contracts(chain: Chain) -> frozenset[str]:
    """Return where deposits of a chain arrive and payouts come from."""
    further = chain.minter, chain.swap_proxy, "" if chain.evm else chain.vault
    return frozenset({vault_of(chain), *map(account_address, further)} - {""})


def created_by(tx: ChainTransaction) -> str:
    """Return the address of the contract that a transaction makes."""
    packed = rlp.encoded([bytes.fromhex(tx.sender[2:]), rlp.number(tx.nonce)])
    return f"0x{keccak.keccak256(packed)[12:].hex()}"


def of_transaction(catalog: Catalog, tx: ChainTransaction) -> Iterator[TokenMove]:
    """Yield what a transaction moved, in smallest units; gas goes to the zero address."""
    if tx.gas_cost:
        yield NATIVE, account_address(tx.sender), ZERO, tx.gas_cost
    moved = moved_by(tx)
    if tx.order_id is not None and moved is not None:
        token, sender, to = map(account_address, (moved[0], tx.sender, tx.to))
        contract = catalog.placed_at(catalog.chain(tx.chain), token).contract
        yield token, sender, ZERO if contract.burnable else to, moved[2]
    elif tx.moved:
        moving, receiver, _ = moved or (NATIVE, tx.to or created_by(tx), 0)
        token, payer, payee = map(account_address, (moving, payer_in(tx), receiver))
        yield token, payer, payee, tx.moved


def of_payout(catalog: Catalog, payout: Payout, lent: int) -> Iterator[TokenMove]:
    """Yield what a payout moved; before it the vault was `lent` what it lacked."""
    chain = catalog.chain(payout.chain)
    contract = catalog.token_on(chain.nickname, payout.token).contract
    token, vault = account_address(contract.address), vault_of(chain)
    if lent:
        yield token, ZERO, vault, lent
    # What the service has wrapped itself it makes anew.
    payee = account_address(payout.recipient)
    yield token, ZERO if contract.burnable else vault, payee, payout.units
