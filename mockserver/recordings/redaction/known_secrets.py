"""The secrets that exchanges have had: looked for in all later texts, in whatever letters."""

import html
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from mockserver.recordings.redaction.nested_encodings import SHORT
from mockserver.recordings.redaction.secret_values import MASK, is_everywhere, stand_in
from mockserver.signing.keyring import DEMO_APP_KEY

_WINDOW = 6
_FEW = 48
# Messages quote values cut short: so many characters are recognised as the beginning of a secret.
_BEGINNING = 12
_BEGINNING_FROM = 16
_BEGINNING_DIVERSE = 5
_LONGEST = 4096
_MOST_UNQUOTED = 4
_FOLD = re.compile(r"[ \t\r]*\n[ \t]*")
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


class Memory:
    """Texts that are secrets, and only those: ordinary traffic cannot fill it. It forgets none.

    Numbers, dates, words and the like are not taken in, since they stand everywhere for other
    reasons; those that a user has named are. A value that a member of the contract has is no
    secret, whatever else has it.
    """

    def __init__(self, named: Iterable[str] = ()) -> None:
        """Begin with the secrets that a user has named."""
        self._named = tuple(text.lower() for text in named if text)
        self._texts: dict[str, None] = {}
        self._public: set[str] = {DEMO_APP_KEY, MASK}
        self._windows: dict[str, set[str]] = {}
        self._starts: dict[str, set[str]] = {}
        self.has_short = any(len(text) < SHORT for text in self._named)
        """Whether a secret is as short that its base64 looks like a word."""
        self.size = 0
        """Grows with each new secret, and with each that turns out to be none."""

    def add(self, value: str) -> None:
        text = value.strip().lower()
        if (
            text in self._texts
            or text in self._public
            or len(value) > _LONGEST
            or is_everywhere(value.strip())
        ):
            return
        self._texts[text] = None
        self.has_short = self.has_short or len(text) < SHORT
        self._windows.setdefault(text[:_WINDOW], set()).add(text)
        self.add_packed(text)
        self.size += 1

    def add_packed(self, run: str) -> None:
        """Take in a coded text that holds a secret: its beginning may be unpacked as well."""
        text = run.lower()
        start = text[:_BEGINNING]
        if len(text) >= _BEGINNING_FROM and len(set(start)) >= _BEGINNING_DIVERSE:
            self._starts.setdefault(start, set()).add(text)

    def is_public(self, value: str) -> bool:
        """Tell whether a text is known to be no secret."""
        return value.lower() in self._public

    def declare(self, values: Iterable[str]) -> None:
        """Take in texts that are no secrets, such as published examples."""
        self._public.update(value.lower() for value in values)

    def release(self, value: str) -> None:
        """Forget a text that a member of the contract has."""
        text = value.lower()
        if text in self._texts:
            del self._texts[text]
            self._windows[text[:_WINDOW]].discard(text)
            self._starts.get(text[:_BEGINNING], set()).discard(text)
            self._public.add(text)
            self.size += 1

    def occurring(self, text: str) -> list[str]:
        """Return the secrets that stand in a text, the longest first."""
        if not (self._texts or self._named):
            return []
        secrets = {secret for view in _views(text) for secret in self._in(view.lower())}
        return sorted(secrets, key=lambda secret: (-len(secret), secret))

    def _in(self, lowered: str) -> Iterator[str]:
        yield from (text for text in self._named if text in lowered)
        if len(self._texts) <= _FEW:
            # A copy: another thread may read another exchange.
            yield from (text for text in tuple(self._texts) if text in lowered)
            return
        # Many secrets, such as one signature a request: each window of the text is looked up.
        starts = self._windows.keys() & {
            lowered[at : at + _WINDOW] for at in range(len(lowered) - _WINDOW + 1)
        }
        known = (text for start in starts for text in tuple(self._windows[start]))
        yield from (text for text in known if text in lowered)

    def without(self, text: str) -> str:
        """Return a text without secrets, in whatever spelling of their characters."""
        for secret in self.occurring(text):
            text = re.sub(re.escape(secret), _stand_in, text, flags=re.IGNORECASE)
        for secret in self.occurring(text):
            text = _spellings(secret).sub(MASK, text)
        # What is spelled in two ways at once cannot be cut out.
        return MASK if self.occurring(text) else text

    def without_beginnings(self, text: str) -> str:
        """Return a text without secrets and without the beginnings of long ones.

        For messages, which quote values cut short; a beginning of packed bytes can be unpacked.
        """
        text = self.without(text)
        for start in self._starting(text):
            text = _cut_out(text, start, tuple(self._starts[start]))
        # What is spelled in another way as well cannot be cut out.
        return MASK if any(map(self._starting, _views(text))) else text

    def _starting(self, text: str) -> list[str]:
        """Return the beginnings of secrets that stand in a text."""
        lowered = text.lower()
        starts = self._starts.keys() & {
            lowered[at : at + _BEGINNING] for at in range(len(lowered) - _BEGINNING + 1)
        }
        return [start for start in starts if self._starts[start]]


def _cut_out(text: str, start: str, secrets: Iterable[str]) -> str:
    at = text.lower().find(start)
    while at >= 0:
        rest = text[at:].lower()
        extent = max(_shared(rest, secret) for secret in secrets)
        text = text[:at] + MASK + text[at + extent :]
        at = text.lower().find(start, at + len(MASK))
    return text


def _shared(text: str, secret: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(text, secret, strict=False))
    return next((at for at, (shown, known) in pairs if shown != known), min(len(text), len(secret)))


def _stand_in(match: re.Match[str]) -> str:
    return stand_in(match[0])


def _views(text: str) -> Iterator[str]:
    """Yield a text as it is, without the escapes of addresses, HTML and JSON, and in one line."""
    yield text
    plain = text
    for _ in range(_MOST_UNQUOTED):
        if "%" not in plain:
            break
        plain = unquote(plain, errors="replace")
        yield plain
    if "+" in plain:
        yield plain.replace("+", " ")
    if "&" in text:
        yield html.unescape(html.unescape(text))
    if "\\" in text:
        yield _ESCAPE.sub(_unescaped, text)
    if "\0" in text:
        yield text.replace("\0", "")
    # In JSON, a line that is folded has an escape in its place, and is looked at by itself.
    if "\n" in text and text[:1] not in "{[":
        yield _FOLD.sub("", text)


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else match[3]


@lru_cache(1024)
def _spellings(secret: str) -> re.Pattern[str]:
    """Return an expression of a text in lower case: folded, with any of its characters escaped."""
    fold = rf"(?:{_FOLD.pattern})?"
    return re.compile(fold.join(map(_spelling, secret)), re.IGNORECASE)


def _spelling(character: str) -> str:
    forms = [rf"\\*{re.escape(character)}\0?"]
    for letter in dict.fromkeys((character, character.upper())):
        bytes_ = letter.encode("utf-8", "surrogatepass")
        forms.append("".join(rf"%(?:25)*{byte:02x}" for byte in bytes_))
        forms.append(
            rf"\\+(?:u00|x){ord(letter):02x}" if ord(letter) < 256 else rf"\\+u{ord(letter):04x}"
        )
        forms.append(rf"&(?:amp;)*#(?:0*{ord(letter)}|x0*{ord(letter):x});")
    names = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos"}
    if character in names:
        forms.append(rf"&(?:amp;)*{names[character]};")
    short = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f"}
    if character in short:
        forms.append(rf"\\+{short[character]}")
    if character == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join(forms)})"
