"""The chains and tokens a world knows, looked up by every name the two generations use."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from mockserver.engine.refusal import Naming, Refusal, digits, excerpt, unknown
from mockserver.fast_dataclass import dataclass, keep

EVM_FAMILY = 1
"""The chain family of EVM chains (DEMO)."""

TRON_FAMILY = 5
"""The chain family of Tron (KF)."""
KASPA_FAMILY = 6
"""The chain family of Kaspa (KF)."""
SOLANA_FAMILY = 7
"""The chain family of Solana (KF)."""

NATIVE = "0x" + "e" * 40
"""The address of a chain's native coin, on every chain (DEMO, GHOST)."""

_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
# Bounded, since clients choose the names.
_MOST_CACHED_ENDS = 4_096
_OTHER_ADDRESS = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain as the lists of both generations show it (DEMO, OAE); unknown parts are empty."""

    nickname: str
    full_name: str
    index: int
    network: str
    base_coin: str
    decimals: int = 18
    family: int = EVM_FAMILY
    v1_name: str | None = None
    v1_id: int | None = None
    v1_icon: str = ""
    poll: int = 10
    confirmations: int = 3
    sig_method: int = 0
    bip44_path: str = "m/44'/60'/0'/0/0"
    public_endpoint: str = ""
    private_endpoint: str = ""
    scan_url: str = ""
    need_nonce: bool = True
    no_swap: bool = False
    disabled: bool = False
    delisted: bool = False
    evm_is_legacy: bool | None = None
    gas_price_amplifier: str | None = None
    minter: str = ""
    minter_proxy: str = ""
    minter_proxy_v2: str = ""
    swap_proxy: str = ""
    vault: str = ""
    weth: str = ""
    swap_gas_min: str = ""
    swap_gas_max: str = ""
    pair_token: str | None = None

    @property
    def evm(self) -> bool:
        """Whether the chain runs Ethereum's virtual machine."""
        return self.family == EVM_FAMILY

    @property
    def chain_id(self) -> int:
        """The number of its network; 0 where that is none, as on chains that are no EVM chains."""
        return int(self.network) if self.network.isdecimal() else 0

    @property
    def has_node(self) -> bool:
        """Whether wallets can talk to a node of the chain here."""
        return self.family in (EVM_FAMILY, TRON_FAMILY, KASPA_FAMILY, SOLANA_FAMILY)

    @property
    def active(self) -> bool:
        return not (self.disabled or self.delisted)

    @property
    def deposit_addresses(self) -> frozenset[str]:
        """Where deposits go, in lower case: minter, proxies and vault."""
        proxies = (self.minter_proxy, self.minter_proxy_v2, self.swap_proxy)
        return frozenset(
            address.lower() for address in (self.minter, *proxies, self.vault) if address
        )

    @property
    def carries_orders(self) -> bool:
        """Whether orders travel in contract calls: on EVM chains and on Tron (SDK2)."""
        return self.evm or self.family == TRON_FAMILY


@dataclass(frozen=True, slots=True)
class TokenContract:
    """A token on one chain. `decimals` may differ from the same token's on another chain.

    No aggregator finds a way to or from an `unroutable` one.
    """

    address: str
    decimals: int
    burnable: bool = False
    disable_bridge: bool = False
    delisted: bool = False
    krc20_tradeable: bool | None = None
    unroutable: bool = False

    @property
    def native(self) -> bool:
        return self.address.lower() == NATIVE


