"""Requests with one wrong value each: chosen by hand, since every request has its price."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from mockserver.conformance.basis import basis_of_input
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.requests.negative import Kind, NegativeCase
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun
from mockserver.contract import Basis, Field, Operation, assumed
from mockserver.jsontext import Json, plain

Value = Callable[[Json, RunContext, str], Json]
"""Makes a wrong value of the right one; the text is a label to draw by."""

_NO_NUMBERS = ("plenty", "NaN", "Infinity", "ten", "1,5.0")
_ODD_NUMBERS = ("1e5", "0x64", " ", "+100", "1.")


def negative(value: Json, _: RunContext, __: str) -> Json:
    """Return the same amount below zero."""
    if isinstance(value, str):
        return f"-{value.removeprefix('-')}"
    return -value if isinstance(value, int | Decimal) else -1


def zero(value: Json, _: RunContext, __: str) -> Json:
    """Return zero in the same type."""
    return "0" if isinstance(value, str) else 0


def with_letters(value: Json, _: RunContext, __: str) -> Json:
    """Return digits with letters behind, which a careless reader takes as far as digits go."""
    return f"{value}abc"


def no_number(_: Json, context: RunContext, label: str) -> Json:
    """Return a text that is no number at all."""
    return context.draw(label).choice(_NO_NUMBERS)


def odd_number(_: Json, context: RunContext, label: str) -> Json:
    """Return a number in a form that nobody publishes."""
    return context.draw(label).choice(_ODD_NUMBERS)


def as_text(value: Json, _: RunContext, __: str) -> Json:
    """Return a number as text."""
    return plain(Decimal(value)) if isinstance(value, int | Decimal) else str(value)


def as_number(value: Json, _: RunContext, __: str) -> Json:
    """Return a text as a number: the one that it spells, else some number."""
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 40
    return int(value) if digits else 5


def unlisted_name(_: Json, context: RunContext, label: str) -> Json:
    """Return a name like those of chains and tokens that no list shows."""
    letters = "".join(context.draw(label).choices("QXZJKVW", k=6))
    inventory = inventory_of(context)
    names = {chain.name.upper() for chain in (*inventory.chains, *inventory.v1_chains)}
    names |= {token.symbol.upper() for token in (*inventory.tokens, *inventory.v1_tokens)}
    while letters in names:
        letters += "Q"
    return letters


def unlisted_address(_: Json, context: RunContext, label: str) -> Json:
    """Return the address of a contract that nobody has."""
    return f"0x{context.draw(label).getrandbits(160) | 1 << 159:040x}"


def unlisted_index(_: Json, context: RunContext, label: str) -> Json:
    """Return an index that no token has, as digits."""
    taken = {token.index for token in inventory_of(context).tokens}
    number = context.draw(label).randrange(800_000, 900_000)
    while str(number) in taken:
        number += 1
    return str(number)


def other_decimals(value: Json, _: RunContext, __: str) -> Json:
    """Return a count of decimals that is not the right one."""
    return "7" if str(value) != "7" else "9"


def long_past(value: Json, context: RunContext, _: str) -> Json:
    """Return a time an hour before that of the request, in the same unit."""
    text = str(value) if value else str(context.caller.timestamp_ms)
    unit = 1 if len(text) < 12 else 1000
    return str(int(text) - 3_600 * unit) if text.isascii() and text.isdecimal() else "0"


def broken_hex(value: Json, _: RunContext, __: str) -> Json:
    """Return the same text with letters in it that are no hex digits."""
    return f"{str(value)[:6]}xyz{str(value)[9:]}"


def another_address(value: Json, context: RunContext, label: str) -> Json:
    """Return another EVM address than the given one, read as a number where that is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value ^ 1
    if not isinstance(value, str) or not value.startswith("0x"):
        raise NotRun("the source address is not that of an EVM chain")
    return f"0x{context.draw(label).getrandbits(160) | 1 << 159:040x}"


def fixed(value: Json) -> Value:
    """Return what makes a value of any other."""
    return lambda _, __, ___: value


