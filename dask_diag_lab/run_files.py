"""Runs that are saved by themselves as they end, where the user has named a folder for them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dask_diag_lab.analysis.facts import TOLD_S

if TYPE_CHECKING:
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.store.runs import RunRecord

logger = logging.getLogger(__name__)

OWN: Final = "run ????-??-?? ??-??-?? *.daskrun"
"""Only files of such names are ever removed."""

Snapshot = Callable[[Mapping[str, str]], Awaitable[Callable[[Path], None]]]


class RunFiles:
    """Saves each run that is over, and removes the oldest files.

    Parameters
    ----------
    live : LiveSession
    snapshot : callable
        Takes a `LiveSession.selection`, returns what writes a recording to a file in any thread.
    folder : Path
    most, most_bytes : int
        How many files are kept, and how large these may be together; the newest always is.
    """

    def __init__(
        self, live: LiveSession, snapshot: Snapshot, folder: Path, most: int, most_bytes: int
    ) -> None:
        self._live, self._snapshot, self._folder = live, snapshot, folder
        self._most, self._most_bytes = most, most_bytes
        self._seen: set[int] = set()
        self._saving: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Begin to save the next run that is over; on the loop."""
        if self._saving is not None and not self._saving.done():
            return
        now = self._live.time
        for record in self._live.history.runs:
            if record.number not in self._seen and record.is_over and now > record.stop + TOLD_S:
                self._seen.add(record.number)
                self._saving = asyncio.create_task(self._save(record))
                return

    async def close(self) -> None:
        """Wait for the file that is being written."""
        if self._saving is not None:
            await asyncio.wait([self._saving])

    async def _save(self, record: RunRecord) -> None:
        began = time.strftime("%Y-%m-%d %H-%M-%S", time.localtime(record.start))
        name = re.sub(r"[^\w.()=, -]+", "_", record.name(self._live.history.strings))[:60]
        path = self._folder / f"run {began} {name.strip()}.daskrun"
        try:
            write = await self._snapshot({"run": str(record.number)})
            await asyncio.to_thread(self._write, write, path)
        except OSError as error:
            logger.warning("A run could not be saved as %s: %s", path, error)

    def _write(self, write: Callable[[Path], None], path: Path) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write(path)
        files = {file: file.stat() for file in self._folder.glob(OWN)}
        total = 0
        for at, file in enumerate(sorted(files, key=lambda file: -files[file].st_mtime_ns)):
            total += files[file].st_size
            if at and (at >= self._most or total > self._most_bytes):
                file.unlink(missing_ok=True)
