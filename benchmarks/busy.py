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
from collections.abc import Iterator
from contextlib import contextmanager

_PERIOD_S = 0.25
"""As often as our plots are drawn."""


def _burn(share: float, is_over: threading.Event) -> None:
    """Compute in pure Python for `share` of each period, until `is_over`."""
    while not is_over.wait(_PERIOD_S * (1 - share)):
        until = time.thread_time() + _PERIOD_S * share
        while time.thread_time() < until:
            sorted(str(number) for number in range(500))


@contextmanager
def busy(here: float, elsewhere: float) -> Iterator[None]:
    """Compute in a thread of this process and in a process of its own.

    Parameters
    ----------
    here, elsewhere : float
        Shares of a core, 0 to 1.
    """
    is_over = threading.Event()
    thread = threading.Thread(target=_burn, args=(here, is_over))
    command = [sys.executable, "-m", "benchmarks.busy", str(elsewhere)]
    with subprocess.Popen(command, stdin=subprocess.PIPE):  # ends when its input does
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


if __name__ == "__main__":
    over = threading.Event()
    burning = threading.Thread(target=_burn, args=(float(sys.argv[1]), over))
    burning.start()
    sys.stdin.read()
    over.set()
    burning.join()
