"""Texts that are no JSON, split into names and values: forms, multipart, XML, tables, lines."""

import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote_plus, unquote_plus

from mockserver.recordings.redaction.secret_names import Secrecy, secrecy
from mockserver.recordings.redaction.secret_values import MASK, has_any, looks_secret

TextChange = Callable[[str, str], str]
"""Returns a value as it may be kept, given its name, empty where it has none."""

_FORM = re.compile(r"[^\s=&<>{}\"]{1,100}=[^\s&<>{}\"]*(?:&[^\s=&<>{}\"]*=[^\s&<>{}\"]*)*&?")
_BOUNDARY = re.compile(r"\s*--([^\r\n]{1,200})\r?\n")
_PART_NAME = re.compile(r"(?i)\bname=\"?([^\";\r\n]+)")
_DATA_LINES = re.compile(r"(?m)^data:[^\r\n]*\r?\n(?:data:[^\r\n]*(?:\r?\n|\Z))+")
_BLANK_LINE = re.compile(r"\r?\n\r?\n")


def split(text: str, change: TextChange) -> str | None:
    """Return a text whose values are changed by their names; None without such a structure."""
    if _FORM.fullmatch(text):
        return "&".join(_pair(pair, change) for pair in text.split("&"))
    if (boundary := _BOUNDARY.match(text)) and "ontent-" in text.lower():
        return f"--{boundary[1]}".join(
            _part(part, change) for part in text.split(f"--{boundary[1]}")
        )
    if text.lstrip("\ufeff \t\r\n")[:1] == "<":
        return Markup(change).changed(text)
    if _DATA_LINES.search(text):
        return change("", _DATA_LINES.sub(lambda match: _joined_data(match[0], change), text))
    return None


def _joined_data(lines: str, change: TextChange) -> str:
    """Return the data of an event, whose lines are a text together."""
    ends = lines[len(lines.rstrip("\r\n")) :]
    data = "\n".join(line.removeprefix("data:").strip() for line in lines.splitlines())
    changed = change("", data)
    if changed == data:
        return lines
    return "\n".join(f"data: {line}" for line in changed.split("\n")) + ends


def _pair(pair: str, change: TextChange) -> str:
    name, sign, value = pair.partition("=")
    plain = unquote_plus(value)
    changed = change(unquote_plus(name), plain)
    return pair if changed == plain else name + sign + quote_plus(changed)


def _part(part: str, change: TextChange) -> str:
    blank = _BLANK_LINE.search(part)
    if blank is None:
        return part
    head, content = part[: blank.start()], part[blank.end() :]
    end = len(content.rstrip("\r\n"))
    name = _PART_NAME.search(head)
    return (
        change("", head) + blank[0] + change(name[1] if name else "", content[:end]) + content[end:]
    )


