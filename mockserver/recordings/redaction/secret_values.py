"""What the form of a value says: an ordinary value, a secret, and what stands in its place."""

import re
from collections.abc import Callable, Iterable
from functools import partial

from mockserver.recordings.redaction.secret_names import (
    Secrecy,
    contract_words,
    phrase_words,
    secrecy,
)

MASK = "redacted"
SHORTEST = 6
"""Characters; a shorter value is not searched elsewhere: it would match unrelated text."""

_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-6]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT"
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_WORD = re.compile(r"[A-Za-z]{1,12}|[A-Z][A-Z0-9]{0,9}(?:\.[a-zA-Z]{1,4})?")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{16,}")
_LONG_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_PLACEHOLDER = re.compile(r"(?:0x)?0{16,}|1{1,90}|\*+|(?:redacted)+r?e?d?a?c?t?e?")
# What fills addresses and data up, and what holds JSON together, stands in most messages.
_FILLING = re.compile(
    r"(?:0x)?[0-9a-fA-F]*(?:0{4}|[fF]{4})[0-9a-fA-F]*|0x[0-9a-fA-F]{4}|[\[\]{}\",:\\\s]+"
)
_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~$-]{20,}")
_FEWEST_CHARACTERS = 4
_LONG = 16


def is_ordinary(value: str) -> bool:
    """Tell whether a value is one that many things have: a number, a date, an address, a word."""
    return len(value) < SHORTEST or len(set(value)) < _FEWEST_CHARACTERS or is_public(value)


def is_everywhere(value: str) -> bool:
    """Tell whether a certain secret cannot be searched, since healthy messages have that text."""
    is_filling = len(set(value)) < _FEWEST_CHARACTERS and _FILLING.fullmatch(value) is not None
    return len(value) < SHORTEST or is_filling or is_public(value)


def is_public(value: str) -> bool:
    """Tell whether a value has the form of a number, a date, an address or a word."""
    return (
        any(form.fullmatch(value) for form in (_NUMBER, _DATE, _ADDRESS, _WORD, _PLACEHOLDER))
        or value.lower() in contract_words()
    )


def has_kept_form(value: str) -> bool:
    """Tell whether a value has a form that members of the contract have, also hexadecimal."""
    return bool(_LONG_HEX.fullmatch(value)) or is_public(value)


def looks_secret(value: str, *, is_token: bool = False) -> bool:
    """Tell whether the value of a member such as `key` is a secret; a token may be an address."""
    if is_token and re.fullmatch(r"0x[0-9a-fA-F]{64}(?:::.*)?", value):
        return False
    if is_ordinary(value) or value.startswith(("http://", "https://")):
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return " " not in value and (mixed or len(value) >= _LONG)


def is_secret(name: str, value: str) -> bool:
    """Tell whether a value is a secret where it stands under this name."""
    match secrecy(name):
        case Secrecy.CERTAIN:
            return True
        case Secrecy.POSSIBLE:
            return looks_secret(value, is_token="token" in name.lower())
    return False