Row = tuple[str, str, Kind, str, Value]
"""The role of an input, words for the probe, the kind, what is wrong in words, and the value."""

_UNLISTED_CHAIN = ("unlisted", Kind.UNLISTED, "a chain that no list shows", unlisted_name)
_UNLISTED_TOKEN = ("unlisted", Kind.UNLISTED, "a token that no list shows", unlisted_name)
_UNLISTED_ADDRESS = ("unlisted", Kind.UNLISTED, "a contract that no list shows", unlisted_address)
_NEGATIVE = ("negative", Kind.AMOUNT, "an amount below zero", negative)
_ZERO = ("zero", Kind.AMOUNT, "an amount of zero", zero)
_LETTERS = ("with letters", Kind.AMOUNT, "digits with letters behind", with_letters)
_NO_NUMBER = ("no number", Kind.AMOUNT, "a text that is no number", no_number)
_ODD_NUMBER = ("odd number", Kind.AMOUNT, "a number in an odd form", odd_number)
_AS_TEXT = ("as text", Kind.TYPE, "a number in a text", as_text)
_AS_NUMBER = ("as number", Kind.TYPE, "a number instead of a text", as_number)
_DECIMALS = ("of another token", Kind.FORM, "decimals that no list shows", other_decimals)

_OF_ANOTHER = ("of another", Kind.FORM, "not the user's EVM address", another_address)

CHOSEN: Mapping[str, tuple[Row, ...]] = {
    "v1.getSupportTokens": (("chain", *_UNLISTED_CHAIN),),
    "v1.getCrossChainQuote": (
        ("token", *_UNLISTED_TOKEN),
        ("toChain", *_UNLISTED_CHAIN),
        ("amount", *_NEGATIVE),
        ("amount", *_AS_TEXT),
        ("feeLevel", *_AS_TEXT),
        ("timestamp", "no integer", Kind.TYPE, "a text that is no integer", fixed("soon")),
        ("timestamp", "long past", Kind.FORM, "a time that is long past", long_past),
    ),
    "v1.getTransferToMinterRaw": (
        ("chain", *_UNLISTED_CHAIN),
        ("token", *_UNLISTED_TOKEN),
        ("amount", *_ZERO),
        ("evmAddress", "malformed", Kind.FORM, "no EVM address", fixed("0x123")),
        ("fromAddress", *_OF_ANOTHER),
    ),
    "v1.submitCrossChain": (
        ("fromToken", *_UNLISTED_TOKEN),
        ("toChain", *_UNLISTED_CHAIN),
        ("fromAmount", *_NEGATIVE),
        ("fromAddress", *_OF_ANOTHER),
    ),
    "v2.getAssetsByChain": (("chain", *_UNLISTED_CHAIN),),
    "v2.getBridgeQuote": (
        ("symbol", *_UNLISTED_TOKEN),
        ("fromChain", *_UNLISTED_CHAIN),
        ("toChain", *_UNLISTED_CHAIN),
        ("amount", *_NEGATIVE),
        ("amount", *_ZERO),
        ("amount", *_LETTERS),
    ),
    "v2.getAggregateQuote": (
        ("fromTokenAddress", *_UNLISTED_ADDRESS),
        ("toTokenAddress", *_UNLISTED_ADDRESS),
        ("toChain", *_UNLISTED_CHAIN),
        ("toDecimal", *_DECIMALS),
        ("fromAmount", *_NEGATIVE),
        ("fromAmount", *_NO_NUMBER),
    ),
    "v2.getAggregateSwap": (
        ("toTokenAddress", *_UNLISTED_ADDRESS),
        ("chain", *_UNLISTED_CHAIN),
        ("fromAmount", *_ODD_NUMBER),
        ("slippage", "no number", Kind.FORM, "a text that is no number", no_number),
        ("allowPartialFill", "words", Kind.TYPE, "neither true nor false", fixed("perhaps")),
    ),
    "v2.getBalance": (("chain", *_UNLISTED_CHAIN),),
    "v2.getPrice": (("contractAddress", *_UNLISTED_ADDRESS),),
    "v2.getAllTicketByAddress": (
        ("filter", "unknown word", Kind.FORM, "a status that is not among them", fixed("Perhaps")),
    ),
    "v2.submitOrder": (
        ("orderType", "unknown", Kind.FORM, "neither '1' nor '2'", fixed("3")),
        ("orderType", *_AS_NUMBER),
        ("slippage", "of a swap", Kind.FORM, "not '0' for a cross-chain order", fixed("100")),
        ("sourceCerts", "no hex", Kind.FORM, "no hex string", broken_hex),
        ("toIndex", "unlisted", Kind.UNLISTED, "an index that no token has", unlisted_index),
    ),
    "v2.submitTicket": (("chain", *_UNLISTED_CHAIN),),
}
"""What is tried of each operation. No request has more than one thing wrong with it."""


