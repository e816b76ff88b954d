"""Slow computations, one for each cause, and healthy ones; small, as each takes some seconds.

Most tasks sleep, so that what they take does not depend on the machine: threads that sleep could as
well be more, so *waiting-io* is true of these, too.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

import dask
import numpy as np
from dask.delayed import delayed
from distributed import Client, as_completed, get_client, get_worker, secede, wait

Work = Callable[[Client], Any]  # what is computed does not matter


class Workload(NamedTuple):
    """A computation on a cluster of its own.

    Attributes
    ----------
    causes : set of str
        The first is to be found, the others are true as well; empty: it is healthy.
    work, cure : callable
        What is computed, and the same without the cause; None where nobody can change it.
    cluster, cured_cluster : mapping
        Arguments of `LocalCluster`.
    config : mapping
        Of Dask, for both.
    """

    causes: tuple[str, ...]
    work: Work
    cure: Work | None = None
    cluster: Mapping[str, Any] = {}  # of `LocalCluster`
    cured_cluster: Mapping[str, Any] | None = None  # as above
    config: Mapping[str, Any] = {}  # of Dask


# --- tasks


def warm_up() -> None:
    """Import what takes a worker seconds at first; this module is imported, too."""
    for name in ("dask.dataframe", "pyarrow"):
        import_module(name)


def nap(seconds: float, *_: object) -> float:
    time.sleep(seconds)
    return seconds


def burn(seconds: float, *_: object) -> int:
    """Compute for so long, without the interpreter's lock for most of it."""
    until, block, n = time.perf_counter() + seconds, bytes(1 << 20), 0
    while time.perf_counter() < until:
        hashlib.sha256(block).digest()
        n += 1
    return n


