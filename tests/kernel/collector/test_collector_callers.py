"""One collector serves all clients of a scheduler: what one does wrongly is its own loss."""

from __future__ import annotations

from typing import Any

from dask_diag_lab.collector import ASK, PULL, TASK, UNSUBSCRIBE
from dask_diag_lab.collector.plugin import MAX_SUBSCRIBERS
from dask_diag_lab.transport.link import Link, RefusedError
from tests.kernel.serving import until
from tests.kernel.transport.live_cluster import cluster, feeding, inc


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


GOOD: dict[str, Any] = {"subscriber": "mine", "epoch": "", "cursors": {}, "wanted": ()}
ODD: list[Any] = [None, -1, 1.5, 2**63, [], {}, {"a": {}}, [[]], nested(300), "x" * 10_000, b"\xff"]
BAD_PULLS: list[dict[str, Any]] = [
    {},
    {**GOOD, "more": 1},
    *({**GOOD, name: odd} for name in ("subscriber", "cursors", "wanted") for odd in ODD),
    *({**GOOD, "cursors": {"actions": odd}} for odd in ODD),
    *({**GOOD, "cursors": {"prefixes": odd}} for odd in ODD),
    {**GOOD, "wanted": ["no such table"]},
    {**GOOD, "wanted": ["running"]},
]


async def asked(link: Link, op: str, **message: Any) -> Any:
    """Return the answer to a call, its refusal as text."""
    try:
        return await link.call(op, timeout_s=20, **message)
    except RefusedError as error:
        return {"error": str(error)}


async def test_what_one_client_asks_wrongly_is_its_own_loss_and_the_others_go_on() -> None:
    async with cluster() as (s, (w,), c), feeding(s.address) as (feed, seen):
        await until(lambda: seen.batches)
        link = await Link.open(s.address, {}, timeout_s=10)
        try:
            for message in BAD_PULLS:
                answer = await asked(link, PULL, **message)
                assert answer.get("error") or answer["epoch"], message
            for odd in ODD:
                answer = await asked(link, ASK, workers=odd, message={}, worker_timeout_s=1)
                assert odd == [] or answer["error"], odd
                for bad in ({"worker_timeout_s": odd}, {"message": odd}):
                    given = {"workers": [w.address], "message": {}, "worker_timeout_s": 1} | bad
                    answer = await asked(link, ASK, **given)
                    assert answer.get("error") or answer["missing"], bad
                assert (await asked(link, TASK, key=odd)).get("task") is None
                await asked(link, UNSUBSCRIBE, subscriber=odd)
            assert (await asked(link, PULL, **GOOD))["epoch"] == seen.epoch
        finally:
            await link.close()
        assert await c.submit(inc, 1) == 2
        await feed.pull()
        await until(lambda: "inc" in seen.prefixes)
        assert {state.state for state in seen.states} == {"connecting", "live"}


async def test_subscribers_are_bounded_and_those_there_go_on() -> None:
    async with cluster() as (s, _, _), feeding(s.address) as (feed, seen):
        await until(lambda: seen.batches)
        link = await Link.open(s.address, {}, timeout_s=10)
        for number in range(MAX_SUBSCRIBERS - 1):
            assert "error" not in await asked(link, PULL, **GOOD | {"subscriber": str(number)})
        answer = await asked(link, PULL, **GOOD)
        assert answer == {"error": f"it has {MAX_SUBSCRIBERS} subscribers already"}
        await feed.pull()
        await link.close()


async def test_what_clients_log_under_the_names_of_the_engine_is_left_alone() -> None:
    async with cluster() as (s, (w,), c), feeding(s.address) as (feed, seen):
        await until(lambda: seen.batches)
        actions = ("remove-worker", "retire-workers", "worker-status-change", "update-graph")
        for topic in ("all", "worker-restart-memory", w.address, c.id):
            for action in actions:
                for odd in ODD:
                    names = ("worker", "retired", "metrics", "status", "stimulus_id")
                    await c.log_event(topic, {"action": action, **dict.fromkeys(names, odd)})
                await c.log_event(topic, {"action": action, "metrics": {"new_tasks": 2**63}})
        # A worker that is there has not been removed.
        await c.log_event("all", {"action": "remove-worker", "worker": w.address})
        await feed.pull()
        assert not seen.happened("worker-removed")
        assert await c.submit(inc, 1) == 2
        await until(lambda: "inc" in seen.prefixes)
        assert seen.state == "live"


async def test_a_collector_begins_whatever_was_logged_before() -> None:
    async with cluster() as (s, _, c):
        for odd in ODD:
            await c.log_event("all", {"action": "add-client", "client": odd, "worker": odd})
            await c.log_event("all", {"action": "add-worker", "client": odd, "worker": odd})
        async with feeding(s.address) as (_, seen):
            await until(lambda: seen.state == "live")