def with_a(kind: Kind) -> tuple[str, ...]:
    """Return the ids of the operations of which something of a kind is tried."""
    return tuple(name for name, rows in CHOSEN.items() if any(row[2] is kind for row in rows))


def probes_with_a(kind: Kind) -> tuple[str, ...]:
    """Return the names of the probes of a kind."""
    return tuple(
        f"{name}/{role} {words}"
        for name, rows in CHOSEN.items()
        for role, words, of_kind, *_ in rows
        if of_kind is kind
    )


def wrong_values(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return how a request of an operation is made wrong, by the inputs that its contract has."""
    return tuple(_oddities(operation))


def _oddities(operation: Operation) -> Iterator[NegativeCase]:
    by_role = {field.role: field for field in operation.fields}
    for role, words, kind, told, value in CHOSEN.get(operation.id, ()):
        field = by_role.get(role)
        if field is not None:
            yield NegativeCase(
                words=f"{role} {words}",
                kind=kind,
                place=f"{field.location}.{field.name}",
                told=told,
                change=_changed(operation, field, value, words),
                basis=_basis(operation, field, kind, value),
                as_meant=value in (as_text, as_number),
            )


def _changed(
    operation: Operation, field: Field, value: Value, words: str
) -> Callable[[Draft, RunContext], Draft]:
    label = f"{operation.id} {field.name} {words}"

    def change(draft: Draft, context: RunContext) -> Draft:
        part = draft.part(field.location)
        if field.name not in part and field.location != "headers":
            raise NotRun(f"the usual request has no {field.location} {field.name!r} to make wrong")
        return draft.having(
            field.location, field.name, value(part.get(field.name, ""), context, label)
        )

    return change


_OF_NO_LIST = ("v2.getAggregateSwap", "v2.getBalance", "v2.getPrice")


def _basis(operation: Operation, field: Field, kind: Kind, value: Value) -> Basis | None:
    """Return what says that a value is wrong, where the schema of the request does not."""
    if field.schema.get("x-basis"):
        return None
    if kind is Kind.UNLISTED:
        return _listed(operation, field)
    if value is another_address and "integer" in field.types:
        return assumed("A-012", f"{field.name} is the EVM address, read as a number")
    if value is another_address:
        return basis_of_input(operation, field)
    if value is other_decimals:
        return assumed("A-211", f"{field.name} other than the token list's is refused")
    if field.role == "slippage" and operation.id == "v2.submitOrder":
        return None
    if value is long_past:
        return assumed("A-212", f"{field.name} further back than expireTime is refused")
    if kind is Kind.AMOUNT and value in (with_letters, no_number):
        return basis_of_input(operation, field)
    return None


def _listed(operation: Operation, field: Field) -> Basis:
    says = f"{field.name} is taken from the lists"
    if operation.id in _OF_NO_LIST or field.role == "toIndex":
        # Of these only the names are published, not where they are taken from; and an order is
        # carried out by its contract call, so that nobody may look at the index before.
        return assumed("A-213", says)
    return basis_of_input(operation, field)
