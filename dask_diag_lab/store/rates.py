"""How fast tasks of each prefix end, from counts seen at several times.

Must not know what the counts mean: it is told names, times and how many are done.
"""

from __future__ import annotations

from collections import deque
from math import nan
from typing import Final

WINDOW_S: Final = 20.0
WANTED: Final = 10
"""The window is longer where fewer tasks than this ended in it: long tasks end in waves."""

LONGEST_S: Final = 120.0
SPACING_S: Final = 1.0
"""Samples are no closer than this, so that a prefix keeps some hundred of them at most."""

LEAST: Final = 2
"""Tasks that have to be seen to end before there is a rate."""


class _Pace:
    """Times and how many were done by then; the oldest sample is where counting begins."""

    __slots__ = ("samples",)

    def __init__(self, time: float, done: int) -> None:
        self.samples: deque[tuple[float, int]] = deque([(time, done)])

    def update(self, time: float, done: int) -> None:
        samples = self.samples
        last_time, last_done = samples[-1]
        if done < last_done or time < last_time:
            # Computed again, or the clock was set back: what was seen before means nothing now.
            self.samples = deque([(time, done)])
        elif done == last_done:
            if len(samples) == 1 or time - last_time > LONGEST_S:
                self.samples = deque([(time, done)])  # it has not begun yet, or begins once more
        elif len(samples) > 2 and time - samples[-2][0] < SPACING_S:
            samples[-1] = (time, done)
        else:
            samples.append((time, done))
        while len(samples) > 2 and samples[1][0] < time - LONGEST_S:
            samples.popleft()

    def rate(self, now: float) -> float:
        last_time, last_done = self.samples[-1]
        begin, before = last_time, last_done
        for begin, before in reversed(self.samples):
            elapsed_s = now - begin
            if elapsed_s >= LONGEST_S or (elapsed_s >= WINDOW_S and last_done - before >= WANTED):
                break
        if last_done - before < LEAST or now <= begin or now - last_time > LONGEST_S:
            return nan
        return (last_done - before) / (now - begin)


class Rates:
    """The pace of each name."""

    def __init__(self) -> None:
        self._paces: dict[str, _Pace] = {}

    def update(self, name: str, time: float, done: int) -> None:
        """Note that ``done`` tasks of ``name`` had ended at ``time``, in seconds."""
        pace = self._paces.get(name)
        if pace is None:
            self._paces[name] = _Pace(time, done)
        else:
            pace.update(time, done)

    def remove(self, name: str) -> None:
        """Forget a name; harmless when it is not there."""
        self._paces.pop(name, None)

    def clear(self) -> None:
        """Forget all."""
        self._paces.clear()

    def rate(self, name: str, now: float) -> float:
        """Return tasks per second at ``now``; NaN where too few were seen to end.

        ``(done now - done then) / (now - then)``, where ``then`` is at least `WINDOW_S` ago, and
        so much longer, up to `LONGEST_S`, that `WANTED` tasks ended since; or when the first of
        its tasks came to a worker, if that was later.
        """
        pace = self._paces.get(name)
        return nan if pace is None else pace.rate(now)
