"""What a page wishes of its plot, another look or a command, kept until the plot's next update."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from dask_diag_lab.server.control import Command, read_command, read_look
from dask_diag_lab.views.look import Look

if TYPE_CHECKING:
    from dask_diag_lab.server.control import PaneControl

logger = logging.getLogger(__name__)

MAX_PENDING: Final = 64
"""Kept for one update; a page that sends more is not a hand on a keyboard."""


class Wishes:
    """The wishes of one page, in the order in which they came."""

    def __init__(self, control: PaneControl) -> None:
        self._pending: deque[Look | Command] = deque(maxlen=MAX_PENDING)
        control.on_change("look", self._look_changed)
        control.on_change("command", self._commanded)

    def take(self) -> Iterator[Look | Command]:
        """Yield what was wished for since the last call."""
        while self._pending:
            yield self._pending.popleft()

    def _look_changed(self, _attr: str, _old: object, new: str) -> None:
        try:
            self._pending.append(read_look(new))
        except ValueError as error:
            logger.info("Look of a page ignored: %s", error)

    def _commanded(self, _attr: str, _old: object, new: str) -> None:
        command = read_command(new)
        if command is not None:
            self._pending.append(command)
