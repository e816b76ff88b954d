"""Questions to many workers: some are silent, gone or unwilling, and the others are the answer."""

from __future__ import annotations

import asyncio
import os
import pickle
import pickletools
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dask_diag_lab.transport import on_worker
from dask_diag_lab.transport.cluster import FAN_OUT_LINKS, AnswerError, Cluster
from dask_diag_lab.transport.links import LinkPool
from dask_diag_lab.transport.shipped import pack_function
from tests.kernel.transport.asking import asking, profile_of
from tests.kernel.transport.live_cluster import cluster, until


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def nothing(worker: str, answer: object) -> None:
    """Take an answer that no test looks at."""


@asynccontextmanager
async def silent(*workers: Any) -> AsyncIterator[list[int]]:  # the engine's have no types
    """Let workers not answer for their call stacks; yield how often they were asked."""
    gate, n_asked = asyncio.Event(), [0]
    real = {worker: worker.handlers["call_stack"] for worker in workers}

    async def never(**_: object) -> dict[str, object]:
        n_asked[0] += 1
        await gate.wait()
        return {}

    for worker in workers:
        worker.handlers["call_stack"] = never
    try:
        yield n_asked
    finally:
        gate.set()
        for worker, handler in real.items():
            worker.handlers["call_stack"] = handler


def test_a_worker_killed_during_a_fan_out_is_named_and_the_others_answer() -> None:
    async def run() -> None:
        async with cluster(3) as (s, (a, b, _), c), asking(s.address) as ask:
            began = asyncio.Event()
            x = await c.submit(bytes, 10, workers=[b.address], key="x")
            assert x

            async def never(**_: object) -> None:
                began.set()
                await asyncio.sleep(60)

            a.handlers["profile"] = never
            asked = asyncio.create_task(ask("profile", **profile_of()))
            await began.wait()
            await a.close()
            answer = await asked
            assert list(answer["missing"]) == [a.address]
            assert "gone" in answer["missing"][a.address]
            assert answer["n_workers"] == 3

    asyncio.run(run())


def test_a_stopped_worker_costs_only_its_own_answer_and_is_not_asked_again_at_once() -> None:
    async def run() -> None:
        async with (
            cluster(2, nanny=True) as (s, (a, _), _),
            asking(s.address, worker_timeout_s=4.0) as ask,
        ):
            pid, address = a.pid, a.worker_address
            os.kill(pid, signal.SIGSTOP)
            try:
                answer = await ask("transfers", worker="")
                assert list(answer["missing"]) == [address]
                assert "no answer in 4 s" in answer["missing"][address]
                began = time.monotonic()
                assert "no answer" in await ask.refused("call-stacks", worker=address, key="")
                assert time.monotonic() - began < 4.0
            finally:
                os.kill(pid, signal.SIGCONT)

    asyncio.run(run())


def test_the_first_worker_missing_does_not_shift_the_others_answers() -> None:
    async def run() -> None:
        async with cluster(3) as (s, workers, c), asking(s.address) as ask:
            for w in workers:
                await c.submit(bytes, 10, workers=[w.address], key=f"on-{w.name}")
            a, b, d = workers
            a.blocked_handlers = ["call_stack"]
            for w in (b, d):
                w.active_threads[0] = f"key of {w.name}"
                w.handlers["call_stack"] = lambda keys=None, w=w: {f"key of {w.name}": ["f"]}
            answer = await ask("call-stacks", worker="", key="")
            assert {stack["worker"]: stack["key"] for stack in answer["stacks"]} == {
                b.address: f"key of {b.name}",
                d.address: f"key of {d.name}",
            }
            assert list(answer["missing"]) == [a.address]
            for w in (b, d):
                w.active_threads.clear()

    asyncio.run(run())


def test_workers_that_are_late_are_missing_and_the_others_are_the_answer() -> None:
    async def run() -> None:
        # Enough for the one that answers, on a busy machine too.
        async with cluster(3) as (s, workers, _), asking(s.address, fan_out_s=3.0) as ask:
            async with silent(*workers[1:]):
                answer = await ask("call-stacks", worker="", key="")
            assert answer["missing"] == {
                late.address: "no answer within 3 s" for late in workers[1:]
            }

    asyncio.run(run())


def test_what_the_scheduler_takes_for_itself_is_not_added_to_the_time_for_workers() -> None:
    async def run() -> None:
        async with (
            cluster(2) as (s, (_, late), _),
            asking(s.address, fan_out_s=4.0, timeout_s=5.0) as ask,
        ):
            real = s.handlers["ncores"]

            async def slow(**message: Any) -> Any:
                await asyncio.sleep(1.5)
                return real(**message)

            s.handlers["ncores"] = slow
            async with silent(late):
                answer = await ask("call-stacks", worker="", key="")
            assert answer["missing"] == {late.address: "no answer within 4 s"}

    asyncio.run(run())


