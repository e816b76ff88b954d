"""The same work beside a scheduler as viewers make, but work that asks the scheduler nothing.

Where everything shares few cores, whatever else computes costs a scheduler time: it is interrupted
more often, finds its caches cold, and client and worker hand it their messages in other portions.
This tells that from what viewers themselves ask of it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self

_PERIOD_S = 0.25
"""As often as our plots are drawn."""


def _burn(share: float, is_over: threading.Event) -> None:
    """Compute in pure Python for `share` of each period, until `is_over`."""
    while not is_over.wait(_PERIOD_S * (1 - share)):
        until = time.thread_time() + _PERIOD_S * share
        while time.thread_time() < until:
            sorted(str(number) for number in range(500))


class Busy:
    """Computes in a thread of this process and in a process of its own, as a context manager.

    Parameters
    ----------
    here, elsewhere : float
        Shares of a core, 0 to 1.
    """

    def __init__(self, here: float, elsewhere: float) -> None:
        self._elsewhere = elsewhere
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=_burn, args=(here, self._is_over))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.busy", str(self._elsewhere)], stdin=subprocess.PIPE
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()
        try:
            self._process.communicate(timeout=20)
        finally:
            self._process.kill()


if __name__ == "__main__":
    over = threading.Event()
    burning = threading.Thread(target=_burn, args=(float(sys.argv[1]), over))
    burning.start()
    sys.stdin.read()
    over.set()
    burning.join()
