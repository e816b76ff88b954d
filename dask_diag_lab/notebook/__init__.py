"""Diagnostics inside a notebook's cells: live plots, progress, Dask's repr, and ``%%dask_diag``.

Tools that execute notebooks without a browser, as nbconvert and papermill, save what the kernel
sends while a cell runs; of outputs that are there already, only what replaces them meanwhile. So
each live output is brought up to now when a cell ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from IPython.core.getipython import get_ipython
from IPython.core.magic_arguments import MagicArgumentParser

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

logger = logging.getLogger(__name__)

# So long a cell that has ended waits for what is shown of the cluster.
WAIT_S: Final = 4.0


def is_headless() -> bool:
    """Whether the running cell was sent by no editor of notebooks: those say which cell it is."""
    kernel = getattr(get_ipython(), "kernel", None)  # a terminal has none
    return kernel is not None and "cellId" not in kernel.get_parent("shell").get("metadata", {})


def at_cell_ends(update: Callable[[str], bool]) -> None:
    """Call ``update`` when this cell ends and each later one, while it returns True.

    It is given the cell in words. Call this only where `is_headless`.
    """
    shell: Any = get_ipython()  # IPython's types say that there may be none

    def end(result: Any) -> None:  # IPython's ExecutionResult
        try:
            if update(f"cell [{result.execution_count}]"):
                return
        except Exception as error:  # a cell shows no traceback of ours
            logger.warning("An output is not brought up to date: %s", error, exc_info=error)
        shell.events.unregister("post_run_cell", end)

    shell.events.register("post_run_cell", end)


# --- ``%%dask_diag``: what became of the time of a cell, below it

NAME: Final = "dask_diag"


def add_magic(shell: InteractiveShell) -> None:
    """Make the magic known to a shell; harmless to repeat."""
    parser = MagicArgumentParser(NAME)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--check", action="append", default=[])

    def dask_diag(line: str, cell: str) -> None:
        """Show what became of the threads' time while this cell ran, and why it was slow.

        %%dask_diag [name] [--check "idle<30%"] …
        """
        from IPython.core.error import UsageError
        from IPython.display import display

        from dask_diag_lab.capture.run import Run, parsed_check

        try:
            given = parser.parse_argstring(line)
            # IPython leaves the quotes at them.
            name, *checks = (word and word.strip("\"'") for word in (given.name, *given.check))
            for check in checks:
                parsed_check(check)  # not after an hour
        except ValueError as error:
            raise UsageError(str(error)) from error
        with Run(name, None) as its:
            result = shell.run_cell(cell)
        display(its)
        if result.success:  # else its own error is there
            its.check(*checks)

    shell.register_magic_function(dask_diag, "cell", NAME)  # type: ignore[arg-type]
