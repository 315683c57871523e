"""The engine that masks secrets: by role, by parsing, by name, by form, by what is known."""

import re
from decimal import Decimal
from functools import partial
from urllib.parse import quote, quote_plus, unquote

from mockserver import jsontext
from mockserver.http_messages import BadEncoding, query_pairs
from mockserver.jsontext import Json, NotJson
from mockserver.recordings.bodies import encode, layout_of
from mockserver.recordings.redaction import nested_encodings, text_splitting
from mockserver.recordings.redaction.masking_notes import Notes
from mockserver.recordings.redaction.secret_names import Secrecy, is_kept, secrecy
from mockserver.recordings.redaction.secret_values import (
    MASK,
    has_kept_form,
    is_random,
    is_secret,
    looks_secret,
    without_forms,
)

WALKED = 8 * 1024 * 1024
"""Bodies of more bytes are not taken apart: members are found by their names, and known secrets."""

_SIMPLE = re.compile(r"[\w .:+-]{0,11}|0x[0-9a-fA-F]{40}|-?[0-9]{1,80}(?:\.[0-9]{1,80})?")
# Digits alone may be those of bytes.
_DIGITS_OF_TEXT = re.compile(r"(?:[2-7][0-9]){6,}")
_JSON_START = ("{", "[", '"')
_HASH_LENGTH = 66
_LABELS = ("name", "key", "k", "header", "field", "param", "parameter", "loc")
# Members that name what their neighbours are only where they say it plainly.
_PLAIN_LABELS = ("type", "path", "id", "label", "variable", "method")
_ANY_LABEL = frozenset((*_LABELS, *_PLAIN_LABELS))
_LABELLED = frozenset(
    "value val v content text data rejectedvalue input received actual params args".split()
)
# Members of a key of JWK that is not public.
_OF_JWK = frozenset("d p q dp dq qi k".split())
_PAIR = 2
_LONGEST_COLUMN = 40
_SEGMENT = re.compile(r"[\w-]{24,}")
_SERVICE = re.compile(r"v\d+|rpc")
_LARGE_MEMBER = re.compile(rb'"([^"\\]{2,60})"\s*:\s*"([^"\\]*+(?:\\.[^"\\]*+)*+)"')


def _label(members: dict[str, Json]) -> str:
    """Return the name of a secret that a member tells of what its neighbours hold."""
    if _ANY_LABEL.isdisjoint(members):
        return ""
    for keys, least in ((_LABELS, Secrecy.POSSIBLE), (_PLAIN_LABELS, Secrecy.CERTAIN)):
        for key in keys:
            name = members.get(key)
            if isinstance(name, list) and name:
                name = name[-1]
            if isinstance(name, str) and secrecy(name) >= least:
                return name
    return ""


def _columns(members: dict[str, Json]) -> list[str]:
    """Return the names of columns that stand in a member, where one of them is of secrets."""
    for item in members.values():
        if (
            isinstance(item, list)
            and item
            and all(isinstance(name, str) and len(name) <= _LONGEST_COLUMN for name in item)
            and any(secrecy(name) is Secrecy.CERTAIN for name in item)
        ):
            return item
    return []


