"""The words of the code: names say what things are, a class has a name of its own, and docstrings
and comments tell what the code does not."""

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

import mockserver

ROOT = Path(mockserver.__file__).parent

PRONOUNS = {"one", "other", "found", "look", "given", "whole", "told", "usual"}
MOST_IN_ALL = 5.0
"""Identifiers in 1,000 lines that are one of these words, in all and in each package."""

NOT_YET: set[str] = set()
"""Packages that came before these checks and are still to be gone through."""

SEVERAL_HOMES = {
    "Fault": "of a state machine of a client, documented; and what the control API sets",
    "Finding": "of a rule and of an audit: both are documented, and no file uses the two",
    "Verdict": "on a rule and on an audit: both are documented, and no file uses the two",
    "Masker": "of a report, which uses the one of the engine for secrets",
    "Rows": "of a dump, and of the state on disk, which are read by different code",
    "Note": "what a layered table tells its keeper, and what the state on disk keeps of it",
    "State": "of a step of the machine, and of a claim: both are words of their files",
}
"""Names of classes and type aliases with more than one home, and why; at most fifteen."""

LEAST_COMMENTS = 3.0
"""Comments in 100 lines of code, in all and in each package."""


MOST_POSITIONAL = 8
"""Arguments without a name in a call of a class: whoever reads it has to count them."""


@cache
def sources() -> dict[str, str]:
    """Return the text of each file of the package, by its path inside it."""
    paths = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}
    settled = {name: path for name, path in paths.items() if name.partition("/")[0] not in NOT_YET}
    return {name: path.read_text("utf-8") for name, path in settled.items()}


# The checks of one file follow each other: what is read of it serves all of them.
@lru_cache(maxsize=1)
def nodes(text: str) -> list[ast.AST]:
    """Return all that a file says, its module first."""
    return list(ast.walk(ast.parse(text)))


@cache
def checked() -> dict[str, "Checked"]:
    """Return what the checks say of each file of the package."""
    return {
        path: Checked(
            pronouns(text),
            class_names(text),
            list(restating(text)),
            list(long_calls(text)),
            comments_and_code(text),
        )
        for path, text in sources().items()
    }


class Checked(NamedTuple):
    """What the checks say of one file."""

    pronouns: list[str]
    classes: set[str]
    restating: list[str]
    long_calls: list[str]
    comments_and_code: tuple[int, int]


