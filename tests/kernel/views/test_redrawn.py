"""What could not be drawn is tried again with the next update, and its error raised again."""

from __future__ import annotations

import pytest

from dask_diag_lab.views.workers.bar_measure import Measure
from dask_diag_lab.views.workers.cpu import Cpu
from tests.kernel.views.situations import Page, batch, store_of, worker


class Touchy(Cpu):
    """Fails where it is told to."""

    fails = False
    n_drawn = 0

    def measure(self) -> Measure:
        if self.fails:
            raise KeyError("broken")
        self.n_drawn += 1
        return super().measure()


def test_an_error_is_raised_until_the_picture_is_drawn_and_then_it_rests() -> None:
    store = store_of(workers=[worker(1)])
    view = Touchy(store)
    Page(view)
    store.apply(batch(workers=[worker(1), worker(2)]))
    view.fails = True
    for _ in range(2):  # the second time nothing has come since
        with pytest.raises(KeyError, match="broken"):
            view.update()
    view.fails = False
    view.update()
    assert len(view.bars.model.data["y"]) == 2
    before = view.n_drawn
    view.update()
    assert view.n_drawn == before