def test_a_worker_that_was_silent_for_long_when_time_was_up_is_not_asked_again() -> None:
    async def run() -> None:
        async with cluster() as (s, (w,), _):
            links = LinkPool(s.address, {})
            asked = Cluster(links, s.address, fan_out_s=1.0, worker_timeout_s=1.5)
            async with silent(w) as n_asked:
                missing = await asked.ask_workers([w.address], nothing, op="call_stack")
                assert missing == {w.address: "no answer within 1 s"}
                await until(lambda: n_asked[0] == 1)
                again = asked.for_question()
                missing = await again.ask_workers([w.address], nothing, op="call_stack")
                assert missing[w.address].startswith("no answer in ")
                assert n_asked[0] == 1
            await links.close()

    asyncio.run(run())


def test_a_worker_that_was_asked_shortly_before_time_was_up_is_asked_again() -> None:
    async def run() -> None:
        async with cluster() as (s, (w,), _):
            links = LinkPool(s.address, {})
            asked = Cluster(links, s.address, fan_out_s=0.3, worker_timeout_s=45.0)
            async with silent(w):
                missing = await asked.ask_workers([w.address], nothing, op="call_stack")
                assert missing == {w.address: "no answer within 0.3 s"}
            assert await asked.ask_worker(w.address, op="call_stack") == {}
            await links.close()

    asyncio.run(run())


def test_of_many_workers_a_bounded_number_is_asked_at_once() -> None:
    async def run() -> None:
        async with cluster() as (s, _, _), asking(s.address) as ask:
            now, most, gate = [0], [0], asyncio.Event()

            async def slow(**message: Any) -> dict[str, object]:
                now[0] += 1
                most[0] = max(most[0], now[0])
                await gate.wait()
                now[0] -= 1
                return {message["workers"][0]: {}}

            s.handlers["broadcast"] = slow
            s.handlers["ncores"] = lambda **_: {f"tcp://127.0.0.1:{n}": 1 for n in range(100)}
            asked = [asyncio.create_task(ask("call-stacks", worker="", key="")) for _ in range(3)]
            await until(lambda: now[0] == FAN_OUT_LINKS)
            gate.set()
            answers = await asyncio.gather(*asked)
            assert most[0] == FAN_OUT_LINKS
            assert [answer["missing"] for answer in answers] == [{}] * 3

    asyncio.run(run())


def test_a_worker_that_runs_no_foreign_code_is_told_of_by_the_scheduler(tmp_path: Path) -> None:
    async def run() -> None:
        async with cluster() as (s, (w,), c), asking(s.address) as ask:
            w.blocked_handlers = ["run"]
            gate = tmp_path / "gate"
            busy = c.map(wait_for, [gate, gate], key=["n-1", "n-2"])
            await until(lambda: len(s.workers[w.address].processing) == 2)
            answer = await ask("worker", worker=w.address)
            gate.touch()
            assert answer["counts"] == {"processing": 2}
            assert {task["key"] for task in answer["tasks"]} == {"n-1", "n-2"}
            assert "blocked-handlers" in answer["missing"]
            transfers = await ask("transfers", worker="")
            assert "blocked-handlers" in transfers["missing"][w.address]
            await c.gather(busy)

    asyncio.run(run())


def test_an_answer_of_another_shape_is_refused_in_words() -> None:
    async def run() -> None:
        async with cluster() as (s, (w,), _), asking(s.address) as ask:
            w.handlers["profile"] = lambda **_: {"count": "many"}
            answer = await ask("profile", **profile_of())
            assert "cannot be read" in answer["missing"][w.address]
            s.handlers["get_logs"] = lambda **_: 7
            assert "cannot be read" in await ask.refused("logs", worker="")

    asyncio.run(run())


def test_an_error_on_a_worker_is_told_without_opening_its_pickle() -> None:
    class TrapError(Exception):
        def __reduce__(self) -> Any:  # what a pickle would run
            return os.putenv, ("DASK_DIAG_LAB_TRAP", "sprung")

    async def run() -> None:
        async with cluster() as (s, (w,), _):
            links = LinkPool(s.address, {})
            asked = Cluster(links, s.address)

            def say(**_: object) -> None:
                raise KeyError("no such thing")

            async def answer(**_: object) -> Mapping[str, bytes]:
                return {w.address: pickle.dumps(TrapError("boom"))}

            s.handlers["broadcast"], real = answer, s.handlers["broadcast"]
            with pytest.raises(AnswerError):
                await asked.ask_worker(w.address, op="profile")
            assert os.environ.get("DASK_DIAG_LAB_TRAP") is None
            s.handlers["broadcast"] = real
            w.handlers["profile"] = say
            with pytest.raises(AnswerError, match="no such thing"):
                await asked.ask_worker(w.address, op="profile")
            await links.close()

    asyncio.run(run())


def test_code_for_workers_is_sent_as_source_that_any_python_compiles() -> None:
    packed = pack_function(on_worker, "dask_diag_lab_worker")
    names = [arg for op, arg, _ in pickletools.genops(packed) if "UNICODE" in op.name]
    assert names[:2] == ["builtins", "eval"]
    assert pickle.loads(packed).__name__ == "dask_diag_lab_worker"
    assert len(packed) < 20_000
