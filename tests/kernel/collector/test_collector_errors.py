"""Errors that are kept: bounded, counted, and not those of `distributed`'s list alone."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

from distributed.scheduler import ErredTask

from dask_diag_lab.collector.events import (
    KILLED_ERROR,
    MAX_ERRORS,
    MAX_KINDS,
    MAX_TRACEBACK,
    Errors,
    error_kind,
)

FRAME = 'File "/f.py", line 3, in %s'


def raised(name: str) -> str:
    """Return a traceback whose last frame is in a function of that name."""
    return f'  File "/a.py", line 1, in g\n    f()\n  {FRAME % name}\n    raise\n'


def kept(*listed: ErredTask) -> Errors:
    """Return the errors of a scheduler that lists some, the newest first."""
    scheduler: Any = SimpleNamespace(erred_tasks=deque(listed), tasks={})
    return Errors(scheduler)


def fail(errors: Errors, i: int, text: str, place: str = "f", **options: bool) -> None:
    errors.add(f"inc-{i}", "inc", float(i), ["tcp://a:1"], text, raised(place), **options)


def test_a_kind_is_counted_whole_and_its_last_tasks_are_listed() -> None:
    errors = kept()
    fail(errors, 5, "OSError('gone')", place="load")
    for i in range(10, 310):
        fail(errors, i, f"ValueError('row {i}')")
    first, *rest = errors.rows()
    assert first[0] == "inc-5"
    assert [row[0] for row in rest] == [f"inc-{i}" for i in range(310 - MAX_ERRORS, 310)]
    assert {row[6:] for row in rest} == {(False, f"ValueError, {FRAME % 'f'}", 300, 0, 10.0)}


def test_of_too_many_kinds_the_one_that_came_last_the_longest_ago_goes_and_is_counted() -> None:
    errors = kept()
    for i in (0, 1, 1, *range(2, MAX_KINDS), 0, MAX_KINDS):
        fail(errors, i, "ValueError()", place=f"f{i}")
    assert {row[0] for row in errors.rows()} == {"inc-0", *(f"inc-{i}" for i in range(2, 101))}
    assert errors.n_dropped == 2


def test_what_the_scheduler_lists_is_known_but_not_what_erred_because_of_another() -> None:
    errors = kept(
        ErredTask("inc-3", 3.0, {"tcp://a:1"}, "", ""),
        ErredTask("inc-2", 2.0, set(), "", ""),
        ErredTask("inc-1", 1.0, set(), "\ud800", "x" * 9000 + "end"),
    )
    (key, prefix, *_, text, traceback), killed = (row[:6] for row in errors.rows())
    assert (key, prefix, text) == ("inc-1", "inc", "?")
    assert traceback.endswith("end")
    assert len(traceback) < MAX_TRACEBACK + 50
    assert killed == ("inc-3", "inc", 3.0, ("tcp://a:1",), KILLED_ERROR, "")


def test_errors_of_one_type_and_place_are_of_one_kind() -> None:
    here = error_kind("ValueError('row 1')", raised("f"))
    assert here == error_kind("ValueError('row 2')", raised("f"))
    assert here not in {
        error_kind("ValueError('x')", raised("g")),
        error_kind("OSError()", raised("f")),
    }
    assert error_kind("no 'a' in 17", "") == error_kind("no 'b' in 3", "")
    assert error_kind("no 'a' in 17", "") != error_kind("a fire in 17", "")
