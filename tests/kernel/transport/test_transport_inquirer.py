"""Questions end, whatever happens to the cluster: with what there is, or with words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster, Scheduler
from distributed.security import Security

from dask_diag_lab.transport import Inquirer
from dask_diag_lab.transport.answers import ANSWERS
from tests.kernel.transport.asking import EVERY_KIND, RefusalError, asking, profile_of
from tests.kernel.transport.live_cluster import cluster, connected, feeding, until


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def nap(seconds: float) -> None:
    time.sleep(seconds)


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


def test_questions_to_all_workers_do_not_hold_up_those_to_one() -> None:
    async def run() -> None:
        async with cluster() as (s, _, _), asking(s.address) as ask:
            began, gate = [0], asyncio.Event()

            async def slow(**_: object) -> dict[str, object]:
                began[0] += 1
                await gate.wait()
                return {}

            s.handlers["broadcast"] = slow
            asked = [asyncio.create_task(ask("activity", **EVERY_KIND["activity"]))]
            asked += [
                asyncio.create_task(ask("profile", **profile_of(prefix=name))) for name in "abc"
            ]
            await until(lambda: began[0] == 3)
            assert "lines" in await ask("logs", worker="")
            gate.set()
            await asyncio.gather(*asked)

    asyncio.run(run())


# Of a task without the collector on the scheduler, which alone could tell what runs it.
TO_ALL = [("call-stacks", {"worker": "", "key": "busy"}), *EVERY_KIND.items()]
TO_NO_OTHER = [
    ("profile", profile_of("scheduler-loop")),
    *((kind, {**arguments, "worker": "one"}) for kind, arguments in EVERY_KIND.items()),
    ("worker", {"worker": "one"}),
]


@pytest.mark.parametrize(("kind", "arguments"), [*TO_ALL, *TO_NO_OTHER])
def test_a_kind_is_wide_where_it_asks_all_workers_and_only_there(
    kind: str, arguments: Mapping[str, str | float], tmp_path: Path
) -> None:
    async def run() -> None:
        async with cluster(2) as (s, (a, _), c), asking(s.address) as ask:
            reached: set[str] = set()
            real, gate = s.handlers["broadcast"], tmp_path / "gate"

            async def counted(*args: Any, workers: list[str], **message: Any) -> Any:
                reached.update(workers)
                return await real(*args, workers=workers, **message)

            s.handlers["broadcast"] = counted
            busy = c.submit(wait_for, gate, key="busy", workers=[a.address])
            await until(lambda: a.state.executing)
            where = {"worker": a.address} if arguments.get("worker") else {}
            await ask(kind, **{**arguments, **where})
            gate.touch()
            await busy
            assert (len(reached) > 1) == ANSWERS[kind].is_wide(arguments)

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
                assert all("connection to the cluster was closed" in str(said) for said in words)
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
