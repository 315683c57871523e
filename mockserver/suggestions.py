"""What somebody may have meant by a name that nothing has: the end of a refusal."""

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches


def did_you_mean(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """Return `; did you mean 'X'?` for the nearest known name, or an empty text.

    A mapping gives the name that is meant by each way to call it.
    """
    meant = known if isinstance(known, Mapping) else {candidate: candidate for candidate in known}
    names_by_likeness: dict[float, str] = {}
    # First with the words in any order: `quote-bridge` is near to `bridge-quote`.
    for form in (_sorted_words, str.casefold):
        folded, wanted = {form(meaning): it for meaning, it in meant.items()}, form(str(name)[:200])
        for near in get_close_matches(wanted, folded, n=1, cutoff=0.6):
            names_by_likeness[SequenceMatcher(None, near, wanted).ratio()] = folded[near]
    return (
        f"; did you mean {names_by_likeness[max(names_by_likeness)]!r}?"
        if names_by_likeness
        else ""
    )


def _sorted_words(name: str) -> str:
    return " ".join(sorted(re.findall(r"[^\W_]+", name.casefold())))
