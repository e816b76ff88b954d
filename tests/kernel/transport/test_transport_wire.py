"""What arrives is checked, and what is wrong with it is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it has no types
import pytest

from dask_diag_lab.collector import NAME, Collector
from dask_diag_lab.records import EXTRA_NAMES, GRAPH
from dask_diag_lab.transport.decode import Decoder
from dask_diag_lab.transport.wire import WireError
from tests.kernel.transport.live_cluster import cluster, registered


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    """A real answer with something in every table, as msgpack brings it."""

    async def run() -> Any:
        async with cluster() as (s, _, c):
            await c.register_plugin(Collector(), name=NAME)
            futures = c.map(str, range(5))
            await c.gather(futures)
            plugin = registered(s)
            assert plugin is not None
            return msgpack.loads(
                msgpack.dumps(plugin.pull("me", "", {}, [GRAPH, *EXTRA_NAMES])), use_list=False
            )

    loaded: dict[str, Any] = asyncio.run(run())
    return loaded


def _replace(path: str, value: object) -> Callable[[Any], Any]:
    """Return a function that copies nested data with one item replaced."""

    def replace(data: Any, parts: list[str]) -> Any:
        if not parts:
            return value
        if isinstance(data, dict):
            return {**data, parts[0]: replace(data[parts[0]], parts[1:])}
        index = int(parts[0])
        return (*data[:index], replace(data[index], parts[1:]), *data[index + 1 :])

    return lambda data: replace(data, path.split("."))


def test_a_real_answer_is_a_batch_and_moves_the_cursors_when_accepted(
    answer: dict[str, Any],
) -> None:
    decoder = Decoder()
    batch, accept = decoder.decode(answer)
    assert batch.actions is not None
    n_actions = len(batch.actions["start"])
    assert n_actions >= len(batch.keys) == 5  # more where a busy machine took 5 ms
    assert batch.prefixes is not None
    assert batch.prefixes[0]["name"] == "str"
    assert batch.prefixes[0]["states"][5] == 5
    assert decoder.cursors == {}
    accept()
    assert decoder.epoch == answer["epoch"]
    assert decoder.cursors["actions"] == n_actions


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("epoch", 3, "epoch"),
        ("time", "now", "time"),
        ("strings", (b"x",), "strings"),
        ("strings", (), "an id without a string"),
        ("actions.0", b"123", "actions.rows"),
        ("actions.0", "text", "actions.rows"),
        ("actions.4", (), "a task without a key"),
        ("cursors.groups", "1", "cursors.groups"),
        ("scheduler.id", None, "scheduler.id"),
        ("scheduler.thresholds.spill", "70%", "scheduler.thresholds.spill"),
        ("workers.1.0.4", 1.5, "workers.nthreads"),
        ("workers.1.0", ("short",), "workers"),
        ("prefixes.1.0.1", (1, 2), "prefixes.states"),
        ("groups.1.0.7", ("a", 1), "groups.dependencies"),
        ("graph.5", ((0, 99),), "graph.states"),
        ("graph.7", 1, "graph.is_followed"),
        ("extras.durations.0", ((), ()), "extras.durations"),
        ("extras.durations.0.2", ("long",), "extras.durations.seconds"),
        ("extras.durations.0.0", (), "extras.durations"),
        ("extras.counters.1", None, "extras.counters.dropped"),
        ("running", (("k", 99, 0, 1.0),), "running"),
        ("nthreads", ((1.0,),), "nthreads"),
        ("events", ((1.0, 2, ()),), "events.kind"),
    ],
)
def test_wrong_fields_are_named(
    answer: dict[str, Any], path: str, value: object, field: str
) -> None:
    with pytest.raises(WireError, match=field.replace(".", r"\.")):
        Decoder().decode(_replace(path, value)(answer))


@pytest.mark.parametrize(
    "name", ["epoch", "time", "workers", "strings", "cursors", "graph", "extras"]
)
def test_missing_fields_are_named(answer: dict[str, Any], name: str) -> None:
    rest = {key: value for key, value in answer.items() if key != name}
    with pytest.raises(WireError, match=f"'{name}' is missing"):
        Decoder().decode(rest)


def test_unknown_fields_are_allowed_and_other_things_are_not(answer: dict[str, Any]) -> None:
    Decoder().decode({**answer, "from a newer version": 1})
    wrongs: tuple[object, ...] = (None, [], b"", {"status": "OK"})
    for wrong in wrongs:
        with pytest.raises(WireError):
            Decoder().decode(wrong)


def test_a_full_table_tells_what_went_since_the_last_one(answer: dict[str, Any]) -> None:
    decoder = Decoder()
    decoder.decode(answer)[1]()
    batch, _ = decoder.decode({**answer, "groups": (True, (), ()), "strings_from": 0})
    assert batch.removed_groups == ("str",)
    assert decoder.decode({**answer, "epoch": "new"})[0].removed_groups == ()