def spin(seconds: float) -> None:
    """Compute for so long of its own, and keep the interpreter from other threads."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def nap_often(seconds: float, n: int) -> None:
    for _ in range(n):
        time.sleep(seconds)


def slow_nap(seconds: float, _: int, factor: float) -> None:
    time.sleep(seconds * (factor if get_worker().name == 0 else 1))


def slow_rest(seconds: float, _: int, factor: float) -> None:
    time.sleep(seconds * (factor if get_worker().name == 0 else 1))


def data(mb: int, *_: object) -> np.ndarray[Any, Any]:
    """Return what no compression makes smaller, in little time."""
    return np.tile(np.frombuffer(os.urandom(1 << 20), np.uint8), mb)


def size(part: np.ndarray[Any, Any]) -> int:
    return len(part)


def fail_once(folder: str, at: int, seconds: float) -> int:
    time.sleep(seconds)
    with (Path(folder) / str(at)).open("a+") as file:
        if not file.tell():
            file.write("failed")
            raise ValueError("at first")
    return at


def die_once(folder: str, seconds: float) -> None:
    time.sleep(seconds)
    if not (mark := Path(folder) / "died").exists():
        mark.touch()
        os._exit(1)


KEPT: Final[list[bytearray]] = []


def leak(mb: int, seconds: float, _: int) -> None:
    KEPT.append(bytearray(b"x" * (mb << 20)))
    time.sleep(seconds)


def fill_for(mb: int, seconds: float) -> None:
    KEPT.append(bytearray(b"x" * (mb << 20)))
    threading.Timer(seconds, KEPT.clear).start()


def burn_in_threads(n: int, seconds: float) -> None:
    threads = [threading.Thread(target=burn, args=(seconds,)) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def parent(n: int) -> int:
    client = get_client()
    futures = client.map(burn, [0.1] * n, pure=False)
    secede()
    return sum(client.gather(futures))


async def answer(seconds: float, _: int) -> float:
    await asyncio.sleep(seconds)
    return seconds


# --- slow ones


def many(function: Callable[..., Any], *columns: Any, **options: Any) -> Work:
    """Return what maps a function; columns as of `Client.map`."""
    return lambda client: wait(client.map(function, *columns, pure=False, **options))


def first_worker(client: Client) -> str:
    workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return min(workers, key=lambda address: workers[address]["id"])


def chain(client: Client) -> None:
    last = nap_later(0.3, None)
    for _ in range(9):
        last = nap_later(0.3, last)
    client.compute(last).result()


nap_later = delayed(nap, pure=False)


def bound(client: Client) -> None:
    wait(client.map(nap, [0.1] * 60, pure=False, workers=[first_worker(client)]))


def moved(client: Client, is_near: bool = False) -> None:
    one, other = client.scheduler_info(n_workers=-1)["workers"]
    sizes = []
    for here, there in ((one, other), (other, one)):
        parts = client.map(data, [40] * 12, pure=False, workers=[here])
        sizes += client.map(size, parts, workers=[here if is_near else there])
    wait(sizes)


def spilled(client: Client) -> None:
    parts = client.map(data, [25] * 30, pure=False)
    wait(parts)
    wait(client.map(size, parts))
    wait(client.map(np.sum, parts))


def large(client: Client) -> None:
    parts = client.map(data, [150] * 8, pure=False)
    wait(client.map(size, parts))


def filled(client: Client) -> None:
    workers = client.scheduler_info(n_workers=-1)["workers"]
    wait([client.submit(fill_for, 300, 3.0, workers=[one], pure=False) for one in workers])
    time.sleep(0.5)
    wait(client.map(nap, [0.1] * 20, pure=False))


def failing(client: Client, *, is_well: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if is_well:
            for at in range(8):
                (Path(folder) / str(at)).write_text("failed before")
        wait(client.map(fail_once, [folder] * 8, range(8), [0.6] * 8, retries=2))


def dying(client: Client) -> None:
    with tempfile.TemporaryDirectory() as folder:
        parts = client.map(nap, [0.4] * 12, pure=False)
        wait(parts)
        wait([client.submit(die_once, folder, 3.0), *parts])


def twice(client: Client, *, is_kept: bool = False) -> None:
    parts = [delayed(nap, name=f"nap-{os.getpid()}-{at}")(0.5, at) for at in range(8)]
    if is_kept:
        parts = client.persist(parts)
    for last in (max, min):
        client.compute(delayed(last)(parts)).result()


def gaps(client: Client, pause_s: float = 1.0) -> None:
    for _ in range(4):
        wait(client.map(nap, [0.2] * 4, pure=False))
        time.sleep(pause_s)


def stuck(client: Client) -> None:
    wait(client.map(nap, [0.2] * 8, pure=False))
    client.kept = client.submit(nap, 0.1, pure=False, resources={"GPU": 1})  # type: ignore[attr-defined]
    time.sleep(2)


def uneven(client: Client) -> None:
    part = client.scatter(data(200), workers=[first_worker(client)])
    wait(client.map(burn, [0.1] * 100, pure=False))
    del part


def blocked_scheduler(client: Client) -> None:
    futures = client.map(nap, [0.15] * 120, pure=False)
    time.sleep(0.3)
    for _ in range(3):
        client.run_on_scheduler(time.sleep, 1)
        time.sleep(0.2)
    wait(futures)


# --- healthy ones


def arrays(_: Client) -> None:
    import dask.array as da

    x = da.random.random((8000, 8000), chunks=(1000, 1000))
    dask.compute(*((x + x.T + n).std() for n in range(3)))  # type: ignore[attr-defined,no-untyped-call]


def frames(_: Client) -> None:
    frame = dask.datasets.timeseries("2000-01-01", "2000-01-21", partition_freq="1D", seed=1)
    frame["late"] = frame.x * 2
    frame.shuffle("id").groupby("name").late.mean().compute()


def nested(client: Client) -> None:
    wait(client.map(parent, [8] * 4, pure=False))


def tree(client: Client) -> None:
    parts = [delayed(burn, pure=False)(0.15, at) for at in range(32)]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [delayed(burn, pure=False)(0.02, *pair) for pair in pairs]
    client.compute(parts[0]).result()


def stream(client: Client) -> None:
    futures = as_completed(client.map(burn, [0.1] * 8, pure=False))
    for n, _ in enumerate(futures):
        if n < 32:
            futures.add(client.submit(burn, 0.1, pure=False))


def adaptive(client: Client) -> None:
    cluster: Any = client.cluster
    cluster.adapt(minimum=1, maximum=2, interval="200ms")
    wait(client.map(burn, [0.1] * 60, pure=False))


def several(client: Client) -> None:
    with Client(client.cluster, set_as_default=False) as other:
        futures = [each.map(burn, [0.1] * 24, pure=False) for each in (client, other)]
        for its in futures:
            wait(its)


def coroutines(client: Client) -> None:
    for _ in range(20):
        wait(client.map(answer, [0.2] * 12, range(12), pure=False))


def bag(_: Client) -> None:
    import dask.bag as db

    db.from_sequence([0.1] * 48, npartitions=24).map(burn).sum().compute()


def total_of(data: Any, _: int) -> float:  # an array
    time.sleep(0.02)
    return float(data.sum())


def carrying(client: Client, *, is_scattered: bool = False) -> None:
    """Sum an array of 16 MB 100 times."""
    data = np.ones(2_000_000)
    if is_scattered:
        wait(client.map(total_of, [client.scatter(data)] * 100, range(100), pure=False))
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        wait(client.map(partial(total_of, data), range(100), pure=False))


def one_by_one(client: Client) -> None:
    for _ in range(30):
        client.submit(nap, 0.1, pure=False).result()


def records(client: Client, n_each: int = 1) -> None:
    """Read 12 MB in 2500 records, so many in a task."""
    data = [os.urandom(5000) for _ in range(2500)]
    wait(client.map(len, [data[at : at + n_each] for at in range(0, 2500, n_each)], pure=False))


FOUR: Final = {"n_workers": 2, "threads_per_worker": 2}
ONES: Final = {"n_workers": 4, "threads_per_worker": 1}
TWO: Final = {"n_workers": 2, "threads_per_worker": 1}
SMALL: Final = {**TWO, "memory_limit": "400 MiB"}
ROOMY: Final = {**TWO, "memory_limit": "3 GiB"}
IO: Final = "waiting-io"

WORKLOADS: Final[Mapping[str, Workload]] = {
    "tiny tasks": Workload(
        ("tiny-tasks", IO),
        many(nap, [0.001] * 2000),
        many(nap_often, [0.001] * 40, [50] * 40),
    ),
    "tiny tasks of records": Workload(
        ("tiny-tasks",), records, lambda client: records(client, 250), TWO
    ),
    "data in the graph": Workload(
        ("large-graph", "tiny-tasks"),
        carrying,
        lambda client: carrying(client, is_scattered=True),
        FOUR,
    ),
    "stragglers": Workload(("skew", IO), many(nap, [0.1] * 40 + [3.0]), many(nap, [0.1] * 70)),
    "a slow worker": Workload(
        ("slow-worker", IO),
        lambda client: [
            many(f, [0.15] * 80, range(80), [2] * 80)(client) for f in (slow_nap, slow_rest)
        ],
        lambda client: [
            many(f, [0.15] * 80, range(80), [1] * 80)(client) for f in (slow_nap, slow_rest)
        ],
        ONES,
    ),
    "few tasks": Workload(("few-tasks", IO), many(nap, [2.0] * 2), many(nap, [0.5] * 8)),
    "one at a time": Workload(("few-tasks", IO), one_by_one, many(nap, [0.1] * 30), TWO),
    "a chain": Workload(("critical-path", IO), chain, many(nap, [0.3] * 10)),
    "bound to a worker": Workload(("unbalanced", IO), bound, many(nap, [0.1] * 60)),
    "far from its data": Workload(
        ("transfer",), moved, lambda client: moved(client, is_near=True), ROOMY
    ),
    # Some workers spill and go on, others are paused; the advice is one.
    "short of memory": Workload(("spill", "paused"), spilled, spilled, SMALL, ROOMY),
    # Workers may be killed for it.
    "results that fill a worker": Workload(("bad-chunks", "lost-work"), large, None, SMALL),
    "paused": Workload(
        ("paused", IO),
        filled,
        None,
        SMALL,
        None,
        {
            "distributed.worker.memory.pause": 0.6,
            "distributed.worker.memory.terminate": False,
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.target": False,
        },
    ),
    "a leak": Workload(
        ("leak", IO),
        many(leak, [2] * 200, [0.12] * 200, range(200)),
        None,
        {**TWO, "memory_limit": "600 MiB"},
    ),
    "attempts that fail": Workload(
        ("failed-attempts", IO), failing, lambda client: failing(client, is_well=True)
    ),
    "a worker that dies": Workload(("lost-work", IO, "few-tasks", "critical-path"), dying),
    "computed again": Workload(
        ("computed-again", IO), twice, lambda client: twice(client, is_kept=True)
    ),
    "code in between": Workload(("client", IO), gaps, lambda client: gaps(client, 0.0)),
    "no worker": Workload(("no-worker", IO), stuck),
    "tasks that wait": Workload(
        (IO,),
        many(nap, [0.1] * 120),
        many(nap, [0.1] * 120),
        FOUR,
        {"n_workers": 2, "threads_per_worker": 4},
    ),
    "one interpreter": Workload(
        ("gil",),
        many(spin, [0.2] * 40),
        many(spin, [0.2] * 40),
        {"n_workers": 1, "threads_per_worker": 2},
        {"n_workers": 2, "threads_per_worker": 1},
    ),
    "threads of their own": Workload(
        ("oversubscription",),
        many(burn_in_threads, [4] * 16, [0.6] * 16),
        None,
        {"n_workers": 1, "threads_per_worker": 1},
    ),
    "all on one worker": Workload(
        ("uneven-memory", "client"),
        uneven,
        None,
        {"n_workers": 3, "threads_per_worker": 1, "memory_limit": "600 MiB"},
    ),
    "a blocked scheduler": Workload(("scheduler", IO), blocked_scheduler),
    "healthy: arrays": Workload((), arrays, None, TWO),
    "healthy: data frames": Workload((), frames, None, TWO),
    "healthy: futures": Workload((), many(burn, [0.1] * 60), None, TWO),
    "healthy: nested clients": Workload((), nested, None, TWO),
    "healthy: coroutines": Workload(
        (), coroutines, None, {"n_workers": 2, "threads_per_worker": 8}
    ),
    "healthy: adaptive": Workload((), adaptive, None, TWO),
    "healthy: several clients": Workload((), several, None, TWO),
    "healthy: bags": Workload((), bag, None, TWO),
    "healthy: one by one": Workload((), stream, None, TWO),
    "healthy: a tree": Workload((), tree, None, TWO),
}
