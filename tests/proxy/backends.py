"""Real processes that the proxy talks to, and their runtime records."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
FIXTURES = Path(__file__).parents[1] / "contract" / "fixtures"


class Program:
    """A program that prints one line when it is ready and ends with its standard input."""

    def __init__(self, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline()

    @property
    def pid(self) -> int:
        return self.process.pid

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """End it; closing twice is harmless."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.kill()
        self.process.stdout.close()

    def kill(self) -> None:
        """End it without a goodbye."""
        self.process.kill()
        self.process.wait(10)

    def __enter__(self) -> Any:  # Any: the subclass
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Backend(Program):
    """A process that plays the in-kernel diagnostics server."""

    def __init__(self, folder: Path) -> None:
        super().__init__("diagnostics_server.py")
        self.folder = folder
        self.url = str(json.loads(self.first_line)["url"])
        self.port = int(self.url.rpartition(":")[2])
        self.id = secrets.token_hex(8)
        self.token = secrets.token_urlsafe(32)
        assert self.process.stdout is not None
        self.say(json.dumps({"token": self.token}))
        self.process.stdout.readline()  # what asks before it knows the token is refused

    @property
    def path(self) -> Path:
        return self.folder / f"dask-diag-lab-{self.id}.json"

    def record(self, **changes: object) -> dict[str, Any]:
        """Return this server's record, with fields changed."""
        data = json.loads((FIXTURES / "runtime_record" / "valid.json").read_text())
        data.update(id=self.id, pid=self.pid, url=self.url, token=self.token, started=time.time())
        data.update(changes)
        return dict(data)

    def announce(self, **changes: object) -> Path:
        """Write the record as the kernel side does: owner only, at once and whole."""
        return write_record(self.folder, self.record(**changes))


def write_record(folder: Path, record: dict[str, Any]) -> Path:
    """Write a record, mode 0600, by rename."""
    path = folder / f"dask-diag-lab-{record['id']}.json"
    half = path.with_suffix(".half")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(record, file)
    half.rename(path)
    return path


class StockScheduler(Program):
    """A real scheduler of `distributed` with its own dashboard."""

    def __init__(self) -> None:
        super().__init__("stock_scheduler.py")
        port, self.scheduler_id = self.first_line.split()
        self.port = int(port)
        self.url = f"http://127.0.0.1:{port}"
