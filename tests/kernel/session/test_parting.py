"""A client that closes waits for the last that is learnt, and not for long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dask_diag_lab import parting
from dask_diag_lab.parting import Parting
from tests.kernel.serving import run, until


@contextmanager
def elsewhere() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop in another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_it_waits_until_the_last_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "PARTING_S", 30.0)
    told: list[str] = []

    async def story() -> None:
        one = Parting()
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def learn_last() -> None:
            begun.set()
            await go_on.wait()
            told.append("learnt")

        async def wait() -> None:
            await one.wait()
            told.append("waited")

        learning = asyncio.create_task(one.learn(learn_last))
        await begun.wait()
        with elsewhere() as loop:
            waiting = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(wait(), loop))
            go_on.set()
            await waiting
        await learning
        await one.wait()  # nothing more to wait for

    run(story(), limit_s=20)
    assert told == ["learnt", "waited"]


def test_a_failure_is_logged_and_nobody_waits_for_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parting, "PARTING_S", 30.0)

    async def learn_last() -> None:
        raise ValueError("not what was expected")

    async def story() -> None:
        said: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: said.append(what))
        one = Parting()
        waiting = asyncio.create_task(one.wait())
        await one.learn(learn_last)
        await waiting
        assert said == []

    run(story(), limit_s=20)
    assert "may lack its end: not what was expected" in caplog.text


def test_one_who_gives_up_waiting_stops_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "PARTING_S", 0.01)

    async def story() -> None:
        one = Parting()
        await one.wait()
        monkeypatch.setattr(parting, "PARTING_S", 30.0)
        waiting = asyncio.create_task(one.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        one.release()
        one.release()
        await until(waiting.done, "it waits for ever")

    run(story(), limit_s=20)


def test_what_comes_later_is_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "PARTING_S", 30.0)

    async def story() -> None:
        one = Parting()
        one.release()
        one.begin_anew()
        waiting = asyncio.create_task(one.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        one.release()
        await waiting

    run(story(), limit_s=20)
