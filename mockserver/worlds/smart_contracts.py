"""What the contracts of a chain take and refuse: tokens and the service's proxies.

There is no bytecode: a token does what OpenZeppelin's ERC-20 of version 4 does, with its reasons
(A-391), and the proxies what the published source does (SOL).
"""

from contextlib import suppress

from mockserver.engine import abi
from mockserver.engine.catalog import NATIVE, Chain, Placed
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.engine.swap_quotes import ROUTERS
from mockserver.operations.deposit_transactions import (
    GAS_NATIVE,
    SWAP,
    VAULT_OUT,
    ContractCall,
    Reverted,
    moved_by,
    order_in,
    payer_in,
    spent_allowance,
    taken_by_contract,
)
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.token_movements import ZERO, vault_of

MULTICALL = "0xca11bde05977b3631167028862be2a173976ca11"
"""Multicall3, which has this address on every chain it was deployed to."""

BALANCE_OF, ALLOWANCE = bytes.fromhex("70a08231"), bytes.fromhex("dd62ed3e")
DECIMALS, SYMBOL, NAME = map(bytes.fromhex, ("313ce567", "95d89b41", "06fdde03"))
TOTAL_SUPPLY = bytes.fromhex("18160ddd")
CHANGING = (abi.TRANSFER, abi.APPROVE, abi.TRANSFER_FROM)
_TOKEN = (*CHANGING, BALANCE_OF, ALLOWANCE, DECIMALS, SYMBOL, NAME, TOTAL_SUPPLY)

# What a call costs beside its data, about as on the chains.
_GAS = {
    abi.TRANSFER: 30_000,
    abi.APPROVE: 25_000,
    abi.TRANSFER_FROM: 40_000,
    VAULT_OUT: 90_000,
    SWAP: 180_000,
}
_GAS_BYTE, _GAS_ZERO_BYTE = 16, 4
_GAS_CREATION, _GAS_WORD, _GAS_CODE_BYTE = 32_000, 2, 200
_GAS_ACCESS, _GAS_KEY = 2_400, 1_900
_GAS_FLOOR = 10


def token_at(hosted: HostedWorld, chain: Chain, address: str) -> Placed | None:
    """Return the token whose contract has an address; the base coin has none."""
    with suppress(Refusal):
        placed = hosted.world.scenario.catalog.placed_at(chain, address)
        return None if placed.contract.native else placed
    return None


def has_code(hosted: HostedWorld, chain: Chain, address: str) -> bool:
    contracts = {chain.minter_proxy, chain.minter_proxy_v2, chain.swap_proxy, chain.weth, MULTICALL}
    known = address.lower() in {each.lower() for each in contracts} | set(ROUTERS.values())
    return known or token_at(hosted, chain, address) is not None


def holding(hosted: HostedWorld, placed: Placed, address: str) -> int:
    """Return what an address owns of a token now, in smallest units; never below 0."""
    return max(0, units_held(hosted, placed, address))


def units_held(hosted: HostedWorld, placed: Placed, address: str) -> int:
    """Return what an address has of a token now: the books say it, and blocks of own contracts."""
    kept = hosted.blocks.kept(hosted, placed, address)
    return hosted.world.balances.of_placed(placed, address).units if kept is None else kept


def base_coin(hosted: HostedWorld, chain: Chain) -> Placed:
    return hosted.world.scenario.catalog.placed_at(chain, NATIVE)


def coins_of(hosted: HostedWorld, chain: Chain, address: str) -> int:
    """Return what an address owns of a chain's own coin now, in smallest units."""
    return holding(hosted, base_coin(hosted, chain), address)


