"""What a person names as OLD or NEW, found and read into the neutral form."""

from pathlib import Path

from mockserver.contract.dialect import DOCUMENTED, OBSERVED
from mockserver.contract.diff.files import read_file
from mockserver.contract.diff.folders import is_dialect, read_folder, read_shipped
from mockserver.contract.diff.openapidocs import read_document
from mockserver.contract.diff.sides import Side
from mockserver.contract.diff.values import CannotCompare


def read_side(name: str, dialect: str = DOCUMENTED) -> Side:
    """Return one version: a folder (in a dialect), a document, or a dialect of ours by its name.

    Raises `CannotCompare`, `InvalidFile` or `UnknownDialect` with a sentence that says what is
    wrong, in which file and where.
    """
    if name in (DOCUMENTED, OBSERVED):
        return read_shipped(name)
    path = Path(name)
    try:
        there, folder = bool(name) and path.exists(), bool(name) and path.is_dir()
    except (OSError, ValueError):
        there, folder = False, False
    if folder:
        return read_folder(path, dialect)
    if there:
        return read_document(read_file(path), path, name)
    if is_dialect(name):
        return read_shipped(name)
    raise CannotCompare(
        f"{name!r} is not there: expected a folder of schemas, an OpenAPI 3.1 document, "
        "or a dialect: 'documented', 'observed' or errata such as 'E-01,E-05'"
    )
