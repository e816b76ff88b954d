"""Which cell of a notebook runs, so that what it has the cluster do is named after it.

Must not import what watches it: it is given whom to tell.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dask_diag_lab.server import announce
from dask_diag_lab.store.runs import Piece, name_of_code

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class CellWatch:
    """Follows the cells that a shell executes.

    Parameters
    ----------
    shell : InteractiveShell
        It may execute a cell now.
    on_change : callable
        Takes a `Piece` of this process's clock when a cell begins, and when it ends.

    Attributes
    ----------
    running : Piece or None
        The cell that is executed.
    """

    def __init__(self, shell: InteractiveShell, on_change: Callable[[Piece], None]) -> None:
        self._shell, self._on_change = shell, on_change
        self.running: Piece | None = None
        self._ahead = 0  # some versions of IPython count a cell before it runs, others after
        kernel = announce.own_kernel()
        parent: dict[str, Any] = kernel.get_parent("shell") if kernel else {}
        code = parent.get("content", {}).get("code", "")
        if code or kernel is None:  # else a widget's button made the client
            self._begin(code, parent.get("metadata", {}).get("cellId"))
        shell.events.register("pre_run_cell", self._began)
        shell.events.register("post_run_cell", self._ended)

    def _began(self, info: Any) -> None:  # IPython's ExecutionInfo
        if info.store_history:  # else a magic runs its cell once more
            self._end()
            self._begin(info.raw_cell, getattr(info, "cell_id", None))

    def _begin(self, code: str, cell: str | None) -> None:
        count, now = int(self._shell.execution_count) - self._ahead, time.time()
        self.running = Piece(secrets.token_hex(8), name_of_code(code), cell or "", count, start=now)
        self._on_change(self.running)

    def _ended(self, result: Any) -> None:  # IPython's ExecutionResult
        if result.info.store_history:
            if self.running is not None and result.execution_count is not None:
                self._ahead += self.running.count - result.execution_count
                self.running.count = result.execution_count
            self._end()

    def _end(self) -> None:
        ended, self.running = self.running, None
        if ended is not None:
            ended.stop = time.time()
            self._on_change(ended)
