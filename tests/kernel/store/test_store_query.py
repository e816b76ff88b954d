"""A question about the log is answered as of when it was asked, in whatever thread."""

from __future__ import annotations

from benchmarks.simulator import BEGIN, Simulation
from dask_diag_lab.store import History
from tests.kernel.store import brute

ASKED = (BEGIN, BEGIN + 900, None, 300, 900)


def test_what_comes_and_goes_later_does_not_show_in_an_answer() -> None:
    batches = list(Simulation(4, 4, 15_000, seed=3, errors=0.01).batches(rows=900))
    history, still = History(max_actions=8000), History(max_actions=8000)
    for batch in batches[:9]:
        history.apply(batch)
        still.apply(batch)
    query = history.actions.query(*ASKED)
    for batch in batches[9:]:
        history.apply(batch)
        history.actions.query(*ASKED).answer()
    assert history.actions.evicted > still.actions.evicted
    brute.same(query.answer(), still.actions.query(*ASKED).answer())
