"""Questions end, whatever happens to the cluster: with what there is, or with words."""

from __future__ import annotations

import asyncio
import os
import pickle
import pickletools
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster, Scheduler
from distributed.security import Security

from dask_diag_lab.transport import Inquirer, on_worker
from dask_diag_lab.transport.answers import ANSWERS
from dask_diag_lab.transport.cluster import AnswerError, Cluster
from dask_diag_lab.transport.links import LinkPool
from dask_diag_lab.transport.shipped import pack_function
from tests.kernel.transport.asking import RefusalError, asking, profile_of
from tests.kernel.transport.live_cluster import cluster, connected, feeding, until

EVERY_KIND: Mapping[str, Mapping[str, str | float]] = {
    "profile": profile_of(),
    "activity": {"source": "tasks", "worker": ""},
    "transfers": {"worker": ""},
    "call-stacks": {"worker": "", "key": ""},
    "logs": {"worker": ""},
    "task": {"key": "x"},
}


def nap(seconds: float) -> None:
    time.sleep(seconds)


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_every_kind_works_with_workers_in_processes_of_their_own() -> None:
    async def run() -> None:
        processes: Any = LocalCluster
        async with (
            processes(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                asynchronous=True,
            ) as made,
            connected(made.scheduler_address) as c,
            feeding(made.scheduler_address),
            asking(made.scheduler_address) as ask,
        ):
            address = next(iter(made.scheduler.workers))
            kept = c.submit(nap, 0.1, key="x", workers=[address])
            await kept
            for kind, arguments in EVERY_KIND.items():
                answer = await ask(kind, **arguments)
                assert not answer.get("missing"), (kind, answer["missing"])
            held = await ask("worker", worker=address)
            assert [task["key"] for task in held["tasks"]] == ["x"]
            assert held["uptime_s"] > 0
            assert (await ask("logs", worker=address))["lines"]

    asyncio.run(run())


def test_every_kind_works_over_tls() -> None:
    async def run() -> None:
        security = Security.temporary()
        worker = {"security": security}
        scheduler = {"security": security, "protocol": "tls"}
        async with cluster(2, scheduler=scheduler, worker=worker) as (s, (a, _), c):
            args = security.get_connection_args("client")
            async with (
                feeding(s.address, connection_args=args),
                asking(s.address, args) as ask,
            ):
                kept = c.submit(nap, 0, key="x")
                await kept
                for kind, arguments in EVERY_KIND.items():
                    assert not (await ask(kind, **arguments)).get("missing")
                assert (await ask("worker", worker=a.address))["counts"]["executing"] == 0

    asyncio.run(run())


def test_every_kind_works_inside_one_process() -> None:
    async def run() -> None:
        scheduler = {"protocol": "inproc", "host": None}
        async with cluster(2, scheduler=scheduler) as (s, (a, _), c):
            assert s.address.startswith("inproc://")
            async with feeding(s.address), asking(s.address) as ask:
                kept = c.submit(nap, 0, key="x")
                await kept
                for kind, arguments in EVERY_KIND.items():
                    assert not (await ask(kind, **arguments)).get("missing")
                assert (await ask("worker", worker=a.address))["counts"]["executing"] == 0

    asyncio.run(run())


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


def test_a_call_that_the_scheduler_blocks_is_named() -> None:
    async def run() -> None:
        async with cluster() as (s, _, _), asking(s.address) as ask:
            s.blocked_handlers = ["broadcast", "benchmark_hardware"]
            answer = await ask("profile", **profile_of())
            assert all("'broadcast'" in reason for reason in answer["missing"].values())
            assert "blocked-handlers" in await ask.refused("hardware")

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["worker", "logs", "call-stacks", "profile", "transfers"])
def test_a_worker_that_is_not_there_is_said(kind: str) -> None:
    async def run() -> None:
        arguments = {**EVERY_KIND.get(kind, {}), "worker": "tcp://127.0.0.1:1"}
        async with cluster() as (s, _, _), asking(s.address) as ask:
            assert "no worker tcp://127.0.0.1:1" in await ask.refused(kind, **arguments)

    asyncio.run(run())