def is_random(value: str) -> bool:
    """Tell whether a value is a secret by its form: long, with digits and letters of both cases."""
    return (
        bool(_TOKEN.fullmatch(value))
        and not _HEX.fullmatch(value.replace("-", ""))
        and all(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    )


def stand_in(value: str) -> str:
    """Return what stands in the place of a secret: a number for a number, digits for digits."""
    if _PLACEHOLDER.fullmatch(value):
        return value
    if _NUMBER.fullmatch(value):
        return re.sub("[0-9]", "1", value)
    if _HEX.fullmatch(value):
        prefix = value[: 2 * value.startswith("0x")]
        return prefix + "0" * (len(value) - len(prefix))
    return MASK


_RULES: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(expression), group)
    for expression, group in (
        (r"-----BEGIN ([A-Z ]*PRIVATE KEY[A-Z ]*)-----((?:(?!-----END)[\s\S])*)", 2),
        (r"(?<![\w-])(eyJ[\w-]{5,}\.[\w-]{2,}(?:\.[\w-]*){0,3})", 1),
        (r"(?i)\b(?:bearer|basic|token|negotiate)(?:\s+|%20|\.)(?:token=)?([\w+/=.~-]{12,})", 1),
        (r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/?#:@\"'<>]{0,99}:([^\s/?#@\"'<>]{1,200})@", 1),
        (r"(?<![\w/:.])[\w.+-]{1,64}:([^\s/:@\"'<>&=,]{6,200})@[\w-]+", 1),
        (
            r"(?<![\w-])([rs]k_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas)-[\w-]{15,}|xox[a-z]-[\w-]{10,})",
            1,
        ),
        (
            r"(?<![\w-])((?:npm_|shp[a-z]{2}_|pypi-|hf_|whsec_|dop_v1_|glsa_|figd_|hv[sb]\.|lin_api_|ya29\.)[\w-]{20,})",
            1,
        ),
        (
            r"(?<![\w-])(sk-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|v[1-4]\.(?:local|public)\.[\w.-]{20,})",
            1,
        ),
        (r"(?i)(?<![\w-])(AGE-SECRET-KEY-1[a-z0-9]{20,}|nsec1[a-z0-9]{50,})", 1),
        (
            r"(?<![\w-])((?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{30,}|[xyz]prv[A-HJ-NP-Za-km-z1-9]{50,})",
            1,
        ),
        (
            r"\bhttps?://[^\s\"'<>/]+/(?:[^\s\"'<>?#/]+/)*?(?:v\d+|rpc|services(?:/\w+){2})/([\w-]{24,})",
            1,
        ),
        (r"\bbot\d{6,}:([\w-]{20,})", 1),
        (r"\bjdbc:oracle:\w+:[^/\s]{1,64}/([^@\s]{1,200})@", 1),
        (
            r"(?<![\w$])\$(?:apr1|2[abxy]?|[156y]|argon2\w+|scrypt|pbkdf2[\w-]*)\$([\w./$,=+-]{16,})",
            1,
        ),
        (r"(?i)\b(?:private|secret|signing|wallet)?[ _-]?key\W{1,4}((?:0x)?[0-9a-f]{64})\b", 1),
        (r"(?<![0-9a-zA-Z])([5KL][1-9A-HJ-NP-Za-km-z]{50,51})(?![0-9a-zA-Z])", 1),
    )
)
# What the rules cannot do without: words, which are cheap to look for, and keys of services, which
# have a prefix with a sign before what is random.
_HINTS = tuple(
    "-----begin eyj @ $ bearer basic token negotiate key :// bot akia asia aiza prv nsec1".split()
)
_RANDOM = re.compile(r"[_.-][\w-]{10}|[5KL]\w{50}")
_PHRASE = re.compile(r"(?<![a-zA-Z])[a-zA-Z]{3,8}(?:[^a-zA-Z]{1,6}[a-zA-Z]{3,8}){11,}(?![a-zA-Z])")
_FEWEST_WORDS = 12
_SHORTEST_PHRASE = 4 * _FEWEST_WORDS - 1


def has_any(words: Iterable[str], text: str) -> bool:
    """Tell whether expressions that ask for one of these words can match, which is much cheaper."""
    # Beyond ASCII, several letters are the same without capitals.
    lowered = text.lower()
    return not text.isascii() or any(word in lowered for word in words)


def without_forms(text: str, hide: Callable[[str], str]) -> str:
    """Return a text in which `hide` has replaced each secret that its form gives away."""
    if has_any(_HINTS, text) or _RANDOM.search(text):
        for pattern, group in _RULES:
            text = pattern.sub(partial(_swapped, group, hide), text)
    if len(text) < _SHORTEST_PHRASE:
        return text
    return _PHRASE.sub(lambda match: _phrase(match[0], hide), text)


def _swapped(group: int, hide: Callable[[str], str], match: re.Match[str]) -> str:
    value = match[group]
    if (
        not value.strip()
        or is_ordinary(value)
        or (value.isalpha() and (value.islower() or value.istitle()))
    ):
        return match[0]
    start, end = match.span(group)
    at = match.start()
    return match[0][: start - at] + hide(value) + match[0][end - at :]


def _phrase(text: str, hide: Callable[[str], str]) -> str:
    """Return a run of words in which twelve and more of a mnemonic phrase are hidden."""
    hidden, done, stretch = [], 0, list[re.Match[str]]()
    for word in [*re.finditer("[a-zA-Z]+", text), None]:
        if word is not None and word[0].lower() in phrase_words():
            stretch.append(word)
            continue
        if len(stretch) >= _FEWEST_WORDS:
            start, end = stretch[0].start(), stretch[-1].end()
            hidden += [text[done:start], hide(text[start:end])]
            done = end
        stretch = []
    return "".join(hidden) + text[done:]
