"""Text on its way to a screen: task keys of any type, and a bounded table of names.

Must not look at the scheduler.
"""

from __future__ import annotations

from typing import Final

MAX_TEXT: Final = 500
"""Characters kept of a key or name; 10 kB keys exist."""

MAX_NAMES: Final = 50_000
"""Prefixes in a string table, never keys. Addresses of workers are not bounded."""

OTHER: Final = "(other)"
"""Name that stands for all that did not fit a bound."""


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """Return ``text``, cut to ``limit`` characters with a note of its length."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text)} characters)"


def plain(value: object) -> str:
    """Return text that can be encoded: one lone surrogate must not stop a whole answer."""
    text = value if type(value) is str else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def key_text(key: object) -> str:
    """Return a task key, which may be a str, bytes, number or nested tuple, as text."""
    return cut(plain(key))


class Strings:
    """Names as small integers that keep their meaning for the collector's whole life.

    Id 0 is the empty text, id 1 is `OTHER`, which every name gets once there are ``limit`` names.

    Attributes
    ----------
    ids : dict of str to int
        Read it directly on the hot path and call `add` where the name is missing.
    texts : list of str
        The text of each id.
    """

    def __init__(self, limit: int = MAX_NAMES) -> None:
        self._n_free = limit
        self.ids: dict[str, int] = {"": 0, OTHER: 1}
        self.texts: list[str] = ["", OTHER]

    def add(self, name: str) -> int:
        """Return the id of ``name``, giving it one if the table is not full."""
        if name not in self.ids:
            if not self._n_free:
                return 1
            self._n_free -= 1
        return self.add_address(name)

    def add_address(self, address: str) -> int:
        """Return the id of a worker's address, giving it one where it has none."""
        if address not in self.ids:
            self.ids[address] = len(self.texts)
            self.texts.append(key_text(address))
        return self.ids[address]


def error_text(error: Exception) -> str:
    """Return an error as text for the user."""
    return cut(f"{type(error).__name__}: {plain(error)}")
