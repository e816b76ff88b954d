"""Sends the names that hover texts look up: each text and key once, for the life of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.views.shown_name import shown_name

if TYPE_CHECKING:
    from dask_diag_lab.store import Store
    from dask_diag_lab.views.stream.picture import Picture

KEYS_SENT: Final = 1000
"""Keys of tasks are sent when no more single rectangles than this are visible."""
KEYS_KEPT: Final = 4000


class Names:
    """Texts and keys that a page has, and those that it still lacks."""

    def __init__(self, store: Store, picture: Picture) -> None:
        self._store = store
        self._picture = picture
        self._keys: set[int] = set()
        self._texts: set[int] = set()

    def send_texts(self, ids: npt.NDArray[np.integer]) -> None:
        """Send the texts of string ids, which are small numbers and may come often."""
        new = sorted(set(np.flatnonzero(np.bincount(ids)).tolist()) - self._texts)
        if new:
            self._texts.update(new)
            shown = [shown_name(text) for text in self._store.strings.take(new)]
            self._picture.texts.stream({"id": new, "text": shown})

    def send_keys(self, tasks: npt.NDArray[np.integer]) -> None:
        """Send the keys of visible tasks, where they are few enough."""
        if not 0 < tasks.size <= KEYS_SENT:
            return
        new = sorted(set(tasks.tolist()) - self._keys)
        if not new:
            return
        if len(self._keys) + len(new) > KEYS_KEPT:
            self._keys.clear()
            self._picture.keys.set({"task": [], "key": []})
            new = np.unique(tasks).tolist()
        self._keys.update(new)
        keys = [self._store.actions.key(task) for task in new]
        self._picture.keys.stream({"task": new, "key": keys})

    def send_key(self, task: int) -> None:
        """Send one key, which was asked for by a tap."""
        if task >= 0:
            self.send_keys(np.array([task]))
