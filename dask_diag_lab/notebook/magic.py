"""``%%dask_diag``: what became of the time of a cell, below it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

NAME: Final = "dask_diag"
USAGE: Final = '%%dask_diag [name] [--check "idle<30%"] …'


def add_magic(shell: InteractiveShell) -> None:
    """Make the magic known to a shell; harmless to repeat."""

    def dask_diag(line: str, cell: str) -> None:
        """Show what became of the threads' time while this cell ran, and why it was slow.

        %%dask_diag [name] [--check "idle<30%"] …
        """
        from IPython.display import display

        from dask_diag_lab.capture.run import Run

        name, checks = parsed(line)
        with Run(name, None) as its:
            result = shell.run_cell(cell)
        display(its)
        if result.success:  # else its own error is there
            its.check(*checks)

    shell.register_magic_function(dask_diag, "cell", NAME)  # type: ignore[arg-type]


def parsed(line: str) -> tuple[str | None, list[str]]:
    """Return the name and the checks that a line of the magic has.

    Raises
    ------
    ValueError
        It has something else; the message says how it is written.
    """
    words, names, checks = iter(shlex.split(line)), [], []
    for word in words:
        if word == "--check":
            checks.append(next(words, ""))
        else:
            names.append(word)
    if len(names) > 1 or "" in checks or any(name.startswith("-") for name in names):
        raise ValueError(f"Write {USAGE}, a name of several words in quotes.")
    return (names[0] if names else None), checks
