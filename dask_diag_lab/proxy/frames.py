"""Keys that open one stock dashboard to a page which has no cookies.

A stock page is sandboxed, so its origin is none and the browser sends no cookie with what the
page loads. The key in its address takes the cookie's place: made for a logged-in user, good for
reading one dashboard only, forgotten after a while. See docs/decisions/0001-own-relay.md.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from jupyter_server.auth.identity import User

MAX_FRAMES: Final = 256
LIFETIME_S: Final = 12 * 3600.0


@dataclass(slots=True)
class Frame:
    """Who may see what; ``until`` counts on the clock of `Frames`."""

    dashboard_id: str
    user: User
    until: float


class Frames:
    """The keys that are good now. The oldest is forgotten when there are too many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._frames: OrderedDict[str, Frame] = OrderedDict()

    def open(self, dashboard_id: str, user: User) -> str:
        """Return a key that lets ``user`` read a dashboard, the same as before while it is good."""
        for key, frame in self._frames.items():
            is_same = (frame.dashboard_id, frame.user.username) == (dashboard_id, user.username)
            if is_same and frame.until >= self._clock():
                frame.until = self._clock() + LIFETIME_S
                return key
        key = secrets.token_urlsafe(32)
        self._frames[key] = Frame(dashboard_id, user, self._clock() + LIFETIME_S)
        while len(self._frames) > MAX_FRAMES:
            self._frames.popitem(last=False)
        return key

    def find(self, key: str) -> Frame | None:
        """Return what a key opens, None when it opens nothing (any more)."""
        frame = self._frames.get(key)
        if frame is None:
            return None
        if frame.until < self._clock():
            del self._frames[key]
            return None
        return frame

    def forget(self, dashboard_id: str) -> None:
        """Void every key of a dashboard."""
        for key in [k for k, frame in self._frames.items() if frame.dashboard_id == dashboard_id]:
            del self._frames[key]
