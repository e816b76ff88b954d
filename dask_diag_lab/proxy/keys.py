"""Keys of sandboxed pages: what stands for a login where the browser sends no cookie.

A key opens one dashboard for reading, for as long as the user it was made for is there: has the
list of dashboards open, or has asked for something in the last two minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from jupyter_server.auth.identity import User

MAX_KEYS: Final = 1024


class Closable(Protocol):
    """A websocket."""

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Begin to close."""


@dataclass(eq=False, slots=True)
class Key:
    """One page's key, and what it has open."""

    user: User
    dashboard_id: str
    sockets: set[Closable] = field(default_factory=set)


class Keys:
    """All keys of one Jupyter server. A timer runs only while there are any."""

    PRESENCE_S = 120.0

    def __init__(self) -> None:
        self._keys: dict[str, Key] = {}
        self._seen: dict[str, float] = {}  # when users that have keys were there last
        self._listening: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def issue(self, user: User, dashboard_id: str) -> str:
        """Return a new key that lets ``user`` read a dashboard."""
        while len(self._keys) >= MAX_KEYS:
            self._end(next(iter(self._keys)))  # the oldest
        text = secrets.token_urlsafe(32)
        self._keys[text] = Key(user, dashboard_id)
        self._seen[user.username] = time.monotonic()
        if self._timer is None:
            self._sweep()
        return text

    def find(self, text: str) -> Key | None:
        """Return what a key opens, None when it opens nothing (any more)."""
        key = self._keys.get(text)
        return key if key and self._is_present(key.user.username) else None

    def note(self, user: User) -> None:
        """Take note that a user has asked for something with a login."""
        if user.username in self._seen:
            self._seen[user.username] = time.monotonic()

    @contextlib.contextmanager
    def listening(self, user: User) -> Iterator[None]:
        """Hold that a user is there, for the time of a block."""
        self._listening[user.username] += 1
        try:
            yield
        finally:
            self._listening[user.username] -= 1
            self._listening += Counter()  # without those at zero
            self.note(user)

    def end(self, dashboard_id: str | None = None) -> None:
        """End the keys of one dashboard, or all, and close what they have open."""
        for text, key in list(self._keys.items()):
            if dashboard_id in (None, key.dashboard_id):
                self._end(text)

    def _is_present(self, name: str) -> bool:
        is_recent = time.monotonic() - self._seen.get(name, -self.PRESENCE_S) < self.PRESENCE_S
        return is_recent or self._listening[name] > 0

    def _end(self, text: str) -> None:
        for socket in tuple(self._keys.pop(text).sockets):
            socket.close(1008, "This page is no longer open.")

    def _sweep(self) -> None:
        for text, key in list(self._keys.items()):
            if not self._is_present(key.user.username):
                self._end(text)
        users = {key.user.username for key in self._keys.values()}
        self._seen = {name: when for name, when in self._seen.items() if name in users}
        loop = asyncio.get_running_loop()
        delay_s = self.PRESENCE_S / 8
        self._timer = loop.call_later(delay_s, self._sweep) if self._keys else None