@dataclass(frozen=True, slots=True)
class Token:
    """An asset and its contracts by chain nickname.

    One that is not `listed` stands in no list; its address and symbol are known all the same, as of
    a token that a client imports.
    """

    index: int
    symbol: str
    name: str
    contracts: Mapping[str, TokenContract]
    cmcid: int | None = None
    visible: bool = True
    delisted: bool = False
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Placed:
    """A token on a chain: what a quote starts from or ends in."""

    chain: Chain
    token: Token
    contract: TokenContract
    symbol: str = field(init=False, repr=False, compare=False)
    """The token's symbol."""
    decimals: int = field(init=False, repr=False, compare=False)
    """The token's decimals on this chain."""
    offered: bool = field(init=False, repr=False, compare=False)
    """Whether the chain is active and the token not delisted, in general and on this chain."""

    def __post_init__(self) -> None:
        """Copy what every quote reads: these attributes are on the hottest path."""
        put, chain, token = object.__setattr__, self.chain, self.token
        put(self, "symbol", token.symbol)
        put(self, "decimals", self.contract.decimals)
        gone = token.delisted or self.contract.delisted
        put(self, "offered", chain.active and not gone)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All chains and tokens, with their look-ups; names are case-sensitive."""

    chains: Sequence[Chain]
    tokens: Sequence[Token]
    _by_nickname: dict[str, Chain] = field(init=False, repr=False, compare=False)
    _by_v1_name: dict[str, Chain] = field(init=False, repr=False, compare=False)
    _by_symbol: dict[str, Token] = field(init=False, repr=False, compare=False)
    _by_index: dict[int, Token] = field(init=False, repr=False, compare=False)
    _by_address: dict[tuple[str, str], Token] = field(init=False, repr=False, compare=False)
    _placed: dict[tuple[str, str], Placed] = field(init=False, repr=False, compare=False)
    _ends: dict[tuple[str, str, str], tuple[Placed, Placed]] = field(
        init=False, repr=False, compare=False
    )
    _order_ends: dict[tuple[str, int, str | None, int], tuple[Placed, Placed]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        put = object.__setattr__
        # Plain dictionaries, built once: each request looks up several names.
        put(self, "_by_nickname", {chain.nickname: chain for chain in self.chains})
        named = {chain.v1_name: chain for chain in self.chains if chain.v1_name is not None}
        put(self, "_by_v1_name", named)
        put(self, "_by_symbol", {token.symbol: token for token in self.tokens})
        put(self, "_by_index", {token.index: token for token in self.tokens})
        # After the look-up of nicknames, which it uses.
        put(self, "_by_address", dict(self._addresses()))
        put(self, "_placed", {})
        put(self, "_ends", {})
        put(self, "_order_ends", {})

    def chain(self, nickname: str, about: str = "chain") -> Chain:
        """Return the chain of a 2.0 nickname. Raises `Refusal` for any other text."""
        chain = self._by_nickname.get(nickname)
        if chain is None:
            raise self._no_chain(nickname, about, v1=False)
        return chain

    def chain_v1(self, name: str, about: str = "chain") -> Chain:
        """Return the chain of a v1 name. Raises `Refusal` for any other text."""
        chain = self._by_v1_name.get(name)
        if chain is None:
            raise self._no_chain(name, about, v1=True)
        return chain

    def _no_chain(self, name: str, about: str, *, v1: bool) -> Refusal:
        """Return the refusal of an unknown chain, with a hint where the other interface has it."""
        known, others = self._by_nickname, self._by_v1_name
        if v1:
            known, others = others, known
        chain = others.get(name)
        if chain is None:
            return unknown("unknown-chain", about, name, known)
        right = chain.v1_name if v1 else chain.nickname
        means = "the first generation's name; the 2.0 interface"
        if v1:
            means = "a nickname of the 2.0 interface; v1"
        called = "does not offer it" if right is None else f"calls it {right!r}"
        nearest = () if right is None else (right,)
        reason = f"{about} {name!r} is {means} {called}"
        return Refusal("unknown-chain", reason, about=about, nearest=nearest)

    def v1_name(self, nickname: str) -> str:
        """Return what v1 calls the chain of a nickname; nothing where v1 does not offer it."""
        chain = self._by_nickname.get(nickname)
        return "" if chain is None else chain.v1_name or ""

    def v1_chains(self) -> tuple[Chain, ...]:
        """Return the chains v1 offers, in the catalog's order."""
        return tuple(self._by_v1_name.values())

    def named(self, name: str) -> Chain | None:
        """Return the chain that either generation calls so, or None."""
        return self._by_nickname.get(name) or self._by_v1_name.get(name)

    def token(self, symbol: str, about: str = "token") -> Token:
        """Return the token of a symbol. Raises `Refusal` where there is none."""
        token = self._by_symbol.get(symbol)
        if token is None:
            raise unknown("unknown-token", about, symbol, self._by_symbol)
        return token

    def token_by_index(self, index: int, about: str = "target token") -> Token:
        """Return the token of an index. Raises `Refusal` where there is none."""
        token = self._by_index.get(index)
        if token is None:
            # By distance, and the smaller of two that are equally far: the same on every run.
            near = sorted(self._by_index, key=lambda known: (abs(known - index), known))[:3]
            raise Refusal(
                "unknown-token",
                f"{about} index {digits(index, 80)} is not known; nearest are "
                f"{', '.join(map(str, near))}",
                about=about,
                nearest=map(str, near),
            )
        return token

    def placed(self, chain: Chain, token: Token, about: str = "token") -> Placed:
        """Return a token on a chain. Raises `Refusal` where it has no contract there."""
        key = (chain.nickname, token.symbol)
        placed = self._placed.get(key)
        if placed is not None and placed.token is token and placed.chain is chain:
            return placed
        contract = token.contracts.get(chain.nickname)
        if contract is None:
            raise _not_on_chain(chain, token, about)
        placed = self._placed[key] = Placed(chain, token, contract)
        return placed

    def token_on(self, nickname: str, symbol: str) -> Placed:
        """Return a token on a chain by their 2.0 names. Raises `Refusal` where it is not there."""
        return self.placed(self.chain(nickname), self.token(symbol))

    def ends(self, symbol: str, source: str, target: str) -> tuple[Placed, Placed]:
        """Return a token on two chains, named by their nicknames. Raises `Refusal`."""
        key = (symbol, source, target)
        known_ends = self._ends.get(key)
        if known_ends is None:
            chains = self.chain(source, "source chain"), self.chain(target, "target chain")
            token = self.token(symbol)
            known_ends = self.placed(chains[0], token), self.placed(chains[1], token)
            keep(self._ends, key, known_ends, _MOST_CACHED_ENDS)
        return known_ends

    def ends_by_index(
        self, source: str, source_index: int, target: str | None, target_index: int
    ) -> tuple[Placed, Placed]:
        """Return two tokens by index, each on the chain of a nickname. Raises `Refusal`.

        Without a target both are on the source chain.
        """
        key = (source, source_index, target, target_index)
        known_ends = self._order_ends.get(key)
        if known_ends is None:
            begin = self.chain(source, "source chain")
            end = begin if target is None else self.chain(target, "target chain")
            tokens = (
                self.token_by_index(source_index, "source token"),
                self.token_by_index(target_index, "target token"),
            )
            known_ends = (
                self.placed(begin, tokens[0], "source token"),
                self.placed(end, tokens[1], "target token"),
            )
            keep(self._order_ends, key, known_ends, _MOST_CACHED_ENDS)
        return known_ends

    def placed_at(self, chain: Chain, address: str, about: str = "token address") -> Placed:
        """Return the token whose contract has that address; EVM addresses match in any case.

        Raises `Refusal` where there is none.
        """
        placed = self.token_at(chain, address)
        if placed is None:
            raise unknown("unknown-token", about, address, self._known_addresses(chain))
        return placed

    def token_at(self, chain: Chain, address: str) -> Placed | None:
        """Return the token whose contract has that address, or None.

        For many look-ups: a refusal seeks the nearest names, which takes milliseconds.
        """
        token = self._by_address.get((chain.nickname, address_key(chain, address)))
        return None if token is None else self.placed(chain, token)

    def tokens_on(self, chain: Chain) -> tuple[Placed, ...]:
        """Return every listed token that has a contract on a chain, in the catalog's order."""
        return tuple(
            Placed(chain, token, token.contracts[chain.nickname])
            for token in self.tokens
            if token.listed and chain.nickname in token.contracts
        )

    def no_account(self, chain: Chain, address: str) -> str:
        """Return why nobody has what is sent to an address, as a predicate; empty where it may be.

        A contract of another chain is as wrong: who holds that address here, nobody knows.
        """
        for home in (chain, *self.chains):
            where = "" if home is chain else f", on {home.nickname}"
            if address.lower() in home.deposit_addresses:
                return f"is an address of the service, where deposits go{where}"
            if (token := self.token_at(home, address)) is not None:
                return f"is the contract of {token.symbol}{where}"
        if address.lower() == f"0x{'0' * 40}":
            return "is the zero address, of which nobody has the key"
        # Families of other chains may use 32 bytes in hex; 20 are those of EVM, and of Tron's node.
        is_evm = _EVM_ADDRESS.fullmatch(address) is not None
        if is_evm and chain.family not in (EVM_FAMILY, TRON_FAMILY):
            word = "Solana" if chain.family == SOLANA_FAMILY else chain.full_name or chain.nickname
            return f"is an address of EVM chains, and {word} is none"
        return ""

    def _addresses(self) -> Iterator[tuple[tuple[str, str], Token]]:
        for token in self.tokens:
            for nickname, contract in token.contracts.items():
                chain = self._by_nickname.get(nickname)
                if chain is not None:
                    yield (nickname, address_key(chain, contract.address)), token

    def _known_addresses(self, chain: Chain) -> Iterator[str]:
        for (nickname, address), token in self._by_address.items():
            if nickname == chain.nickname and token.listed:
                yield address


