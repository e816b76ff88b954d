"""A scheduler or a worker that means harm runs no code here, and takes nothing from the others."""

from __future__ import annotations

import pickle
import zlib
from pathlib import Path
from typing import Any

import msgpack
import pytest
from distributed.comm.core import listen
from distributed.protocol.serialize import Serialized, ToPickle, to_serialize

from dask_diag_lab.collector import PULL
from dask_diag_lab.collector.asking import MAX_ANSWER_BYTES
from dask_diag_lab.schema import columns
from dask_diag_lab.schema.columns import WireError
from dask_diag_lab.transport import link as transport_link
from dask_diag_lab.transport.link import Link
from tests.kernel.serving import until
from tests.kernel.transport.asking import EVERY_KIND, asking
from tests.kernel.transport.live_cluster import cluster, feeding


class Bomb:
    """Makes a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def wrapped(bomb: Bomb) -> list[Any]:
    """Return messages that run the bomb's code where a comm deserializes."""
    header = {"serializer": "dask", "type-serialized": pickle.dumps(bomb), "sub-header": {}}
    return [
        to_serialize(bomb),
        {"status": "OK", "result": to_serialize(bomb)},
        {"status": "uncaught-error", "exception_text": "x", "exception": to_serialize(bomb)},
        Serialized(header, [b"x"]),
    ]


@pytest.mark.parametrize("protocol", ["tcp", "ws"])
async def test_what_a_scheduler_serialized_is_not_opened(tmp_path: Path, protocol: str) -> None:
    bomb = Bomb(tmp_path / "ran")
    for message in wrapped(bomb):

        async def answer(comm: Any, message: Any = message) -> None:
            await comm.read()
            await comm.write(message)
            await comm.close()

        async with listen(f"{protocol}://127.0.0.1:0", answer) as listener:
            link = await Link.open(listener.contact_address, {}, timeout_s=10)
            try:
                await link.call("anything", timeout_s=10)
            except (WireError, transport_link.RefusedError):
                pass
            finally:
                await link.close()
        assert not bomb.path.exists(), message


async def test_a_feed_says_what_a_hostile_scheduler_sends_and_goes_on() -> None:
    async with cluster() as (s, _, c), feeding(s.address) as (_, seen):
        await until(lambda: seen.state == "live")
        pull = s.handlers[PULL]
        s.handlers[PULL] = lambda **asked: {**pull(**asked), "epoch": to_serialize(1)}
        await until(lambda: seen.state == "degraded")
        assert "epoch" in seen.states[-1].reason
        assert await c.submit(abs, -1) == 1


def deep(_: int = 0) -> Any:
    value: Any = {}
    for _ in range(505):  # read by the scheduler, and then too deep inside its own answer
        value = {"children": value}
    return value


def inflated() -> bytes:
    return zlib.compress(bytes(MAX_ANSWER_BYTES + 1), 9)


WRONG: list[Any] = [
    None,
    7,
    "text",
    b"\xc1",
    [],
    {"rows": 1},
    {"counts": [(1e400, 1)], "keys": []},
    {"counts": [(1.0, 1)], "keys": [(1.0, {"inc": "x"})]},
    {"rows": [{}], "totals": {"in": 1, "out": 1}},
    {"rows": [], "totals": {"in": "x"}},
    {"count": 2**62, "children": {}, "description": {}},
    {"status": "error", "exception_text": "it failed"},
    deep(),
    ToPickle(ValueError("pickled")),
    to_serialize(ValueError("an object")),
    "x" * (MAX_ANSWER_BYTES + 1),
]


@pytest.mark.parametrize("kind", ["profile", "activity", "transfers"])
async def test_the_answer_of_one_bad_worker_costs_no_other(kind: str) -> None:
    config = {"distributed.worker.profile.enabled": True}
    async with cluster(2, config=config) as (s, (bad, good), _), asking(s.address) as ask:
        packed = [zlib.compress(msgpack.packb(one)) for one in WRONG[:12]]
        results = [inflated(), b"no zlib", *packed] if kind == "transfers" else []
        answers = [*WRONG, *({"status": "OK", "result": to_serialize(one)} for one in results)]
        for wrong in answers:
            for op in ("profile", "profile_metadata", "run"):
                bad.handlers[op] = lambda wrong=wrong, **_: wrong
            found = await ask(kind, **EVERY_KIND[kind])
            assert found["missing"].keys() == {bad.address}, (wrong, found["missing"])
        assert good.address not in found["missing"]


async def test_a_compressed_bomb_is_refused_in_words() -> None:
    async with cluster(1) as (s, (w,), _), asking(s.address) as ask:
        answer = {"status": "OK", "result": to_serialize(inflated())}
        w.handlers["run"] = lambda **_: answer
        missing = (await ask("transfers", worker=""))["missing"]
        assert f"more than {MAX_ANSWER_BYTES} bytes" in missing[w.address]


async def test_more_rows_than_any_cluster_has_are_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns, "MAX_ROWS", 1)
    async with cluster(2) as (s, _, _), feeding(s.address) as (_, seen):
        await until(lambda: seen.state == "degraded")
        assert "up to 1 rows" in seen.states[-1].reason
