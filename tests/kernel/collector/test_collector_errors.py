"""Errors that are kept: bounded, counted, and not those of `distributed`'s list alone."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

from distributed.scheduler import ErredTask

from dask_diag_lab.collector.errors import KILLED, MAX_TASKS, MAX_TRACEBACK, Errors, error_kind


class ListOfErrors:
    """`distributed`'s list of errors, newest first, as far as `Errors` reads it."""

    def __init__(self) -> None:
        self.erred_tasks: deque[ErredTask] = deque(maxlen=5)
        self.tasks: dict[str, Any] = {}  # of `distributed`

    def fail(
        self,
        key: str,
        text: str = "ValueError('x')",
        *,
        on: str = "tcp://a:1",
        traceback: str = "line",
        time: float = 1.0,
    ) -> None:
        workers = {on} if on else set()
        self.erred_tasks.appendleft(ErredTask(key, time, workers, text, traceback))


FRAME = 'File "/f.py", line 3, in %s'


def raised(name: str) -> str:
    """Return a traceback whose last frame is in a function of that name."""
    return f'  File "/a.py", line 1, in g\n    f()\n  {FRAME % name}\n    raise\n'


def kept(listed: ListOfErrors, limit: int = 3) -> Errors:
    scheduler: Any = listed  # has what is read of one
    return Errors(scheduler, limit)


def counts(errors: Errors) -> dict[str, int]:
    return {row[4]: row[6] for row in errors.rows()}


def test_equal_errors_are_counted_and_the_last_tasks_of_each_are_listed() -> None:
    listed = ListOfErrors()
    errors = kept(listed)
    for i in range(30):
        listed.fail(f"inc-{i:02}")
        errors.note(f"inc-{i:02}", "inc")
    assert counts(errors) == {"ValueError('x')": 30}
    assert [row[0] for row in errors.rows()] == [f"inc-{i}" for i in range(30 - MAX_TASKS, 30)]


def test_of_too_many_errors_the_one_that_came_last_the_longest_ago_goes_and_is_counted() -> None:
    listed = ListOfErrors()
    errors = kept(listed)
    for text in ("a", "b", "b", "c", "a", "d"):
        listed.fail("inc-1", text)
        errors.note("inc-1", "inc")
    assert counts(errors) == {"c": 1, "a": 2, "d": 1}
    assert errors.n_dropped == 2


def test_a_kind_of_which_every_text_differs_is_counted_whole_and_drives_no_other_out() -> None:
    listed = ListOfErrors()
    errors = kept(listed, 10)
    listed.fail("load-1", "OSError('gone')", traceback=raised("load"))
    errors.note("load-1", "load")
    for i in range(300):
        listed.fail(f"inc-{i}", f"ValueError('row {i}')", traceback=raised("inc"), time=10.0 + i)
        errors.note(f"inc-{i}", "inc")
    first, *rest = errors.rows()
    assert first[0] == "load-1"
    assert [row[0] for row in rest] == [f"inc-{i}" for i in range(291, 300)]
    assert {row[6:] for row in rest} == {(1, f"ValueError, {FRAME % 'inc'}", 300, 10.0, 0)}
    assert errors.n_dropped == 0


def test_what_the_scheduler_lists_at_the_start_is_known_and_what_it_clears_stays() -> None:
    listed = ListOfErrors()
    listed.fail("inc-1", "before")
    listed.tasks["dec-1"] = SimpleNamespace(group=SimpleNamespace(prefix=SimpleNamespace(name="p")))
    listed.fail("dec-1", "of one that is there")
    errors = kept(listed)
    listed.erred_tasks.clear()
    assert [row[:2] for row in errors.rows()] == [("inc-1", "inc"), ("dec-1", "p")]


def test_a_task_that_erred_because_of_another_is_no_error_of_its_own() -> None:
    listed = ListOfErrors()
    errors = kept(listed)
    listed.fail("inc-1", "", on="")
    errors.note("inc-1", "inc")
    listed.fail("inc-2", "")
    errors.note("inc-3", "inc")
    assert errors.rows() == []
    errors.note("inc-2", "inc")
    assert counts(errors) == {KILLED: 1}


def test_the_end_of_a_long_traceback_is_kept() -> None:
    listed = ListOfErrors()
    errors = kept(listed)
    listed.erred_tasks.appendleft(ErredTask("k", 1.0, set(), "\ud800", "x" * 9000 + "end"))
    errors.note("k", "k")
    (row,) = errors.rows()
    text, traceback = row[4:6]
    assert text == "?"
    assert traceback.endswith("end")
    assert len(traceback) < MAX_TRACEBACK + 50


def test_an_attempt_that_failed_is_counted_with_the_failures_and_apart() -> None:
    listed = ListOfErrors()
    errors = kept(listed)
    listed.fail("inc-1", "ValueError('x')")
    errors.note("inc-1", "inc")
    errors.note_attempt("inc-2", "inc", 2.0, "tcp://a:1", "ValueError('x')", "line")
    assert [(row[0], row[6], row[-1]) for row in errors.rows()] == [
        ("inc-1", 2, 1),
        ("inc-2", 2, 1),
    ]


def test_errors_of_one_type_and_place_are_of_one_kind() -> None:
    here = error_kind("ValueError('row 1')", raised("f"))
    assert here == error_kind("ValueError('row 2')", raised("f"))
    assert here not in {
        error_kind("ValueError('x')", raised("g")),
        error_kind("OSError()", raised("f")),
    }
    assert error_kind("no 'a' in 17", "") == error_kind("no 'b' in 3", "")
    assert error_kind("no 'a' in 17", "") != error_kind("a fire in 17", "")
