"""Real processes that the proxy talks to, and their runtime records."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

PROGRAMS = Path(__file__).parent / "programs"
FIXTURES = Path(__file__).parents[1] / "contract" / "fixtures"


class Program:
    """A program that prints one line when it is ready and ends with its standard input."""

    def __init__(self, name: str, *arguments: str, **environment: str) -> None:
        command = [sys.executable, str(PROGRAMS / name), *arguments]
        pipe = subprocess.PIPE
        env = {**os.environ, **environment}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)
        self.pid = self.process.pid
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline().strip()

    def kill(self) -> None:
        """End it without a goodbye; doing so twice is harmless."""
        self.process.kill()
        self.process.wait(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self.process.communicate()


class Backend(Program):
    """A process that plays the in-kernel diagnostics server."""

    def __init__(self, folder: Path) -> None:
        self.token = secrets.token_urlsafe(32)
        super().__init__("diagnostics_server.py", self.token)
        self.folder, self.url = folder, self.first_line
        self.port = int(self.url.rpartition(":")[2])
        self.id = secrets.token_hex(8)
        self.path = folder / f"dask-diag-lab-{self.id}.json"
        stat = Path(f"/proc/{self.pid}/stat").read_text()
        self.start_ticks = int(stat.rpartition(")")[2].split()[19])

    def announce(self, **changes: object) -> Path:
        """Write the record as the kernel side does, owner only and at once, with fields changed."""
        valid = FIXTURES / "runtime_record" / "valid.json"
        record: dict[str, Any] = json.loads(valid.read_text())  # Any: JSON
        record.update(id=self.id, pid=self.pid, url=self.url, token=self.token)
        record.update(started=time.time(), start_ticks=self.start_ticks)
        record.update(changes)
        path = self.folder / f"dask-diag-lab-{record['id']}.json"
        half = path.with_suffix(".half")
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(record, file)
        return half.rename(path)


class StockScheduler(Program):
    """A real scheduler of `distributed` with its own dashboard."""

    def __init__(
        self, n_workers: int = 0, prefix: str = "", *more: str, **environment: str
    ) -> None:
        super().__init__("stock_scheduler.py", str(n_workers), prefix, *more, **environment)
        port, self.scheduler_id, self.address = self.first_line.split()
        self.port = int(port)
