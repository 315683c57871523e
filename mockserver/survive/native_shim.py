"""The clock of a world for programs in other languages, compiled where there is a compiler."""

import shutil
import subprocess
import sys
from pathlib import Path

_SOURCE = Path(__file__).parent / "shims" / "timeshim.c"
_COMPILERS = ("cc", "gcc", "clang")


def compiled(folder: Path) -> Path | None:
    """Compile the library into a folder; None where that cannot be: no compiler, no glibc."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    library = folder / "timeshim.so"
    files = ["-o", str(library), str(_SOURCE)]
    # Not optimised: a search compiles it anew, which takes a third of the time so.
    words = [compiler, "-O0", "-w", "-fPIC", "-shared", *files, "-ldl", "-lpthread"]
    try:
        ended = subprocess.run(words, check=False, capture_output=True, timeout=60)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return library if ended.returncode == 0 else None
