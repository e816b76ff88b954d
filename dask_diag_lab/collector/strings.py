"""Text on its way to a screen: task keys of any type, and a bounded table of names.

Must not look at the scheduler.
"""

from __future__ import annotations

from typing import Final

MAX_TEXT: Final = 500
"""Characters kept of a key or name; 10 kB keys exist."""

MAX_STRINGS: Final = 50_000
"""Prefixes in a string table, never keys."""

MAX_ADDRESSES: Final = 50_000
"""Workers in a string table: a bound of their own, or prefixes would take their room."""

OTHER: Final = "(other)"
"""Name that stands for all that did not fit a bound."""


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """Return ``text``, cut to ``limit`` characters with a note of its length."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text)} characters)"


def key_text(key: object) -> str:
    """Return a task key, which may be a str, bytes, number or nested tuple, as text."""
    text = key if type(key) is str else str(key)
    if not text.isascii():
        # Lone surrogates cannot be encoded, and one bad key must not stop a whole answer.
        text = text.encode("utf-8", "replace").decode("utf-8")
    return cut(text)


class Strings:
    """Names as small integers that keep their meaning for the collector's whole life.

    Id 0 is the empty text, id 1 is `OTHER`, which every name gets once there are ``limit`` names,
    and every address once there are ``max_addresses`` of these.

    Attributes
    ----------
    ids : dict of str to int
        Read it directly on the hot path and call `add` where the name is missing.
    texts : list of str
        The text of each id.
    """

    def __init__(self, limit: int = MAX_STRINGS, max_addresses: int = MAX_ADDRESSES) -> None:
        self.limit = limit
        self.max_addresses = max_addresses
        self._n_addresses = 0
        self.ids: dict[str, int] = {"": 0, OTHER: 1}
        self.texts: list[str] = ["", OTHER]

    def add(self, name: str) -> int:
        """Return the id of ``name``, giving it one if there is room."""
        known = self.ids.get(name)
        if known is not None:
            return known
        if len(self.texts) - self._n_addresses >= self.limit:
            return 1
        return self._append(name)

    def add_address(self, address: str) -> int:
        """Return the id of a worker's address, giving it one if there is room for addresses."""
        known = self.ids.get(address)
        if known is not None:
            return known
        if self._n_addresses >= self.max_addresses:
            return 1
        self._n_addresses += 1
        return self._append(address)

    def _append(self, text: str) -> int:
        self.ids[text] = len(self.texts)
        self.texts.append(key_text(text))
        return self.ids[text]

    def since(self, cursor: int) -> tuple[str, ...]:
        return tuple(self.texts[cursor:])
