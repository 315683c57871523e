"""What a rule stands on, in words: the section and what it says, the cite key, the assumption."""

from mockserver.conformance.report.causes import Cause
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Basis, BasisKind, Contract, shipped_facts


def told_by(basis: Basis, contract: Contract, *, section_of: str = "", shows: str = "") -> str:
    """Return where a fact stands, and what it says; more words about the first two kinds."""
    says = f": {basis.says}" if basis.says else ""
    match basis.kind:
        case BasisKind.DOCUMENTED:
            return f"section {section(basis.reference)}{section_of}{says}"
        case BasisKind.OBSERVED:
            return f"what {basis.reference} shows{shows}{says}"
        case _:
            return f"assumption {basis.reference}{assumption(basis, contract)}"


def explain_basis(basis: Basis, contract: Contract) -> str:
    """Return a sentence that names what a finding contradicts, and what that says."""
    verb = "contradicts" if basis.kind is BasisKind.DOCUMENTED else "differs from"
    return f"{verb} {told_by(basis, contract)}"


def ground_of(cause: Cause, contract: Contract) -> str:
    """Return a sentence that names what a cause contradicts, or that nothing mentions it."""
    if cause.verdict is Verdict.EXTRA:
        says = f": {cause.basis.says}" if cause.basis.says else ""
        return f"the description does not mention it{says}"
    return explain_basis(cause.basis, contract)


def section(reference: str) -> str:
    """Return a section with its title, as in `2.3 (2.0 resources)`."""
    title = shipped_facts().section_title(reference)
    return f"{reference} ({title})" if title else reference


def assumption(basis: Basis, contract: Contract) -> str:
    """Return what an assumption says: in the words of the rule, else of the register."""
    found = next((one for one in contract.assumptions if one.id == basis.reference), None)
    title = f" ({found.title})" if found else ""
    says = basis.says or (found.chosen if found else "")
    return f"{title}: {says}" if says else title