def test_a_scheduler_that_is_gone_is_said_for_every_kind() -> None:
    async def run() -> None:
        async with cluster() as (s, _, _):
            address = s.address
            async with asking(address, timeout_s=2.0) as ask:
                await ask("logs", worker="")
                await s.close()
                for kind in ANSWERS:
                    given = EVERY_KIND.get(kind, {"worker": "x"} if kind == "worker" else {})
                    words = await ask.refused(kind, **given)
                    assert f"scheduler at {address}" in words

    asyncio.run(run())


def test_links_open_with_the_first_question_and_close_when_idle() -> None:
    async def run() -> None:
        async with cluster() as (s, _, _):
            comms = len(s._comms)
            async with asking(s.address, idle_s=0.1) as ask:
                assert ask.inquirer.n_links == 0
                await ask("logs", worker="")
                assert ask.inquirer.n_links == 1
                await until(lambda: ask.inquirer.n_links == 0)
                await until(lambda: len(s._comms) == comms)
                await ask("logs", worker="")
            await until(lambda: len(s._comms) == comms)

    asyncio.run(run())


def test_an_idle_link_that_the_scheduler_closed_is_replaced() -> None:
    async def run() -> None:
        async with cluster(0) as (s, _, _):
            port = s.port
            async with asking(s.address) as ask:
                await ask("logs", worker="")
                await s.close()
                async with Scheduler(host="127.0.0.1", port=port, dashboard_address=":0"):
                    assert (await ask("logs", worker=""))["lines"]

    asyncio.run(run())


def test_at_most_three_questions_are_under_way() -> None:
    async def run() -> None:
        async with cluster(0) as (s, _, _), asking(s.address) as ask:
            now, most, gate = [0], [0], asyncio.Event()

            async def slow(**_: object) -> list[object]:
                now[0] += 1
                most[0] = max(most[0], now[0])
                await gate.wait()
                now[0] -= 1
                return []

            s.handlers["get_logs"] = slow
            asked = [asyncio.create_task(ask("logs", worker="")) for _ in range(8)]
            await until(lambda: now[0] == 3)
            gate.set()
            await asyncio.gather(*asked)
            assert most[0] == 3

    asyncio.run(run())


def test_closing_fails_what_is_asked_and_leaves_nothing() -> None:
    async def run() -> None:
        async with cluster(0) as (s, _, _):
            comms, before = len(s._comms), asyncio.all_tasks()
            began, gate = asyncio.Event(), asyncio.Event()

            async def never(**_: object) -> None:
                began.set()
                await gate.wait()

            s.handlers["get_logs"] = never
            async with asking(s.address) as ask:
                asked = [asyncio.create_task(ask("logs", worker="")) for _ in range(5)]
                await began.wait()
                await ask.inquirer.close()
                await ask.inquirer.close()
                words = await asyncio.gather(*asked, return_exceptions=True)
                assert all(isinstance(said, RefusalError) for said in words)
                assert all("closed before" in str(said) for said in words)
                assert "are closed" in await ask.refused("logs", worker="")
                assert ask.inquirer.n_links == 0
            ours = [t for t in asyncio.all_tasks() - before if "diag" in t.get_name()]
            assert ours == []
            gate.set()
            await until(lambda: len(s._comms) == comms)

    asyncio.run(run())


def test_a_question_without_an_answer_in_time_fails_in_words() -> None:
    async def run() -> None:
        async with cluster(0) as (s, _, _), asking(s.address, timeout_s=0.2) as ask:

            async def never(**_: object) -> None:
                await asyncio.sleep(60)

            s.handlers["get_logs"] = never
            assert "no answer within 0.2 s" in await ask.refused("logs", worker="")
            await until(lambda: ask.inquirer.n_links == 0)

    asyncio.run(run())


def test_too_many_waiting_questions_are_refused() -> None:
    async def run() -> None:
        said: list[str] = []
        inquirer = Inquirer("tcp://127.0.0.1:1", {})
        for _ in range(150):
            inquirer.ask("logs", {"worker": ""}, said.append, said.append)  # type: ignore[arg-type]  # both kinds of ends are text here
        assert len(said) == 50
        assert all("Too many questions" in words for words in said)
        await inquirer.close()
        assert len(said) == 150

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