class Masker(Notes):
    """Masks the parts of one message, with the secrets of all messages before it."""

    def learn(self, text: str) -> None:
        """Take in the secrets that stand in a text which is not kept."""
        self._search = False
        self.text("", text)
        self._search = True

    def body(self, raw: bytes, charset: str = "") -> bytes:
        """Return a body without secrets, in the form and the encoding that it came in."""
        if not raw:
            return raw
        if len(raw) > WALKED:
            return self._large(raw)
        encoding = nested_encodings.encoding_of(raw, charset)
        if encoding is not None:
            return self._encoded(raw, encoding)
        packed = nested_encodings.inflated(raw)
        if packed is not None:
            inner, again = packed
            changed = self._deeper(lambda: self.body(inner))
            return raw if changed == inner else again(changed)
        return self._encoded(raw, "latin-1")

    def _encoded(self, raw: bytes, encoding: str) -> bytes:
        text, rest = nested_encodings.text_and_rest(raw, encoding)
        # One search of the whole saves that of each text in it.
        self._search = "\\" in text or "%" in text or bool(self.memory.occurring(text))
        changed = self.text("", text)
        self._search = True
        if self._stand_ins is not None and text.lstrip()[:1] not in ("{", "["):
            changed = self._stand_ins.text(changed)
        if changed == text:
            return raw
        errors = nested_encodings.WIDE if encoding.startswith(("utf-16", "utf-32")) else "strict"
        return changed.encode(encoding, errors) + rest

    def _large(self, raw: bytes) -> bytes:
        def member(match: re.Match[bytes]) -> bytes:
            name, value = match[1].decode("utf-8", "replace"), match[2].decode("utf-8", "replace")
            if not is_secret(name, value):
                return match[0]
            start, end = match.span(2)
            return (
                match[0][: start - match.start()]
                + self._hidden(name, "name", value).encode()
                + match[0][end - match.start() :]
            )

        text = _LARGE_MEMBER.sub(member, raw).decode("latin-1")
        return self._known("", text).encode("latin-1")

    def query(self, query: str) -> str:
        """Return a query without secrets; one that has none stays byte for byte."""
        try:
            pairs = query_pairs(query)
        except BadEncoding:
            return self.text("", query)
        changed = [(self._known("", name), self.value(name, value)) for name, value in pairs]
        if changed == pairs:
            return query
        return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in changed)

    def path(self, path: str) -> str:
        """Return a path without keys behind a name, keys of services, users with passwords."""
        parts: list[str] = []
        before = ""
        for segment in path.split("/"):
            parts.append(self._segment(before, segment))
            before = unquote(segment.partition(";")[0])
        return self._known("", "/".join(parts))

    def _segment(self, before: str, segment: str) -> str:
        head, _, parameters = segment.partition(";")
        plain = unquote(head)
        is_of_service = _SERVICE.fullmatch(before) and _SEGMENT.fullmatch(plain)
        if looks_secret(plain) and (secrecy(before) or (is_of_service and is_random(plain))):
            return self._hidden(before, "name", plain)
        if plain.isalnum() and not parameters:
            return segment
        changed = self.text("", unquote(segment))
        return segment if changed == unquote(segment) else quote(changed, safe=":@;=")

    def value(self, name: str, value: str) -> str:
        """Return the value of a member, a parameter or a header of this name, without secrets."""
        self._at.append(name)
        try:
            return self._value(name, value, Secrecy.NONE)
        finally:
            self._at.pop()

    def json(self, value: Json) -> Json:
        """Return a JSON value without secrets."""
        return self._walk("", value, Secrecy.NONE)

    def text(self, name: str, text: str) -> str:
        """Return a text without secrets, whatever its form."""
        if _SIMPLE.fullmatch(text):
            known = self._known(name, text)
            if _DIGITS_OF_TEXT.fullmatch(known) or self.memory.has_short:
                return self._packed(known)
            return known
        taken_apart = self._structured(text)
        changed = text if taken_apart is None else taken_apart
        if taken_apart is None:
            changed = text_splitting.by_names(text, self._named)
        if changed == text:
            changed = without_forms(text, partial(self._hidden, name, "form"))
        changed = self._known(name, changed)
        if changed == text and taken_apart is None:
            changed = self._unescaped(text)
        return self._known(name, self._packed(changed))

    def _packed(self, text: str) -> str:
        changed = nested_encodings.unpacked_runs(text, self._coded, short=self.memory.has_short)
        if self._stand_ins is None or changed != text:
            return changed
        digits = text.removeprefix("0x")
        if not nested_encodings.is_hex(digits):
            return text
        return text[: len(text) - len(digits)] + self._stand_ins.hexadecimal_run(digits)

    def _structured(self, text: str) -> str | None:
        if text.lstrip()[:1] in _JSON_START:
            try:
                value = jsontext.decode(text.encode("utf-8", "surrogatepass"))
            except NotJson:
                pass
            else:
                return self._json(text, value)
        return text_splitting.split(text, self._named)

    def _json(self, text: str, value: Json) -> str:
        if not isinstance(value, dict | list):
            return (
                self._deeper(
                    lambda: encode(self._walk("", value, Secrecy.NONE), "compact").decode()
                )
                if isinstance(value, str)
                else text
            )
        changed = (
            self._deeper(lambda: self._walk("", value, Secrecy.NONE))
            if self._depth < nested_encodings.DEEPEST
            else MASK
        )
        if changed == value:
            return text
        if changed == MASK:
            return self._left_out("packed")
        layout = layout_of(text.encode("utf-8", "surrogatepass"))
        return encode(changed, "compact" if layout is None else layout[0]).decode()

    def _walk(self, name: str, value: Json, below: Secrecy) -> Json:
        match value:
            case dict():
                return self._members(value, below)
            case list():
                if (
                    len(value) == _PAIR
                    and all(isinstance(item, str) for item in value)
                    and secrecy(value[0])
                ):
                    return [value[0], self._walk(value[0], value[1], below)]
                return self._items(name, value, max(below, secrecy(name)))
            case str():
                return self._value(name, value, below)
            case bool() | None:
                return value
            case int() | Decimal():
                return self._number(name, value, below)
        return value

    def _items(self, name: str, items: list[Json], below: Secrecy) -> list[Json]:
        changed = []
        for before, item in zip(["", *items], items, strict=False):
            # Names and values in turn, as Node lists headers; a list of names alone stays.
            follows = (
                isinstance(item, str)
                and isinstance(before, str)
                and looks_secret(item)
                and not secrecy(item)
                and secrecy(before) is Secrecy.CERTAIN
            )
            changed.append(self._walk(before if follows else name, item, below))
        return changed

    def _members(self, members: dict[str, Json], below: Secrecy) -> Json:
        self._publish(members)
        label, is_jwk = _label(members), isinstance(members.get("kty"), str)
        columns = _columns(members)
        changed: dict[str, Json] = {}
        for key, item in members.items():
            self._at.append(key)
            if columns and isinstance(item, list):
                item = self._cells(columns, item)  # noqa: PLW2901 (walked below as any other)
            as_key = label if label and key.lower() in _LABELLED else key
            if is_jwk and key in _OF_JWK:
                as_key = "privateKey"
            inner = (
                below
                if below is Secrecy.CERTAIN or isinstance(item, dict | list) or not is_kept(key)
                else Secrecy.NONE
            )
            new = self._walk(
                as_key, item, max(inner, secrecy(as_key) if isinstance(item, dict) else inner)
            )
            self._at.pop()
            name = self._key(key, below)
            while name in changed:
                name += "-2"
            changed[name] = new
        return changed

    def _cells(self, columns: list[str], items: list[Json]) -> list[Json]:
        """Return rows, or a row, without what stands in columns of secrets."""
        if items != columns and len(items) == len(columns) and not isinstance(items[0], list):
            return [
                self._walk(name, cell, Secrecy.NONE) if secrecy(name) else cell
                for name, cell in zip(columns, items, strict=True)
            ]
        return [
            self._cells(columns, item)
            if isinstance(item, list) and len(item) == len(columns)
            else item
            for item in items
        ]

    def _key(self, key: str, below: Secrecy) -> str:
        if (
            below
            and looks_secret(key)
            and not is_kept(key)
            and (is_random(key) or not secrecy(key))
        ):
            return self._hidden("", "name", key)
        # The name of a member may be a secret itself, which the place must not repeat.
        changed = self._known("", key) if len(key) < len(MASK) else self.text("", key)
        return self._replaced("", changed)

    def _value(self, name: str, value: str, below: Secrecy) -> str:
        if not value or self.memory.is_public(value):
            return value
        if is_secret(name, value) or self._is_below(name, value, below):
            return self._hidden("", "name", value)
        if is_kept(name) and has_kept_form(value):
            # By role: what the contract names so is no secret, whatever else has the same value.
            self.memory.release(value)
            if len(value) <= _HASH_LENGTH:
                return self._replaced(name, value)
            return self._replaced(name, self._packed(value))
        return self._replaced(name, self.text("", value))

    def _number(self, name: str, value: int | Decimal, below: Secrecy) -> Json:
        text = f"{value:f}" if isinstance(value, Decimal) else str(value)
        if secrecy(name) is Secrecy.CERTAIN or below is Secrecy.CERTAIN:
            return type(value)(self._hidden("", "name", text))
        changed = self._replaced(name, text)
        return (
            type(value)(changed)
            if changed != text and changed.isdigit()
            else changed
            if changed != text
            else value
        )

    def _is_below(self, name: str, value: str, below: Secrecy) -> bool:
        return below is Secrecy.CERTAIN or (
            below is Secrecy.POSSIBLE and not is_kept(name) and looks_secret(value, is_token=True)
        )

    def _named(self, name: str, value: str) -> str:
        return self.value(name, value) if name else self.text("", value)

    def _unescaped(self, text: str) -> str:
        packed = nested_encodings.unescaped(text)
        changed = None if packed is None else self._run(packed)
        return text if changed is None else changed

    def _coded(self, packed: nested_encodings.Packed, run: str) -> str | None:
        changed = self._run(packed)
        if changed is not None:
            self.memory.add_packed(run)
        return changed

    def _run(self, packed: nested_encodings.Packed) -> str | None:
        """Return a coding with its text changed; None where nothing is."""
        inner = (
            packed.inner.encode("utf-8", "surrogatepass")
            if isinstance(packed.inner, str)
            else packed.inner
        )
        if not nested_encodings.is_packed_text(inner):
            secrets = self.memory.occurring(inner.decode("latin-1"))
            return self._left_out("known") if secrets else None
        if self._depth >= nested_encodings.DEEPEST:
            return self._left_out("packed")
        changed = self._deeper(lambda: self.body(inner))
        return None if changed == inner else packed.packed(changed)
