"""The errors of the toolkit for its users, with place and remedy."""

from collections.abc import Sequence
from pathlib import PurePath

from mockserver.fast_dataclass import dataclass
from mockserver.wording import first_lines, reason_of


class CrosschainMockError(Exception):
    """Something that the user can fix; its text is the whole explanation.

    `exit_code` is that of the command: 2 usage or invalid file, 3 cannot bind or not ready,
    4 state not loadable, 5 safety guard.
    """

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One place in a file that is not as it should be, and what would be right.

    `line` counts from 1 and is None where only the file as a whole is meant; `field` is the path of
    keys inside the file, such as `outages[0].chain`.
    """

    file: PurePath | str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        place = str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return (
            f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"
        )


class InvalidFile(CrosschainMockError):
    """A file breaks its format; `problems` has every one."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Keep the problems; the text of the error is one line for each of the first."""
        super().__init__("\n".join(first_lines(problems)))
        self.problems = tuple(problems)


class CannotStart(CrosschainMockError):
    """A process that cannot be started, as a command: 127 not found, 126 not to be run."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code

    @classmethod
    def of(cls, command: str, error: OSError | ValueError) -> "CannotStart":
        """Return what the system says of a command, with the exit code that shells have for it."""
        if isinstance(error, FileNotFoundError):
            text = f"command {command!r} is not found; write a program that exists behind '--'"
            return cls(text, 127)
        return cls(f"cannot run {command!r}: {reason_of(error)}", 126)


class CannotServe(CrosschainMockError):
    """The server cannot listen at its address, or was not ready in time."""

    exit_code = 3
