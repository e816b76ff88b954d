"""How the commands of this repository talk: numbered steps, a sign of life, and what is missing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SIGN_OF_LIFE_S = 15.0
"""A step that says nothing for longer looks stuck."""


class MissingError(Exception):
    """Something this machine lacks, with the command that brings it."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(what)
        self.what = what
        self.command = command

    def __str__(self) -> str:
        return f"{self.what}\n    Run:  {self.command}"


class FailedError(Exception):
    """A command of a step ended badly; the message tells which and where its log is."""


class Steps:
    """Prints ``[2/5] what happens now`` and runs the step's commands into a log file."""

    def __init__(self, total: int, log: Path) -> None:
        self._total = total
        self._count = 0
        self._log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")

    def begin(self, text: str) -> None:
        """Announce the next step."""
        self._count += 1
        print(f"[{self._count}/{self._total}] {text}", flush=True)

    def note(self, text: str) -> None:
        """Print a line that belongs to the current step."""
        print(" " * 6 + text, flush=True)

    def run(
        self, command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None
    ) -> None:
        """Run a command with its output in the log, and a sign of life on the screen.

        Raises
        ------
        FailedError
            It did not end with 0; the last lines of its output are printed before.
        """
        started = time.monotonic()
        start_of_output = self._log.stat().st_size
        with self._log.open("ab") as log:
            process = subprocess.Popen(command, cwd=cwd, env=env, stdout=log, stderr=log)
            try:
                while not _ended(process):
                    self.note(f"… {time.monotonic() - started:.0f} s: {self._last_line()}")
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if process.returncode:
            print(self._output(start_of_output)[-4000:], file=sys.stderr)
            name = " ".join(str(part) for part in command)
            msg = f"This command failed (its output is above and in {self._log}):\n    {name}"
            raise FailedError(msg)

    def _last_line(self) -> str:
        lines = self._output(max(0, self._log.stat().st_size - 2000)).split("\n")
        return next((line.strip()[:90] for line in reversed(lines) if line.strip()), "working")

    def _output(self, start: int) -> str:
        return self._log.read_bytes()[start:].decode(errors="replace")


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(SIGN_OF_LIFE_S)
    except subprocess.TimeoutExpired:
        return False
    return True