def _not_on_chain(chain: Chain, token: Token, about: str) -> Refusal:
    def reason(named: Naming) -> str:
        homes = ", ".join(repr(home) for contract in token.contracts if (home := named(contract)))
        there = f"it is on {homes or 'no chain that is offered here'}"
        return f"{about} {token.symbol!r} is not on {named(chain.nickname)!r}; {there}"

    return Refusal("token-not-on-chain", reason, about=about, nearest=token.contracts)


def address_key(chain: Chain, address: str) -> str:
    """Return an address in the form it is compared in: lower case on EVM chains, else as it is."""
    return address.lower() if chain.evm or address.lower() == NATIVE else address


def checked_address(chain: Chain, address: str, about: str = "address") -> str:
    """Return an address that has the form of its chain. Raises `Refusal` for any other text."""
    # Addresses of other chains have many forms: that they are printable is all that is checked.
    pattern = _EVM_ADDRESS if chain.family == EVM_FAMILY else _OTHER_ADDRESS
    if pattern.fullmatch(address):
        return address
    right = "'0x' and 40 hexadecimal digits" if chain.evm else "1 to 128 printable characters"
    raise Refusal(
        "bad-address",
        lambda named: (
            f"{about} {excerpt(address)} is no address of {named(chain.nickname)!r}; send {right}"
        ),
        about=about,
    )
