"""One test suite: the command that runs it, its time limit, and the numbers it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from reports import Count


@dataclass(frozen=True, slots=True)
class Suite:
    """A command that runs tests and writes a report.

    Attributes
    ----------
    read : callable
        Turns the report into a `Count`; raises OSError, ValueError or KeyError where it cannot.
    limit_s : float
        A suite that takes longer hangs: it is ended, and that counts as a failure.
    """

    name: str
    command: Sequence[str | Path]
    cwd: Path
    report: Path
    read: Callable[[Path], Count]
    limit_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one suite; `problem` is '' unless it did not end as a suite should."""

    count: Count
    seconds: float
    problem: str


class Run:
    """A suite whose command runs, with its output on the screen or in a file.

    Ended or not, its whole group of processes is gone after `end`: kernels and browsers of a run
    that was cut off, too.
    """

    def __init__(self, suite: Suite, env: Mapping[str, str], output: Path | None = None) -> None:
        self.suite = suite
        self.output = output
        suite.report.parent.mkdir(parents=True, exist_ok=True)
        suite.report.unlink(missing_ok=True)
        self._started = time.monotonic()
        with output.open("wb") if output else nullcontext() as file:
            self._process = subprocess.Popen(
                suite.command,
                cwd=suite.cwd,
                env=env,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def poll(self) -> Outcome | None:
        """Return what came of it once it has ended, or once it takes too long."""
        is_late = time.monotonic() - self._started > self.suite.limit_s
        if self._process.poll() is None and not is_late:
            return None
        returncode = self._process.returncode
        self.end()
        try:
            count = self.suite.read(self.suite.report)
        except (OSError, ValueError, KeyError, ET.ParseError):
            count = Count()
        problem = judge(returncode, count, self.suite.limit_s)
        if problem and not count.failed:
            count += Count(failed=1)
        return Outcome(count, time.monotonic() - self._started, problem)

    def end(self) -> None:
        """End what of it still runs; harmless twice."""
        for number, patience_s in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0)):
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                return
            try:
                self._process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue


def judge(returncode: int | None, count: Count, limit_s: float) -> str:
    """Say in words what is wrong with a suite besides tests that failed; '' when nothing is."""
    if returncode is None:
        return f"took longer than {limit_s:.0f} s and was ended"
    if count.passed + count.failed == 0:
        return "ran no tests"
    if returncode and not count.failed:
        return f"ended with exit code {returncode}"
    return ""