def pronouns(text: str) -> list[str]:
    """Return the identifiers that are pronouns: variables, parameters, attributes, functions."""
    named: list[str | None] = []
    for node in nodes(text):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                named.append(name)
            case ast.arg(arg=name) | ast.keyword(arg=name):
                named.append(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                named.append(name)
            case ast.ClassDef(name=name):
                named.append(name)
    return [name for name in named if name and name.strip("_").lower() in PRONOUNS]


def class_names(text: str) -> set[str]:
    """Return the names of classes and of type aliases: `Key = tuple[str, str]`."""
    module, *_ = every = nodes(text)
    names = {node.name for node in every if isinstance(node, ast.ClassDef)}
    for node in getattr(module, "body", ()):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, is_type_variable = node.targets[0].id, "TypeVar" in ast.unparse(node.value)
            if re.match("_?[A-Z][A-Za-z]*[a-z]", name) and not is_type_variable:
                names.add(name)
    return names


WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
COMMON = set(
    "a an the of in to for by with on at from as is are be it its and or that this which what who"
    " whose how return returns yield tell whether take make value values each every all any their"
    " there those these into has have do does will was were than then so such same".split()
)


def words(text: str) -> set[str]:
    """Return the words of a text or of an identifier, without their endings."""
    return {re.sub("(ing|ed|es|s|e)$", "", word.lower()) for word in WORD.findall(text)}


def restating(text: str) -> Iterator[str]:
    """Yield the functions whose docstring, of one line, has no word that the signature lacks."""
    for node in nodes(text):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or len(node.body) == 1:
            continue
        docstring = ast.get_docstring(node) or ""
        # Only what may restate is written out again, which takes most of the time.
        if not docstring or "\n" in docstring:
            continue
        if "_PACK." in "".join(map(ast.unparse, node.decorator_list)):
            # The sentence of a rule, which reports show.
            continue
        signature = f"{node.name} {ast.unparse(node.args)} {ast.unparse(node.returns or node.args)}"
        added = words(docstring) - words(" ".join(COMMON)) - words(signature)
        if not added:
            yield node.name


def comments_and_code(text: str) -> tuple[int, int]:
    """Return the lines of comments for people, and those of code, docstrings left out."""
    comments, code = 0, set()
    layout = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += not re.search("noqa|type: ignore|pragma", token.string)
        elif token.type not in layout:
            code |= set(range(token.start[0], token.end[0] + 1))
    for node in nodes(text):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            code -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return comments, len(code)


def long_calls(text: str) -> Iterator[str]:
    """Yield the classes that are called with more arguments by position than a reader counts."""
    tuples = {
        target.id: len(node.value.elts)
        for node in nodes(text)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes(text):
        if isinstance(node, ast.Call):
            # A star hides as many as its tuple has.
            starred = [arg.value for arg in node.args if isinstance(arg, ast.Starred)]
            hidden = [tuples.get(value.id, 1) for value in starred if isinstance(value, ast.Name)]
            count = len(node.args) - len(hidden) + sum(hidden)
            name = ast.unparse(node.func).rpartition(".")[2]
            if count > MOST_POSITIONAL and (name[:1].isupper() or name == "cls"):
                yield name


def test_names_say_what_things_are():
    lines: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for path, text in sources().items():
        package = path.partition("/")[0]
        lines[package] += text.count("\n")
        counted[package] += len(checked()[path].pronouns)
    share = 1000 * counted.total() / lines.total()
    figures = f"{counted.total()} in {lines.total()} lines, {share:.1f} in 1,000: {counted}"
    assert share <= MOST_IN_ALL, figures
    # In a file of a hundred lines three are no share: `other`, as Python calls it in `__eq__`.
    over = {
        name: number
        for name, number in counted.items()
        if number > 3 and 1000 * number > MOST_IN_ALL * lines[name]
    }
    assert not over, figures


def test_a_class_has_a_name_of_its_own():
    homes = defaultdict(list)
    for path, file in checked().items():
        for name in file.classes:
            homes[name].append(path)
    several = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert len(SEVERAL_HOMES) <= 15
    assert several.keys() == SEVERAL_HOMES.keys(), several


def test_docstrings_say_more_than_signatures():
    idle = [f"{path}: {name}" for path, file in checked().items() for name in file.restating]
    assert not idle, f"{len(idle)} docstrings restate the signature: {idle}"


def test_calls_name_what_they_pass():
    calls = [f"{path}: {name}" for path, file in checked().items() for name in file.long_calls]
    assert not calls, calls


def test_comments_say_why():
    packages: dict[str, list[int]] = {}
    for path, file in checked().items():
        for name in {"all", path.partition("/")[0] if "/" in path else "all"}:
            total = packages.setdefault(name, [0, 0])
            total[0] += file.comments_and_code[0]
            total[1] += file.comments_and_code[1]
    shares = {name: 100 * comments / code for name, (comments, code) in packages.items() if code}
    few = {name: f"{share:.2f}" for name, share in shares.items() if share < LEAST_COMMENTS}
    assert not few, f"comments in 100 lines of code, at least {LEAST_COMMENTS} are right: {few}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("for one in quotes:\n    print(one)", ["one", "one"]),
        ("def _look(whole):\n    return self.given", ["_look", "whole", "given"]),
        ("class Found:\n    pass\nmade = make(other=1)", ["Found", "other"]),
        ("for quote in quotes:\n    print(one_line(quote), look_up)", []),
    ],
)
def test_pronouns_are_seen(text, named):
    assert sorted(pronouns(text)) == sorted(named)


def test_classes_and_aliases_are_seen():
    text = "class Key: ...\nPath = tuple[str, ...]\n_T = TypeVar('_T')\nLIMIT = 3\nlow = Path"
    assert class_names(text) == {"Key", "Path"}


@pytest.mark.parametrize(
    ("docstring", "restates"),
    [
        ("Return the quotes of a route.", True),
        ("Return a quote for each route.", True),
        ("Return the quotes of a route, dearest first.", False),
        ("Return the quotes of a route. Raises `Refusal` for chains that nobody knows.", False),
        ("", False),
    ],
)
def test_restating_docstrings_are_seen(docstring, restates):
    text = f'def quotes_of(route: Route) -> list[Quote]:\n    """{docstring}"""\n    return []'
    assert list(restating(text)) == ["quotes_of"] * restates


def test_comments_are_counted():
    text = '# Why.\nx = 1  # noqa: E501\n\ny = (\n    2,  # because\n)\n"""Of y."""\n'
    assert comments_and_code(text) == (2, 4)


def test_long_calls_are_seen():
    text = f"""Order({"1, " * 9})\nQuote({"1, " * 8})\ncls({"1, " * 9})\none_of({"1, " * 9})"""
    assert list(long_calls(text)) == ["Order", "cls"]
    starred = "values = (1, 2, 3, 4, 5, 6, 7, 8)\nQuote(*values)\nOrder(0, *values)"
    assert list(long_calls(starred)) == ["Order"]
