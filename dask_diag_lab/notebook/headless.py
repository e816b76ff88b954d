"""Live outputs of notebooks that are executed without a browser, as by nbconvert and papermill.

These save what the kernel sends while a cell runs; of outputs that are there already, only what
replaces them meanwhile. So each live output is brought up to now when a cell ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from IPython.core.getipython import get_ipython

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
