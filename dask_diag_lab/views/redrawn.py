"""A view that is drawn as a whole, and only when something that it shows differs."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from dask_diag_lab.views.base import View


class RedrawnView(View):
    """Compares what it shows with what was drawn; a subclass says what that is and draws it.

    Attributes
    ----------
    moves_itself : bool
        Whether `redraw` changes what `shown` returns, such as ranges that the reader may move.
    """

    moves_itself: ClassVar[bool] = False

    _drawn: object = None

    @abstractmethod
    def shown(self) -> object:
        """Return something that differs when the picture has to; not None."""

    @abstractmethod
    def redraw(self) -> None:
        """Draw what there is now, and say in `notice` what there is to say."""

    @abstractmethod
    def restyle_models(self) -> None:
        """Apply `look` to all models; data colours follow with `redraw`."""

    def update(self) -> None:
        """Draw what changed since the last call; see `View.update`."""
        now = self.shown()
        if now != self._drawn:
            self._drawn = None  # until it is: what fails is tried, and told, again
            self.redraw()
            self._drawn = self.shown() if self.moves_itself else now

    def restyle(self) -> None:
        """Apply `look`; see `View.restyle`."""
        self.restyle_models()
        self._drawn = None
        self.update()