_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)\]\]>|<(?P<end>/?)(?P<tag>[^\W\d][\w:.-]*)(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>"
    r"|<!--(?P<comment>.*?)-->|<[?!][^>]*>|(?P<text>[^<]+)|<",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([\w:.-]+)(\s*=\s*)(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_DECLARED = re.compile(
    r"(?P<head><!ENTITY\s+(?P<name>[\w.-]+)\s+)(?P<mark>[\"'])(?P<value>[^\"'<>]+)(?P=mark)"
)
_CELLS = frozenset(("td", "th", "dt", "dd"))
_LABELS = frozenset(("name", "key", "id", "property", "type"))
_VALUES = frozenset(("value", "content", "val", "text", "data", "string"))
_EMPTY_ELEMENTS = frozenset(("input", "meta", "br", "img", "link", "hr"))


class Markup:
    """XML and HTML, well formed or not: elements, attributes, pairs of a name and a value."""

    def __init__(self, change: TextChange) -> None:
        self._change = change
        self._open: list[tuple[str, str]] = []
        self._label = ""
        self._cell = ""

    def changed(self, text: str) -> str:
        return _TOKEN.sub(self._token, text)

    def _token(self, match: re.Match[str]) -> str:
        if match["cdata"] is not None:
            return f"<![CDATA[{self._change(self._name(), match['cdata'])}]]>"
        if match["comment"] is not None:
            return f"<!--{self._change('', match['comment'])}-->"
        if match["text"] is not None:
            return self._text(match["text"])
        if match["tag"] is None:
            return _DECLARED.sub(self._declared, match[0])
        return self._end(match) if match["end"] else self._begin(match)

    def _text(self, text: str) -> str:
        plain = html.unescape(text)
        if not plain.strip():
            return text
        if self._open and self._open[-1][0].lower() in _LABELS:
            self._label = plain.strip()
        name = self._name()
        if self._open and self._open[-1][0].lower() in _CELLS:
            # A row of a name and a value; of words it may be a row of names.
            if secrecy(self._cell) and looks_secret(plain.strip()):
                name = self._cell
            self._cell = plain.strip()
        changed = self._change(name, plain)
        return text if changed == plain else html.escape(changed, quote=False)

    def _declared(self, match: re.Match[str]) -> str:
        mark = match["mark"]
        return match["head"] + mark + self._change(match["name"], match["value"]) + mark

    def _begin(self, match: re.Match[str]) -> str:
        tag = match["tag"].rpartition(":")[2]
        attributes = {
            name.lower(): value.strip("\"'")
            for name, _, value in _ATTRIBUTE.findall(match["attributes"])
        }
        label = next(
            (value for name, value in attributes.items() if name in _LABELS and secrecy(value)), ""
        )
        if not label and tag.lower() in _VALUES and secrecy(self._label):
            label = self._label
        changed = _ATTRIBUTE.sub(
            lambda attribute: self._attribute(attribute, label), match["attributes"]
        )
        if not match["attributes"].endswith("/") and tag.lower() not in _EMPTY_ELEMENTS:
            self._open.append((tag, label or tag))
        return f"<{match['tag']}{changed}>"

    def _attribute(self, match: re.Match[str], label: str) -> str:
        mark = match[3][0] if match[3][0] in "\"'" else ""
        name = label if label and match[1].lower() in _VALUES else match[1].rpartition(":")[2]
        plain = html.unescape(match[3].strip(mark) if mark else match[3])
        changed = self._change(name, plain)
        return (
            match[0]
            if changed == plain
            else f"{match[1]}{match[2]}{mark}{html.escape(changed)}{mark}"
        )

    def _end(self, match: re.Match[str]) -> str:
        tag = match["tag"].rpartition(":")[2]
        if any(name == tag for name, _ in self._open):
            while self._open and self._open.pop()[0] != tag:
                pass
        return match[0]

    def _name(self) -> str:
        """Return the name that says most of a text: that of a secret element around it."""
        names = [name for _, name in self._open]
        return max(names, key=secrecy) if any(map(secrecy, names)) else (names[-1] if names else "")


_NAME = re.compile(
    r"(?<![\w.\-])(?P<quote>\\{0,8}[\"']?)"
    r"(?P<name>[\w$%][\w.\-\[\]$%]{0,63}+(?:[ ][A-Za-z]{2,12}+)?)(?P=quote)\]?\*{0,2}"
    # YAML has an anchor or a tag before some values, others have comments.
    r"[ \t]{0,4}(?P<sign>=>|[:=])\*{0,2}[ \t]{0,4}"
    r"(?:(?:[&!][\w!-]{1,40}|/\*[^*]{0,80}\*/)[ \t]{1,4})?"
)
# A call or a type before a text in marks, and texts in marks of several characters.
_WRAPPED = re.compile(r"(?:\s{0,40}string\(\d{1,6}\)\s|[A-Za-z][\w:.-]{1,60}[ (])(?=[\"'])")
_LONG_MARKS = re.compile(
    r"(?:\"{3}|'{3}|\[\[)(?P<marked>[^\"'\[\]]*)(?:\"{3}|'{3}|\]\])"
    r"|<<[-~]?[\"']?(?P<end>\w+)[\"']?\r?\n(?P<document>.*?)\r?\n[ \t]*(?P=end)\b",
    re.DOTALL,
)
_SAID = re.compile(
    r"(?i)(?<!\w)[\w-]{0,20}?"
    r"(?P<name>pass(?:word|wd|phrase|code)?|pwd|pin|otp|secret|token|api[ _-]?key|key|credentials?)"
    r"(?:\s+(?:is|was|to|as|of))?[:=]?\s+"
    # In marks, up to the second one.
    r"(?:(?P<mark>[\"'`])(?P<quoted>[^\s\"'`]{6,})(?P=mark)"
    r"|[\"'`(]?(?P<value>[^\s\"'`()<>,;]{6,}))"
)
# `--password VALUE`, `curl -u NAME:VALUE`, and what PHP writes, where a length stands before each.
_OPTION = re.compile(
    r"(?<!\S)(?P<head>--?(?P<name>[A-Za-z][\w-]{1,40})(?:\s+|=)[\"']?)(?P<value>[^\s\"'-][^\s\"']*)"
)
_USER = re.compile(
    r"(?<!\S)(?P<head>(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'/]+:"
    r"|(?i:identified\s+by\s+(?:password\s+)?[\"']))(?P<value>[^\s\"']+)"
)
_SHELL = re.compile(
    r"(?P<head>\b(?:sshpass|docker login|mysql\w*|redis-cli)\b[^\r\n|;&]{0,200}?\s-[ap]\s?[\"']?)"
    r"(?P<value>[^\s\"']+)"
)
_SERIALIZED = re.compile(r'(?P<head>s:\d+:"(?P<name>[^"]{1,64})";s:\d+:")(?P<value>[^"]*)')
_QUESTION = re.compile(
    r"(?m)^(?P<head>[ \t]*\?[ \t]+(?P<name>[\w.-]{1,64})[ \t]*\r?\n[ \t]*:[ \t]+)"
    r"(?P<value>[^\r\n]+)"
)
_NAMED_ITEM = re.compile(
    r"(?m)^(?P<head>[ \t]*-?[ \t]*(?:name|key):[ \t]*[\"']?(?P<name>[\w.-]{2,64})[\"']?[ \t]*\r?\n"
    r"[ \t]*value:[ \t]*[\"']?)(?P<value>[^\r\n\"']+)"
)
# `setPassword("VALUE")`, `define('NAME', 'VALUE')`, and a row of Markdown: of words it may be a
# list of names.
_CALL = re.compile(
    r"(?P<head>\b(?P<name>[A-Za-z_]\w{2,40})\(\s*[\"'])(?P<value>[^\"'\r\n]+)(?=[\"']\s*\))"
)
_ARGUMENTS = re.compile(
    r"(?P<head>\(\s*[\"'](?P<name>[\w.-]{2,40})[\"']\s*,\s*[\"'])(?P<value>[^\"'\r\n]+)"
)
_MARKDOWN = re.compile(
    r"(?m)^(?P<head>[ \t]*\|[ \t]*[`*]{0,2}(?P<name>[\w .-]{2,40}?)[`*]{0,2}[ \t]*\|"
    r"[ \t]*[`*]{0,2})(?P<value>[^|`*\s]+)"
)
# What a service writes to a person.
_CODE = re.compile(
    r"(?i)(?P<head>\b(?:pin|otp|passcode"
    r"|(?:verification|security|confirmation|login|one[- ]time|2fa|sms)[- ](?:code|pass\w*))"
    r"(?:\s+is)?\s*:?\s+)(?P<value>[0-9]{4,10})\b"
)
_AFTER_NAMES = (
    (_OPTION, "-"), (_SERIALIZED, '";s:'), (_QUESTION, "?"), (_NAMED_ITEM, "value:"), (_CALL, "("),
    (_ARGUMENTS, "("), (_MARKDOWN, "|"),
)  # fmt: skip
"""Values behind names, and what each notation cannot do without."""
_SPOKEN = ("pass", "pwd", "pin", "otp", "secret", "token", "key", "credential", "code")
"""What `_SAID` and `_CODE` cannot do without."""
_INSERTED = re.compile(
    r"\((?P<names>[^()]{1,2000})\)(?P<between>\s*VALUES\s*)(?P<rows>\([^()]*\)(?:\s*,\s*\([^()]*\))*)",
    re.IGNORECASE,
)
# Binary forms, such as MessagePack and CBOR, have the length of a value between it and its name.
_BEFORE_BYTES = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,40})(?:[^!-~]{1,8}|x[ -~])")
_PRINTED = re.compile("[!-~]{6,}")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_BLOCK_BELOW = re.compile(r"[|>][+-]?[ \t]*\r?\n")
_WHOLE_LINES = re.compile(r"(?i).*(?:authori[sz]ation|cookie)\b")
_QUOTED = re.compile(r"(\\{0,8})([\"'`])((?:(?!\1\2)(?:[^\\]|\\.))*)", re.DOTALL)
_BARE = {":": re.compile(r"[^\r\n,;\"'<>{}&]+"), "=": re.compile(r"[^\s\"'&,;<>(){}\[\]\\|]+")}
_LINE = re.compile(r"[^\r\n\"']+")
_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|digest|negotiate)(?:\s+|%20)[^\s\"'&,;<>]+")


