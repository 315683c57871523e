"""What a finding contradicts, and the explanation of a rule, in words."""

from collections.abc import Iterator, Sequence
from itertools import chain

from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.requests.probe import Group, Probe, ProbeIndex, Stage
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Assumption, Basis, BasisKind, Contract, shipped_facts
from mockserver.suggestions import did_you_mean
from mockserver.wording import listed

_WHY = {
    Severity.CRITICAL: "if it does not hold, money may be lost or paid twice",
    Severity.MAJOR: "if it does not hold, a client breaks or shows something wrong",
    Severity.MINOR: "if it does not hold, a careful client still copes",
}
_LAYERS = {
    "schema": "one body against its schema",
    "protocol": "HTTP, and the body as JSON",
    "exchange": "an answer against its own request",
    "cross": "several reads compared",
    "stateful": "a submission and what is read after it",
    "generation": "v1 against 2.0",
    "timing": "how long it takes",
}
_CONSEQUENCES = {
    BasisKind.DOCUMENTED: "breaking it is a violation of the description, and fails a run",
    BasisKind.OBSERVED: "breaking it differs from what was observed: --fail-on observed fails",
    BasisKind.ASSUMED: "breaking it differs from an assumption: --fail-on assumption fails",
}
_MOST_PROBES = 12


def rule_named(name: str, rules: Sequence[Rule]) -> Rule:
    """Return the rule of a name. Raises `UnsafeOrWrong` with the nearest names."""
    by_name = {rule.name: rule for rule in rules}
    if name not in by_name:
        known = did_you_mean(name, list(by_name)) or "; `crosschain-mock conform rules` lists them"
        raise UnsafeOrWrong(f"{name!r} is no rule{known}")
    return by_name[name]


def explained(
    rule: Rule, rules: Sequence[Rule], probes: Sequence[Probe], contract: Contract
) -> Iterator[tuple[str, str]]:
    """Yield the parts of the explanation of a rule with their headings, which may be empty."""
    yield "", f"{rule.name}: {rule.summary}"
    if rule.more:
        yield "details", rule.more
    yield "why", _WHY[rule.severity]
    yield "based on", _standing(rule.basis, contract)
    yield "consequence", _CONSEQUENCES[rule.basis.kind]
    yield "layer", f"{rule.layer}: {_LAYERS[rule.layer]}"
    yield "severity", rule.severity.value
    yield "operations", ", ".join(rule.operations)
    yield "requests", _needs(rule, probes)
    yield "example of a finding", _example(rule)
    beside = [known.name for known in rules if known.layer is rule.layer and known is not rule]
    words = set(rule.name.split("-"))
    if near := sorted(beside, key=lambda name: -len(words & set(name.split("-"))))[:4]:
        yield "see also", ", ".join(near)


def _standing(basis: Basis, contract: Contract) -> str:
    registered = _registered(basis, contract)
    if basis.kind is BasisKind.ASSUMED and registered is not None:
        chosen = f"{registered.chosen}, as {registered.reason}"
        others = "; ".join(registered.alternatives)
        title = f"assumption {registered.id} ({registered.title})"
        return f"{title}: {chosen}; as plausible: {others}"
    of, observed = " of the interface description", " of the service in use"
    return basis_in_words(basis, contract, section_of=of, shows=observed)


def _needs(rule: Rule, probes: Sequence[Probe]) -> str:
    if not rule.probes and not rule.every_exchange:
        return "its own, which --examples, --set sequences or --set deep generates"
    if rule.every_exchange:
        return "none of its own; it looks at the answers to all others"
    index = ProbeIndex(probes)
    groups = ((need,) if isinstance(need, str) else index.names((need,)) for need in rule.probes)
    probes_needed = list(chain.from_iterable(groups))
    stages = [index.by_name[name].stage for name in probes_needed if name in index.by_name]
    armed = "; some are submissions, sent with --arm-writes only" if Stage.WRITES in stages else ""
    titles = [need.title if isinstance(need, Group) else need for need in rule.probes]
    names = listed(titles, _MOST_PROBES)
    return f"{len(probes_needed)}, shared with other rules: {names}{armed}"


def _example(rule: Rule) -> str:
    operation = rule.operations[0] if rule.operations else "an operation"
    verdict = rule.basis.kind.contradicted
    text = f"{rule.says[:1].lower()}{rule.says[1:]}"
    return f"{verdict}: {rule.name} [{operation}], if this does not hold: {text}"


def basis_in_words(
    basis: Basis, contract: Contract, *, section_of: str = "", shows: str = ""
) -> str:
    """Return where a fact stands and what it says, with more words for the first two kinds."""
    says = f": {basis.says}" if basis.says else ""
    match basis.kind:
        case BasisKind.DOCUMENTED:
            return f"section {section(basis.reference)}{section_of}{says}"
        case BasisKind.OBSERVED:
            return f"what {basis.reference} shows{shows}{says}"
        case _:
            return f"assumption {basis.reference}{assumption(basis, contract)}"


def ground_of(verdict: Verdict, basis: Basis, contract: Contract) -> str:
    """Return a sentence that names what a finding contradicts, or that nothing mentions it."""
    if verdict is Verdict.EXTRA:
        says = f": {basis.says}" if basis.says else ""
        return f"the description does not mention it{says}"
    verb = "contradicts" if basis.kind is BasisKind.DOCUMENTED else "differs from"
    return f"{verb} {basis_in_words(basis, contract)}"


def section(reference: str) -> str:
    """Return a section with its title, as in `2.3 (2.0 resources)`."""
    title = shipped_facts().section_title(reference)
    return f"{reference} ({title})" if title else reference


def _registered(basis: Basis, contract: Contract) -> Assumption | None:
    return next((row for row in contract.assumptions if row.id == basis.reference), None)


def assumption(basis: Basis, contract: Contract) -> str:
    """Return what an assumption says: in the words of the rule, else of the register."""
    registered = _registered(basis, contract)
    title = f" ({registered.title})" if registered else ""
    says = basis.says or (registered.chosen if registered else "")
    return f"{title}: {says}" if says else title
