"""The processes that serve recordings, one for each open file; none outlives this server.

Each holds one end of a pipe and ends with it, so also where this server is killed. It makes its
token itself and announces itself as a kernel does: nothing secret is handed over.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from contextlib import suppress
from pathlib import Path
from typing import Final

from dask_diag_lab.proxy.client import NotAllowedError

# A large file on a busy machine; a million tasks take two seconds.
START_S: Final = 60.0
END_S: Final = 5.0
# A process that nobody has looked at for so long ends.
UNUSED_S: Final = 600.0
READY: Final = "Plots of "

LOG: Final = logging.getLogger(__name__)


def id_of(path: Path) -> str:
    """Return the id of the dashboard that serves a file, as that is now.

    It is the same when the file is opened again: the panes of before go on.
    """
    status = path.stat()
    facts = f"{path}\0{status.st_size}\0{status.st_mtime_ns}"
    return hashlib.sha256(facts.encode(errors="surrogateescape")).hexdigest()[:16]


class Recordings:
    """The files that are open, by the ids of their dashboards."""

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}
        self._following: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()

    def __contains__(self, dashboard_id: object) -> bool:
        return dashboard_id in self._processes

    async def open(self, path: Path) -> bool:
        """Serve a file, if it is not served already; return whether that is new.

        Raises
        ------
        NotAllowedError
            It cannot be served; the text is that of the process, with status 422.
        """
        async with self._opening:
            if (dashboard_id := id_of(path)) in self._processes:
                return False
            process = await self._start(path, dashboard_id)
            try:
                await asyncio.wait_for(_ready(process, path), START_S)
            except BaseException as error:
                await _end(process)
                if isinstance(error, TimeoutError):
                    late = f"{path.name} is not open after {START_S:g} s: try it again."
                    raise NotAllowedError(late, 504) from None
                raise
            self._processes[dashboard_id] = process
            task = asyncio.create_task(self._follow(dashboard_id, path.name, process))
            self._following.add(task)
            task.add_done_callback(self._following.discard)
            return True

    async def close(self, dashboard_id: str) -> None:
        """Serve a file no more."""
        if (process := self._processes.pop(dashboard_id, None)) is not None:
            await _end(process)

    async def close_all(self) -> None:
        """Serve none; harmless twice."""
        await asyncio.gather(*map(self.close, list(self._processes)))
        await asyncio.gather(*self._following)

    async def _start(self, path: Path, dashboard_id: str) -> Process:
        # Without -P modules are looked for in the folder of the notebooks first.
        command = [sys.executable, "-P", "-m", "dask_diag_lab", "open", str(path), "--port", "0"]
        command += ["--for-jupyter", dashboard_id, "--unused-s", str(UNUSED_S)]
        # Ctrl-C in Jupyter's terminal, which asks whether it is meant, is not for it.
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, start_new_session=True
        )

    async def _follow(self, dashboard_id: str, name: str, process: Process) -> None:
        """Log what a process says until it ends, and forget it."""
        assert process.stdout is not None
        async for line in process.stdout:
            LOG.warning("%s: %s", name, line.decode(errors="replace").rstrip())
        await process.wait()
        if self._processes.get(dashboard_id) is process:
            del self._processes[dashboard_id]


async def _ready(process: Process, path: Path) -> None:
    """Wait until a process serves; raise a NotAllowedError with its last words if it does not."""
    assert process.stdout is not None
    last = "the process that was to serve it ended"
    async for line in process.stdout:
        text = line.decode(errors="replace").strip()
        if text.startswith(READY):
            return
        last = text or last
    last = last.replace(str(path), path.name)  # the page knows it by its place below Jupyter's root
    known = last.removeprefix("Error: ")
    raise NotAllowedError(known if known != last else f"{path.name} is not opened: {last}.", 422)


async def _end(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), END_S)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
