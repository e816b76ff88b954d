"""The newest of what is worked out: one at a time, and never of something else."""

from __future__ import annotations

from typing import Any

import pytest

from dask_diag_lab.store import Store
from dask_diag_lab.views.latest import Latest
from tests.kernel.views.elsewhere import Elsewhere


def _latest() -> tuple[Latest[Any], Elsewhere]:
    """Return one of any type whose work waits."""
    store = Store()
    return Latest(store.workings), Elsewhere(store)


def test_the_old_one_is_shown_until_the_new_one_is_there() -> None:
    latest, elsewhere = _latest()
    assert latest.of("a", 1, lambda: "one") is None
    elsewhere.finish()
    assert latest.of("a", 1, lambda: "one") == "one"
    assert latest.of("a", 2, lambda: "two") == "one"
    elsewhere.finish()
    assert latest.of("a", 2, lambda: "two") == "two"
    assert not elsewhere.open


def test_wishes_do_not_pile_up_and_the_last_one_is_made() -> None:
    latest, elsewhere = _latest()
    for version in range(5):
        latest.of("a", version, lambda version=version: version)  # type: ignore[misc]
    assert len(elsewhere.open) == 1
    elsewhere.finish()
    assert latest.of("a", 4, lambda: 4) == 0
    elsewhere.finish()
    assert latest.of("a", 4, lambda: 4) == 4
    assert not elsewhere.open


def test_of_another_subject_nothing_is_shown() -> None:
    latest, elsewhere = _latest()
    latest.of("a", 1, lambda: "one")
    elsewhere.finish()
    assert latest.of("b", 1, lambda: "other") is None
    assert latest.known("a") == "one"


def test_what_the_work_raises_is_raised_until_something_else_is_wished() -> None:
    latest: Latest[float] = Latest(Store().workings)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            latest.of("a", 0, lambda: 1 / 0)
    assert latest.of("a", 1, lambda: 1.0) == 1.0


def test_its_version_moves_when_one_has_been_made() -> None:
    latest, elsewhere = _latest()
    latest.of("a", 1, lambda: "one")
    before = latest.version
    elsewhere.finish()
    assert latest.version == before + 1
    latest.of("a", 1, lambda: "one")
    assert latest.version == before + 1