def by_names(text: str, change: TextChange) -> str:
    """Return a text whose values are changed where a name stands before them, in any notation."""
    parts, done, is_prose = [], 0, "\n" not in text.strip()
    for match in _NAME.finditer(text):
        if match.start() < done or not secrecy(_plain(match["name"])):
            continue
        start, end = _value_at(text, match)
        if end > start and not (
            is_prose and match["sign"] == ":" and _is_sentence(text, start, end)
        ):
            parts += [text[done:start], _changed(text[start:end], _plain(match["name"]), change)]
            done = end
    text = _blocks("".join(parts) + text[done:], change)
    is_spoken = has_any(_SPOKEN, text)
    notations = ((_USER, True), (_CODE, is_spoken), (_SHELL, " -" in text))
    for notation in (notation for notation, is_possible in notations if is_possible):
        text = notation.sub(lambda match: match["head"] + change("password", match["value"]), text)
    if "(" in text:
        text = _INSERTED.sub(lambda match: _inserted(match, change), text)
    if _CONTROL.search(text):
        text = _in_bytes(text, change)
    for notation, mark in _AFTER_NAMES:
        if mark in text:
            text = notation.sub(lambda match: _after_name(match, change), text)
    text = _table(text, change)
    return _SAID.sub(lambda match: _said(match, change), text) if is_spoken else text