def intrinsic_gas(
    data: bytes, *, creation: bool, access: tuple[tuple[str, tuple[str, ...]], ...] = ()
) -> int:
    """Return the gas that a transaction costs before any contract runs (yellow paper)."""
    zeros = data.count(0)
    gas = GAS_NATIVE + zeros * _GAS_ZERO_BYTE + (len(data) - zeros) * _GAS_BYTE
    gas += sum([_GAS_ACCESS + _GAS_KEY * len(keys) for _, keys in access])
    return gas + (_GAS_CREATION + _GAS_WORD * -(-len(data) // 32) if creation else 0)


def least_gas(data: bytes) -> int:
    """Return what a transaction costs at least for its data, whatever it runs (EIP-7623)."""
    zeros = data.count(0)
    return GAS_NATIVE + _GAS_FLOOR * (zeros + 4 * (len(data) - zeros))


def execution_gas(hosted: HostedWorld, chain: Chain, call: ContractCall) -> int:
    """Return the gas that running a contract costs."""
    if not call.to:
        return _GAS_CODE_BYTE * len(call.data)
    # Data sent to an account without code runs nothing.
    return _GAS.get(call.data[:4], 0) if has_code(hosted, chain, call.to) else 0


def check_call(hosted: HostedWorld, chain: Chain, call: ContractCall) -> None:
    """Raise `Reverted` where a token or a proxy would not take a call."""
    placed = token_at(hosted, chain, call.to) if call.to else None
    if placed is not None:
        _check_token(hosted, placed, call)
    elif call.data[:4] in (VAULT_OUT, SWAP):
        _check_deposit(hosted, chain, call)


def order_carried(hosted: HostedWorld, chain: Chain, call: ContractCall) -> OrderRequest | None:
    """Return the order of a call that its contract takes, or None where it carries none.

    Raises `Reverted`, and `Refusal` for what the service refuses later.
    """
    check_call(hosted, chain, call)
    request = order_in(hosted.world, call)
    if request is not None and hosted.node.finite_vault:
        _check_vault(hosted, request)
    return request


def _check_vault(hosted: HostedWorld, request: OrderRequest) -> None:
    """Check that the vault of the chain of arrival has what it does not owe already (A-510)."""
    target = request.target
    if target.contract.burnable or not target.chain.has_node:
        return
    vault = vault_of(target.chain)
    # Less what is owed: orders on their way will be paid from it as well.
    left = holding(hosted, target, vault) - hosted.world.payouts.owed(target)
    promised = hosted.world.orders.promised(request)
    if left < promised:
        raise Reverted(
            f"the vault {vault} of {target.chain.nickname} has {max(0, left)} smallest units of "
            f"{target.symbol} that it owes nobody, and this order is paid {promised}; "
            "POST /__mock/faucet gives it more",
            "",
        )


def _check_token(hosted: HostedWorld, placed: Placed, call: ContractCall) -> None:
    method = call.data[:4]
    if call.value:
        raise Reverted(f"the token {placed.symbol!r} takes no {placed.chain.base_coin}", "")
    if method not in _TOKEN:
        raise Reverted(f"the token {placed.symbol!r} has no method '0x{method.hex()}'", "")
    if method not in CHANGING:
        return
    try:
        arguments = abi.arguments(abi.METHODS[method.hex()], call.data[4:])
    except abi.NotThisCall:
        raise Reverted("the arguments of the call end too early", "") from None
    if method == abi.APPROVE:
        if arguments["spender"] == ZERO:
            raise Reverted("ERC20: approve to the zero address")
        return
    # The allowance first, as OpenZeppelin's tokens do: clients compare the words of the revert.
    check_allowance(hosted, placed, call)
    if arguments["to"] == ZERO:
        raise Reverted("ERC20: transfer to the zero address")
    moved = moved_by(call)
    _check_balance(hosted, placed, payer_in(call), moved[2] if moved else 0, "transfer")


def _check_deposit(hosted: HostedWorld, chain: Chain, call: ContractCall) -> None:
    """Check what the proxy takes of a token; what it takes of the base coin came as value."""
    taken = taken_by_contract(call)
    placed = token_at(hosted, chain, taken[0]) if taken else None
    if taken is None or placed is None:
        return
    if call.value:
        raise Reverted(
            f"the call brings {chain.base_coin}, and the order takes {placed.symbol}", ""
        )
    # What the service burns itself needs no approval, by all public material.
    burnt = bool(placed.contract.burnable)
    if not burnt:
        check_allowance(hosted, placed, call)
    _check_balance(hosted, placed, call.sender, taken[1], "burn" if burnt else "transfer")


def check_allowance(hosted: HostedWorld, placed: Placed, call: ContractCall) -> None:
    """Raise `Reverted` where somebody takes more of a token than its owner allowed."""
    spent = spent_allowance(call)
    if spent is None:
        return
    token, owner, units = spent
    by_proxy = taken_by_contract(call) is not None
    spender = call.to if by_proxy else call.sender
    allowed = hosted.transactions.allowance(call.chain, token, owner, spender)
    if allowed < units:
        reason = "ERC20: insufficient allowance"
        raise Reverted(
            f"{reason}: {spender} may take {allowed} of {placed.contract.address}, the "
            f"{'order' if by_proxy else 'transfer'} needs {units}; call 'approve' of the token "
            "first",
            reason,
        )


def _check_balance(hosted: HostedWorld, placed: Placed, owner: str, units: int, what: str) -> None:
    owned = holding(hosted, placed, owner)
    if owned < units:
        reason = f"ERC20: {what} amount exceeds balance"
        raise Reverted(
            f"{reason}: {owner} owns {owned} smallest units of {placed.symbol} on "
            f"{placed.chain.nickname}, the call moves {units}; POST /__mock/faucet gives more",
            reason,
        )
