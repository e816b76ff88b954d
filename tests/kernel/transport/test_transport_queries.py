"""Questions end, whatever happens to the cluster: with what there is, or with words."""

from __future__ import annotations

import asyncio
import time

import pytest
from distributed.security import Security

from dask_diag_lab.collector import ASK
from dask_diag_lab.collector.asking import AT_ONCE
from dask_diag_lab.transport import QueryRunner, feed, link
from dask_diag_lab.transport.answers import ANSWERS
from tests.kernel.serving import until
from tests.kernel.transport.asking import EVERY_KIND, RefusalError, asking, profile_of
from tests.kernel.transport.live_cluster import cluster


def nap(seconds: float) -> None:
    time.sleep(seconds)


@pytest.mark.parametrize("protocol", ["inproc", "tls"])
async def test_every_kind_works(protocol: str) -> None:
    security = Security.temporary() if protocol == "tls" else None
    scheduler = {"host": None, "security": security, "protocol": protocol}
    async with cluster(2, scheduler=scheduler, worker={"security": security}) as (s, (a, _), c):
        assert s.address.startswith(protocol)
        args = security.get_connection_args("client") if security else None
        async with asking(s.address, args) as ask:
            kept = c.submit(nap, 0, key="x")
            await kept
            for kind, arguments in EVERY_KIND.items():
                assert not (await ask(kind, **arguments)).get("missing")
            assert (await ask("worker", worker=a.address))["counts"]["executing"] == 0


async def test_a_call_that_is_blocked_or_lacks_the_collector_is_named() -> None:
    async with cluster() as (s, _, _), asking(s.address, has_collector=False) as ask:
        s.blocked_handlers = ["benchmark_hardware"]
        assert "blocked-handlers" in await ask.refused("hardware")
        for kind in ("profile", "task"):
            assert "needs the collector" in await ask.refused(kind, **EVERY_KIND[kind])


async def test_a_worker_that_forbids_code_says_so_and_a_stopped_one_costs_only_its_own_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link, "WORKER_TIMEOUT_S", 2)
    async with cluster(3) as (s, (a, b, w), _), asking(s.address) as ask:

        async def never(**_: object) -> None:
            await asyncio.sleep(60)

        a.handlers["run"] = never
        b.blocked_handlers = ["run"]
        answer = await ask("transfers", worker="")
        while answer["missing"].keys() != {a.address, b.address}:  # a busy machine: ask again
            answer = await ask("transfers", worker="")
        assert "no answer in" in answer["missing"][a.address]
        assert "blocked-handlers" in answer["missing"][b.address]
        assert "blocked-handlers" in await ask.refused("worker", worker=b.address)
        assert "tasks" in await ask("worker", worker=w.address)


async def test_of_many_workers_a_bounded_number_is_asked_at_once() -> None:
    async with cluster(0) as (s, _, _), asking(s.address) as ask:
        now, most = [0], [0]

        async def broadcast(workers: list[str], **_: object) -> dict[str, object]:
            now[0] += 1
            most[0] = max(most[0], now[0])
            await asyncio.sleep(0.001)
            now[0] -= 1
            return {workers[0]: {"counts": [], "keys": []}}

        s.broadcast = broadcast  # type: ignore[method-assign,assignment]  # the workers are not there
        addresses = {f"tcp://10.0.0.1:{port}": 1 for port in range(500)}
        s.handlers["ncores"] = lambda **_: addresses
        answer = await ask("activity", source="tasks", worker="")
        assert not answer["missing"]
        assert most[0] == AT_ONCE


async def test_a_query_to_an_unknown_worker_names_it() -> None:
    async with cluster() as (s, _, _), asking(s.address) as ask:
        for kind in ("worker", "logs", "profile", "transfers"):
            arguments = {**EVERY_KIND.get(kind, {}), "worker": "tcp://127.0.0.1:1"}
            assert "no worker tcp://127.0.0.1:1" in await ask.refused(kind, **arguments)


async def test_a_query_to_a_scheduler_that_is_gone_names_it_for_every_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with cluster() as (s, _, _):
        address = s.address
        async with asking(address, has_collector=False) as ask:
            await ask("logs", worker="")
            await s.close()
            monkeypatch.setattr(link, "CONNECT_TIMEOUT_S", 0.1)
            for kind in ANSWERS:
                given = EVERY_KIND.get(kind, {"worker": "x", "key": ""})
                words = await ask.refused(kind, **given)
                assert f"scheduler at {address}" in words


async def test_queries_to_all_workers_do_not_hold_up_those_to_one() -> None:
    async with cluster() as (s, _, _), asking(s.address) as ask:
        began, gate = [0], asyncio.Event()

        async def slow(**_: object) -> dict[str, object]:
            began[0] += 1
            await gate.wait()
            return {"answers": {}, "missing": {}}

        s.handlers[ASK] = slow
        asked = [asyncio.create_task(ask("activity", **EVERY_KIND["activity"]))]
        asked += [asyncio.create_task(ask("profile", **profile_of(prefix=name))) for name in "abc"]
        await until(lambda: began[0] == 3)
        assert await ask("task", key="x") is None
        gate.set()
        await asyncio.gather(*asked)


async def test_closing_fails_what_is_asked_and_leaves_nothing() -> None:
    async with cluster(0) as (s, _, _):
        comms, before = len(s._comms), asyncio.all_tasks()
        began, gate = asyncio.Event(), asyncio.Event()

        async def never(**_: object) -> None:
            began.set()
            await gate.wait()

        s.handlers["get_logs"] = never
        async with asking(s.address, has_collector=False) as ask:
            asked = [asyncio.create_task(ask("logs", worker="")) for _ in range(5)]
            await began.wait()
            await ask.runner.close()
            await ask.runner.close()
            errors = await asyncio.gather(*asked, return_exceptions=True)
            assert all(isinstance(error, RefusalError) for error in errors)
            assert all("connection to the cluster was closed" in str(error) for error in errors)
            assert "are closed" in await ask.refused("logs", worker="")
        ours = [t for t in asyncio.all_tasks() - before if "diag" in t.get_name()]
        assert ours == []
        gate.set()
        await until(lambda: len(s._comms) == comms)


async def test_a_question_without_an_answer_in_time_fails_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed, "TIMEOUT_S", 0.2)
    async with cluster(0) as (s, _, _), asking(s.address, has_collector=False) as ask:

        async def never(**_: object) -> None:
            await asyncio.sleep(60)

        s.handlers["get_logs"] = never
        assert "no answer within 0.2 s" in await ask.refused("logs", worker="")


async def test_too_many_waiting_questions_are_refused() -> None:
    messages: list[str] = []
    runner = QueryRunner("tcp://127.0.0.1:1", {})
    for _ in range(150):
        runner.ask("logs", {"worker": ""}, messages.append, messages.append)  # type: ignore[arg-type]  # both kinds of ends are text here
    assert len(messages) == 50
    assert all("Too many questions" in message for message in messages)
    await runner.close()
    assert len(messages) == 150