def _is_sentence(text: str, start: int, end: int) -> bool:
    """Tell whether words about a name follow it, as in `signature: expected 65 bytes`."""
    if text[start - 1] in "\"'`" or text[start] in "{[" or _SCHEME.match(text, start):
        return False
    first, _, rest = text[start:end].strip().partition(" ")
    return not looks_secret(first) and (bool(rest) or first.isalpha())


def _plain(name: str) -> str:
    return unquote_plus(name).strip()


def _value_at(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return where the value of a name begins and ends."""
    at = match.end()
    if _BLOCK_BELOW.match(text, at):
        return at, at
    if marked := _LONG_MARKS.match(text, at):
        return marked.span("marked" if marked["end"] is None else "document")
    if at < len(text) and text[at] in "{[":
        return at, _balanced(text, at)
    if wrapped := _WRAPPED.match(text, at):
        at = wrapped.end()
    if _WHOLE_LINES.match(match["name"]) and (line := _LINE.match(text, at)):
        return at, line.end()
    if quoted := _QUOTED.match(text, at):
        return quoted.span(3)
    scheme = _SCHEME.match(text, at) or _BARE[match["sign"][0]].match(text, at)
    return scheme.span() if scheme else (at, at)


def _changed(value: str, name: str, change: TextChange) -> str:
    if value[:1] in "{[":
        return f'"{MASK}"' if secrecy(name) is Secrecy.CERTAIN else value
    bare = value.rstrip()
    return change(name, bare) + value[len(bare) :]


def _balanced(text: str, at: int) -> int:
    depth = 0
    for match in re.compile(r"[{\[]|[}\]]|\"(?:[^\"\\]|\\.)*\"").finditer(text, at):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


def _after_name(match: re.Match[str], change: TextChange) -> str:
    name, value = match["name"], match["value"]
    is_listed = match.re in (_CALL, _ARGUMENTS, _MARKDOWN)
    if not secrecy(name) or (is_listed and (not looks_secret(value) or secrecy(value))):
        return match[0]
    return match["head"] + change(name, value)


def _inserted(match: re.Match[str], change: TextChange) -> str:
    """Return rows of SQL without what stands in columns of secrets."""
    columns = _secret_columns(match["names"], ",")
    if not columns:
        return match[0]
    rows = re.sub(
        r"\(([^()]*)\)",
        lambda row: f"({_row(row[1].split(','), columns, ',', change)})",
        match["rows"],
    )
    return f"({match['names']}){match['between']}{rows}"


def _in_bytes(text: str, change: TextChange) -> str:
    """Return bytes with values as long as they were, since their lengths stand before them."""
    parts, done = [], 0
    for match in _BEFORE_BYTES.finditer(text):
        value = _PRINTED.match(text, match.end())
        if match.start() < done or not value or secrecy(match["name"]) is not Secrecy.CERTAIN:
            continue
        if (changed := change(match["name"], value[0])) != value[0]:
            parts += [text[done : value.start()], (changed * len(value[0]))[: len(value[0])]]
            done = value.end()
    return "".join(parts) + text[done:]


def _said(match: re.Match[str], change: TextChange) -> str:
    value, mark = match["quoted"] or match["value"], match["mark"] or ""
    if not looks_secret(value, is_token=True) or MASK in value:
        return match[0]
    return match[0].removesuffix(value + mark) + change("secret", value) + mark


_BLOCK = re.compile(
    r"^([ \t]*)(?:- )?[\"']?([^\s\"':#][^\"':#\r\n]{0,63})[\"']?:[ \t]*"
    r"(?:![\w!]{1,40}[ \t]+)?(?:[|>][+-]?)?[ \t]*\r?$"
)
_ITEM = re.compile(r"^([ \t]*(?:- )?(?:[^\s:#]{1,64}:(?=[ \t]|$))?[ \t]*)(.*?)(\r?)$")


def _blocks(text: str, change: TextChange) -> str:
    """Return a text in which what is indented below a secret name, as in YAML, is changed."""
    if "\n" not in text or ":" not in text:
        return text
    return "\n".join(_block_lines(text.split("\n"), change))


def _block_lines(lines: list[str], change: TextChange) -> Iterator[str]:
    indent, name = -1, ""
    for line in lines:
        deep = len(line) - len(line.lstrip())
        inside = name and (
            not line.strip() or deep > indent or (deep == indent and line.lstrip().startswith("- "))
        )
        if inside:
            item = _ITEM.match(line)
            yield item[1] + (change(name, item[2]) if item[2] else "") + item[3] if item else line
            continue
        head = _BLOCK.match(line)
        is_secret = head is not None and secrecy(head[2])
        indent, name = (len(head[1]), head[2]) if head and is_secret else (-1, "")
        yield line


def _table(text: str, change: TextChange) -> str:
    """Return a table with a line of names, as in CSV or Markdown, without columns of secrets."""
    first, _, rest = text.partition("\n")
    mark = next((mark for mark in (",", ";", "\t", "|") if mark in first), None)
    if mark is None or not rest:
        return text
    names = _names(first, mark)
    columns = _secret_columns(first, mark)
    # A row of Markdown begins and ends with its mark.
    inner = names[1:-1] if mark == "|" and not names[0] and not names[-1] else names
    if not columns or not all(re.fullmatch(r"[\w .-]{1,40}", name) for name in inner):
        return text
    rows = [_row(line.split(mark), columns, mark, change) for line in rest.split("\n")]
    return "\n".join([first, *rows])


def _names(line: str, mark: str) -> list[str]:
    return [name.strip(" \"'`\r") for name in line.split(mark)]


def _secret_columns(line: str, mark: str) -> dict[int, str]:
    return {at: name for at, name in enumerate(_names(line, mark)) if secrecy(name)}


def _row(cells: list[str], columns: dict[int, str], mark: str, change: TextChange) -> str:
    return mark.join(
        cell.replace(inner, change(columns[at], inner))
        if at in columns and (inner := cell.strip(" \t\r\"'")) and inner.strip("-:")
        else cell
        for at, cell in enumerate(cells)
    )
