"""What a rule stands on, in words: the section and what it says, the cite key, the assumption."""

from mockserver.conformance.report.causes import Cause
from mockserver.conformance.verdict import Basis, Grounds, Verdict
from mockserver.contract import Contract

SECTIONS = {
    "1": "what the service does",
    "2": "resources and their fields",
    "2.1": "response envelope",
    "2.2": "v1 request resources",
    "2.3": "2.0 resources",
    "3": "states and transitions",
    "4": "endpoints",
    "4.1": "endpoints of v1",
    "4.2": "endpoints of 2.0",
    "5": "authentication",
    "6": "events",
    "7": "errors",
    "8": "limits",
    "9": "versioning",
}
"""The titles of the sections of the interface description."""


def ground(basis: Basis, contract: Contract) -> str:
    """Return a sentence that names what a finding contradicts, and what that says."""
    says = f": {basis.says}" if basis.says else ""
    match basis.grounds:
        case Grounds.DOCUMENTED:
            return f"contradicts section {section(basis.reference)}{says}"
        case Grounds.OBSERVED:
            return f"differs from what {basis.reference} shows{says}"
        case _:
            return f"differs from assumption {basis.reference}{assumption(basis, contract)}"


def ground_of(cause: Cause, contract: Contract) -> str:
    """Return a sentence that names what a cause contradicts, or that nothing mentions it."""
    if cause.verdict is Verdict.EXTRA:
        says = f": {cause.basis.says}" if cause.basis.says else ""
        return f"the description does not mention it{says}"
    return ground(cause.basis, contract)


def section(reference: str) -> str:
    """Return a section with its title, as in `2.3 (2.0 resources)`."""
    number = reference.split(maxsplit=1)[0] if reference else ""
    while number and number not in SECTIONS:
        number = number.rpartition(".")[0]
    return f"{reference} ({SECTIONS[number]})" if number else reference


def assumption(basis: Basis, contract: Contract) -> str:
    """Return what an assumption says: in the words of the rule, else of the register."""
    found = next((one for one in contract.assumptions if one.id == basis.reference), None)
    title = f" ({found.title})" if found else ""
    says = basis.says or (found.chosen if found else "")
    return f"{title}: {says}" if says else title
