"""What runs in a block, between two positions of the log; the base of the context managers.

Must not touch the history but through `Diagnostics.submit`.
"""

from __future__ import annotations

import asyncio
import os
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from dask_diag_lab.capture import task_rows
from dask_diag_lab.capture.task_rows import TIMEOUT_S, Position, TaskRows
from dask_diag_lab.transport.link import LinkLostError

if TYPE_CHECKING:
    from distributed import Client

    from dask_diag_lab.session import Diagnostics
    from dask_diag_lab.store import LiveSession

T = TypeVar("T")

REPORT_WAIT_S: Final = 3.0
"""So long the end of a block waits at most for what workers tell of it with their heartbeats."""
FRESH_S: Final = 0.6
"""What came with a heartbeat is in the table of fine metrics after so long."""


def check_writable(output: str, storage_options: Mapping[str, Any] | None = None) -> None:
    """Raise an OSError where a file of this machine cannot be written; others show only then.

    Before a block it says what would be said after an hour in it.
    """
    options = dict(storage_options or {})
    makes_folders = options.pop("auto_mkdir", False)  # of a local file system alone
    files, path = url_to_fs(output, **options)
    if not isinstance(files, LocalFileSystem):
        return
    file = Path(path)
    folder = file.parent
    while makes_folders and not folder.exists():
        folder = folder.parent
    is_file = folder.is_dir() and not file.is_dir()
    if not (is_file and os.access(file if file.exists() else folder, os.W_OK)):
        raise OSError(f"{output} cannot be written: name a file in a folder of yours.")


class IncompleteError(RuntimeError):
    """The end of a block is missing; what was known by then is kept."""


class CaptureBlock:
    """A block whose tasks are collected; used with ``async with`` for an asynchronous client.

    Attributes
    ----------
    lost : int
        Actions of the block that are missing because buffers were full.
    """

    _diagnostics: Diagnostics
    _begin: Position
    _start_s: float
    _client: Client | None = None
    _draws = True
    _what = ""  # in words
    _output = ""  # the file that is written at the end, and what `fsspec` is to know of it
    _output_options: Mapping[str, Any] | None = None

    def __init__(self) -> None:
        self.lost = 0
        self._problem = ""
        self._kept = ExitStack()  # what is known, also where the cluster closes in the block

    def __enter__(self) -> Self:
        if self.attach().asynchronous:
            raise TypeError("The client is asynchronous: write `async with`.")
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._close(has_failed=kind is not None)

    async def __aenter__(self) -> Self:
        self.attach()
        await asyncio.to_thread(self._start)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await asyncio.to_thread(self._close, has_failed=kind is not None)

    def _finish(self) -> None:
        """Do what the block was for, when it is over."""
        raise NotImplementedError

    def _close(self, *, has_failed: bool) -> None:
        """Finish; where the block has raised, its error goes on, and one of ours is a warning."""
        try:
            with self._kept:
                self._finish()
        except Exception as error:
            if not has_failed:
                raise
            message = f"{self._what} could not be kept: {error}"
            warnings.warn(message, RuntimeWarning, stacklevel=3)

    def attach(self) -> Client:
        """Find the client, and attach the diagnostics to its cluster."""
        from distributed import default_client

        from dask_diag_lab.session import attach

        client = default_client() if self._client is None else self._client
        self._diagnostics = attach(client)
        return client

    def _start(self) -> None:
        """Note where the block begins; in the thread of an asynchronous one, as it takes long."""
        if self._output:
            check_writable(self._output, self._output_options)
        if self._draws:
            # What is missing for a picture is said before the block, not after an hour in it.
            import dask_diag_lab.server.saved  # noqa: F401
        try:
            self._begin, self._start_s = self._ask(_moment, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            raise RuntimeError(f"Nothing can be captured: {error_text(error)}.") from error
        self._kept.enter_context(self._diagnostics.kept())

    def _end(self) -> tuple[TaskRows, float]:
        """Return what ran, and when it was over; note a `_problem` where that is not all."""
        try:
            end, stop_s = self._ask(_moment, is_fresh=True)
        except (LinkLostError, TimeoutError) as error:
            end, stop_s = self._ask(_moment)
            self._problem = error_text(error)
        rows = task_rows.between(self._ask, self._begin.cursor, end.cursor)
        n_recorded = end.cursor - self._begin.cursor
        self.lost = n_recorded - len(rows) + end.dropped - self._begin.dropped
        return rows, stop_s

    def _await_reports(self, stop_s: float) -> None:
        """Wait, not for long, until workers have told what their tasks did up to a moment."""

        def is_seen(live: LiveSession) -> bool:
            return bool(np.all(live.history.workers.last_seen > stop_s))

        if self._problem:
            return
        until = time.monotonic() + REPORT_WAIT_S
        with suppress(LinkLostError, TimeoutError):  # the cluster ended with the block
            while not (self._ask(is_seen, is_fresh=True) or time.monotonic() > until):
                time.sleep(0.2)
            time.sleep(FRESH_S)
            self._ask(is_seen, is_fresh=True)

    def _ask(self, function: Callable[[LiveSession], T], *, is_fresh: bool = False) -> T:
        asked = self._diagnostics.submit(function, is_fresh=is_fresh, of_history=True)
        return asked.result(TIMEOUT_S)


def end_of(live: LiveSession) -> float:
    """Return when all that is known has ended: workers' clocks are only known to some 0.1 s."""
    return float(np.fmax(live.time, live.history.actions.last_stop))


def _moment(live: LiveSession) -> tuple[Position, float]:
    return task_rows.position(live), end_of(live)


def error_text(error: BaseException) -> str:
    """Return why the cluster could not be asked, in words."""
    if isinstance(error, TimeoutError):
        return f"the diagnostics did not answer in {TIMEOUT_S:g} s"
    return str(error).rstrip(".")
