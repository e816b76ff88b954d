"""Each kind of question is answered by a real cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from tests.kernel.serving import until
from tests.kernel.transport.asking import asking, profile_of
from tests.kernel.transport.live_cluster import cluster, inc

PROFILED = {
    "distributed.worker.profile.enabled": True,
    "distributed.worker.profile.cycle": "100ms",
}


def burn(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def pair(a: bytes, b: bytes) -> int:
    return len(a) + len(b)


def leaves(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for child in tree["children"].values():
        yield from leaves(child)
    if not tree["children"]:
        yield tree


async def test_profile_can_be_of_one_prefix_and_of_one_worker() -> None:
    async with cluster(2, config=PROFILED) as (s, (a, b), c), asking(s.address) as ask:
        await c.submit(inc, 1, workers=[b.address])
        both = one = {"tree": {"count": 0}}
        while not 0 < both["tree"]["count"] == one["tree"]["count"]:  # a busy machine samples late
            await c.submit(burn, 0.4, workers=[a.address], pure=False)
            both = await ask("profile", **profile_of(prefix="burn"))
            one = await ask("profile", **profile_of(prefix="burn", worker=a.address))
        other = await ask("profile", **profile_of(prefix="burn", worker=b.address))
        assert other["tree"]["count"] == 0


async def test_profile_of_event_loops_counts_a_cycle_for_each_sample_and_no_task() -> None:
    async with cluster(config=PROFILED) as (s, (w,), c), asking(s.address) as ask:
        loop_frame = {
            "identifier": "run;loop.py;1",
            "count": 1,
            "children": {},
            "description": {"filename": "", "name": "run", "line_number": 1, "line": ""},
        }
        root = {
            "identifier": "root",
            "count": 1,
            "children": {"run;loop.py;1": loop_frame},
            "description": {"filename": "", "name": "", "line_number": 0, "line": ""},
        }
        now = time.time()
        w.io_loop.profile.extend((now - 20 + 0.1 * i, root) for i in range(200))
        await c.submit(burn, 0.3)
        found = await ask("profile", **profile_of("worker-loops"))
        assert [leaf["description"]["name"] for leaf in leaves(found["tree"])] == ["run"]
        assert 140 < found["tree"]["count"] < 200
        assert found["interval_s"] == 0.1
        assert found["missing"] == {}


async def test_activity_tells_samples_over_time_by_prefix() -> None:
    async with cluster(2, config=PROFILED) as (s, _, c), asking(s.address) as ask:
        found: dict[str, Any] = {"counts": []}
        while not sum(found["counts"]):  # as above
            await c.gather(c.map(burn, [0.4, 0.41], pure=False))
            found = await ask("activity", source="tasks", worker="")
        assert found["times"] == sorted(found["times"])
        assert len(found["prefixes"]["burn"]) == len(found["times"]) == len(found["counts"])
        assert sum(found["prefixes"]["burn"]) == sum(found["counts"])
        flat = await ask("activity", source="worker-loops", worker="")
        assert flat["times"] == []


async def test_transfers_tell_both_directions_on_the_scheduler_clock() -> None:
    async with cluster(2) as (s, (a, b), c), asking(s.address) as ask:
        for worker in (a, b):
            worker.periodic_callbacks["heartbeat"].stop()  # it would correct what comes next
            await worker.heartbeat()  # one that is under way has ended by then
            worker.scheduler_delay = 5000.0  # its clock is behind
        x = c.submit(bytes, 2_000_000, workers=[a.address], key="x")
        y = c.submit(bytes, 10, workers=[b.address], key="y")
        await c.submit(pair, x, y, workers=[b.address])
        # The sender writes its line when the receiver has said that all came.
        await until(lambda: a.transfer_outgoing_log and b.transfer_incoming_log)
        found = await ask("transfers", worker="")
        rows = {(r["direction"], r["worker"], r["peer"]): r for r in found["rows"]}
        came = rows["in", b.address, a.address]
        assert (came["nbytes"], came["keys"], came["key"]) == (2_000_000, 1, "x")
        assert came["compressed"] is None
        sent = rows["out", a.address, b.address]
        assert sent["compressed"] > 0
        assert sent["rate"] > 0
        assert all(4900 < r["start"] - time.time() < 5100 for r in found["rows"])
        assert found["totals"]["in"] == 1
        assert found["missing"] == {}
        await b.close()


async def test_logs_come_newest_first_without_what_asking_wrote() -> None:
    async with cluster() as (s, (w,), _), asking(s.address) as ask:
        await ask("worker", worker=w.address)
        lines = (await ask("logs", worker=w.address))["lines"]
        assert any(w.address in line for line in lines)
        assert not any("dask_diag_lab" in line for line in lines)
        assert lines[0][:23] >= lines[-1][:23]
        assert any("Scheduler at" in x for x in (await ask("logs", worker=""))["lines"])
