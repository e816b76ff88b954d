"""Memory is sampled on the scheduler while a block runs, and drawn with what is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np
import pytest
from distributed import Client, wait

from dask_diag_lab import MemorySampler
from tests.kernel.serving import wait_until
from tests.kernel.session.small_clusters import PARTLY_CLOSED, small_cluster

pytestmark = PARTLY_CLOSED


@pytest.fixture
def client() -> Iterator[Client]:
    with small_cluster(n_workers=2) as cluster, Client(cluster) as made:
        yield made


@pytest.fixture
def sampler() -> MemorySampler:
    made = MemorySampler()
    made.samples["a"] = [(100.0, 1 << 30), (102.0, 2 << 30)]
    made.samples["b"] = [(101.0, 3 << 30), (102.5, 4 << 30), (104.5, 5 << 30)]
    return made


def timers(client: Client) -> list[str]:
    """Return what the scheduler samples memory with."""
    found = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.periodic_callbacks])
    return [name for name in found if "memory" in name]


def test_several_measures_of_each_worker_are_read_at_the_same_moments(client: Client) -> None:
    sampler, begin, places = (
        MemorySampler(),
        time.time(),
        ["", *map("/{}".format, client.has_what())],
    )
    with sampler.sample("run", measure=["managed", "process"], interval=0.001, per_worker=True):
        held = [client.submit(bytes, 1000, workers=[at[1:]], key=at) for at in places[1:]]
        wait(held)
        for at in range(20):  # the scheduler's loop comes to what samples
            client.submit(str, at).result()
    assert sampler.samples.keys() == {
        f"run/{m}{at}" for m in ("managed", "process") for at in places
    }
    whole, *parts = (np.array(sampler.samples[f"run/managed{at}"]) for at in places)
    assert (whole[0, 1], parts[0][-1, 1] >= 1000) == (0, True)
    assert begin < whole[0, 0] < whole[-1, 0] < time.time()
    assert (whole[:, 0] == parts[0][:, 0]).all()
    assert (whole[:, 1] == parts[0][:, 1] + parts[1][:, 1]).all()


@pytest.mark.parametrize(
    "wrong", [{"measure": "rss"}, {"measure": ["managed", "sum"]}, {"measure": []}, {"interval": 0}]
)
def test_what_cannot_be_sampled_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is .*; it (may|has to) be"):
        MemorySampler().sample("run", **wrong)


def test_it_ends_when_its_client_leaves(client: Client) -> None:
    address = client.scheduler_info()["address"]
    with Client(address, set_as_default=False) as other:
        block = MemorySampler().sample("run", client=other, interval=0.01)
        block.__enter__()
        assert timers(client)
    wait_until(lambda: not timers(client), "it samples on")
    with pytest.raises(RuntimeError, match="The client is closed"):
        block.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("align", "seconds", "a", "b"),
    [
        (False, [100, 101, 102, 102.5, 104.5], [1, 1, 2, nan, nan], [nan, 3, 3, 4, 5]),
        (True, [0, 1.5, 2, 3.5], [1, 1, 2, nan], [3, 4, 4, 5]),
    ],
)
def test_series_are_carried_on_but_not_beyond_their_ends(
    sampler: MemorySampler, align: bool, seconds: list[float], a: list[float], b: list[float]
) -> None:
    pd = pytest.importorskip("pandas")
    index = (pd.to_timedelta if align else pd.to_datetime)(seconds, unit="s")
    expected = pd.DataFrame({"a": a, "b": b}, index=index) * 2**30
    pd.testing.assert_frame_equal(sampler.to_pandas(align=align), expected, check_dtype=False)


def test_without_pandas_it_says_what_to_install(
    sampler: MemorySampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        sampler.to_pandas()


def test_pandas_draws_it_by_the_second(sampler: MemorySampler) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    axes = sampler.plot(align=True, title="mine")
    assert (axes.get_title(), axes.get_ylabel()) == ("mine", "Cluster memory (GiB)")
    assert [len(line.get_ydata()) for line in axes.lines] == [4, 4]


def test_without_matplotlib_bokeh_draws_it(
    sampler: MemorySampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.warns(UserWarning, match=r"bokeh.io.show"):
        figure = sampler.plot(align=True)
    assert [item.label.value for item in figure.legend.items] == ["a", "b"]
    b = figure.renderers[1].data_source.data
    assert (b["x"].tolist(), b["y"].tolist()) == ([0, 1500, 3500], [3, 4, 5])
