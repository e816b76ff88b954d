"""Errors that are kept: bounded, counted, and not those of the engine's list alone."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

from distributed.scheduler import ErredTask

from dask_diag_lab.collector.errors import KILLED, MAX_TASKS, MAX_TRACEBACK, Errors


class Engine:
    """The engine's list of errors, newest first, as far as `Errors` reads it."""

    def __init__(self) -> None:
        self.erred_tasks: deque[ErredTask] = deque(maxlen=5)
        self.tasks: dict[str, Any] = {}  # of the engine

    def fail(self, key: str, text: str = "ValueError('x')", *, on: str = "tcp://a:1") -> None:
        workers = {on} if on else set()
        self.erred_tasks.appendleft(ErredTask(key, len(key), workers, text, "line"))


def kept(engine: Engine, limit: int = 3) -> Errors:
    scheduler: Any = engine  # has what is read of one
    return Errors(scheduler, limit)


def counts(errors: Errors) -> dict[str, int]:
    return {row[4]: row[6] for row in errors.rows()}


def test_equal_errors_are_counted_and_the_last_tasks_of_each_are_listed() -> None:
    engine = Engine()
    errors = kept(engine)
    for i in range(30):
        engine.fail(f"inc-{i:02}")
        errors.note(f"inc-{i:02}", "inc")
    assert counts(errors) == {"ValueError('x')": 30}
    assert [row[0] for row in errors.rows()] == [f"inc-{i}" for i in range(30 - MAX_TASKS, 30)]


def test_of_too_many_errors_the_one_that_came_last_the_longest_ago_goes_and_is_counted() -> None:
    engine = Engine()
    errors = kept(engine)
    for text in ("a", "b", "b", "c", "a", "d"):
        engine.fail("inc-1", text)
        errors.note("inc-1", "inc")
    assert counts(errors) == {"c": 1, "a": 2, "d": 1}
    assert errors.n_dropped == 2


def test_what_the_engine_lists_at_the_start_is_known_and_what_it_clears_stays() -> None:
    engine = Engine()
    engine.fail("inc-1", "before")
    engine.tasks["dec-1"] = SimpleNamespace(group=SimpleNamespace(prefix=SimpleNamespace(name="p")))
    engine.fail("dec-1", "of one that is there")
    errors = kept(engine)
    engine.erred_tasks.clear()
    assert [row[:2] for row in errors.rows()] == [("inc-1", "inc"), ("dec-1", "p")]


def test_a_task_that_erred_because_of_another_is_no_error_of_its_own() -> None:
    engine = Engine()
    errors = kept(engine)
    engine.fail("inc-1", "", on="")
    errors.note("inc-1", "inc")
    engine.fail("inc-2", "")
    errors.note("inc-3", "inc")
    assert errors.rows() == []
    errors.note("inc-2", "inc")
    assert counts(errors) == {KILLED: 1}


def test_the_end_of_a_long_traceback_is_kept() -> None:
    engine = Engine()
    errors = kept(engine)
    engine.erred_tasks.appendleft(ErredTask("k", 1.0, set(), "\ud800", "x" * 9000 + "end"))
    errors.note("k", "k")
    ((*_, text, traceback, _),) = errors.rows()
    assert text == "?"
    assert traceback.endswith("end")
    assert len(traceback) < MAX_TRACEBACK + 50
