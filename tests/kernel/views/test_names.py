"""Names of tasks as Dask cuts them out of keys, and of workers, kept when one is gone."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from dask.utils import key_split

from dask_diag_lab.views.names import (
    BLANK,
    known_names,
    name_label,
    shown_name,
    worker_name,
)
from tests.kernel.views.situations import batch, session_of, worker


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("", "Other"),
        ("a b", "a b"),
        ("<b>x</b>", "b>x</b"),
        ("<module.>", BLANK),
        ("_\u200b_", BLANK),
        ("a\nb", "a\ufffdb"),
        ("sum\u202e-1", "sum\ufffd"),
    ],
)
def test_every_name_that_dask_makes_can_be_seen(key: Hashable, shown: str) -> None:
    assert shown_name(key_split(key)) == shown


def test_only_a_bare_number_is_called_a_worker() -> None:
    names = ("0", "0 (left)", "alpha", "SLURMCluster-3", "tcp://10.0.0.1:1")
    words = ["worker 0", "worker 0 (left)", "alpha", "SLURMCluster-3", "10.0.0.1:1"]
    assert [name_label(name) for name in names] == words


def test_worker_that_left_keeps_its_name_and_is_marked() -> None:
    live = session_of(workers=[worker(0, name="alpha"), worker(1, name="beta")])
    left = [worker(1)["address"]]
    live.apply(batch(workers=[worker(0, name="alpha")], removed_workers=left))
    assert list(known_names(live.history).values()) == ["alpha", "beta (left)"]
    assert worker_name(live.history, worker(0)["address"]) == "alpha"
    assert worker_name(live.history, worker(1)["address"]) == "beta (left)"
    assert worker_name(live.history, "tcp://10.0.0.99:1") == "10.0.0.99:1"
