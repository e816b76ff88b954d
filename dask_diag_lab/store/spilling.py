"""When one worker spills, from what its heartbeats tell of the bytes on its disk.

Must not look at tables.
"""

from __future__ import annotations

from typing import Final

MIN_BYTES: Final = 2**20
MIN_SHARE: Final = 0.01
"""Growth within `QUIET_S` that is a spill: so much, and so much of what was there already.

What trickles to disk in an idle hour is none, nor what goes to and fro beside gigabytes."""
QUIET_S: Final = 10.0
"""A spill is over when nothing grew for so long. Heartbeats of 1000 workers are 6 s apart."""


class Spilling:
    """The bytes on one worker's disk.

    Parameters
    ----------
    time, nbytes : float, int
        Of the first row that is known of it: what is on disk then is no event.
    """

    def __init__(self, time: float, nbytes: int) -> None:
        self._nbytes = self._base = nbytes
        self._base_at = self._grew_at = time
        self._peak = 0  # of the spill that goes on; 0 for none
        self._is_told = nbytes >= MIN_BYTES

    def see(self, time: float, nbytes: int) -> str:
        """Return the kind of event that the next heartbeat is: 'spill-began', 'spill-ended' or ''.

        A spill ends unsaid, so that the next growth is another one, once nothing grew for a while
        or half of what it brought has gone. What is said is that nothing is left.
        """
        before, self._nbytes = self._nbytes, nbytes
        if self._peak and self._is_over(time, nbytes):
            self._peak, self._base, self._base_at = 0, min(before, nbytes), time
        if self._peak:
            if nbytes > before:
                self._grew_at, self._peak = time, max(self._peak, nbytes)
        elif nbytes - self._base >= max(MIN_BYTES, MIN_SHARE * self._base):
            self._grew_at, self._peak, self._is_told = time, nbytes, True
            return "spill-began"
        elif nbytes < self._base or time - self._base_at > QUIET_S:
            self._base, self._base_at = nbytes, time
        if before and not nbytes and self._is_told:
            self._is_told = False
            return "spill-ended"
        return ""

    def _is_over(self, time: float, nbytes: int) -> bool:
        return time - self._grew_at > QUIET_S or nbytes - self._base < (self._peak - self._base) / 2
