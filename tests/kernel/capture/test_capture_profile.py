"""``profile``: the tree that `Client.profile` gives, drawn and saved by our own plot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bokeh.models.ui import UIElement
from distributed import Client, wait

from dask_diag_lab import profile
from tests.kernel.capture.saved import control, plots
from tests.kernel.dashboards import attached_client
from tests.kernel.serving import wait_until

pytestmark = pytest.mark.usefixtures("runtime_dir")


def slow(n: int) -> int:
    time.sleep(0.15)
    return n


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with attached_client(2) as made:
        wait(made.map(slow, range(8), pure=False))
        wait(made.map(time.sleep, [0.1] * 8, pure=False))
        yield made


def names(tree: dict[str, Any]) -> set[str]:
    found = {tree["description"]["name"]} if tree.get("description") else set()
    return found.union(*map(names, tree["children"].values()))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"key": "slow"},
        {"merge_workers": False},
        {"server": True},
        {"scheduler": True},
        {"start": 0, "stop": 1},
        {"workers": 7, "filename": ""},
    ],
)
def test_the_tree_is_that_of_the_client(client: Client, arguments: dict[str, Any]) -> None:
    ours, theirs = profile(**arguments), client.profile(**arguments)
    assert ours.keys() == theirs.keys()
    if arguments.get("key") or arguments.get("stop"):
        assert ours == theirs


def test_a_picture_comes_with_the_tree_and_is_of_one_prefix(client: Client) -> None:
    tree, picture = profile(key="slow", plot=True)
    assert "slow" in names(tree)
    assert isinstance(picture, UIElement)
    assert picture.document is None


@pytest.mark.parametrize(
    "given", [{"filename": "own.html"}, {"plot": "save"}, {"plot": "save", "filename": ""}]
)
def test_a_saved_profile_has_its_samples(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    tree, _ = profile(
        merge_workers=False, workers=list(client.scheduler_info()["workers"]), **given
    )
    (file,) = tmp_path.glob("*.html")
    document = plots(file.read_text(encoding="utf-8"))["profile"]
    assert control(document, "state") == "live"
    assert len(tree) == 2
    assert all(of_worker["count"] for of_worker in tree.values())
    assert "samples" in control(document, "headline")
    assert file.name == (given.get("filename") or "dask-profile.html")


def test_a_page_into_no_directory_is_an_error(client: Client, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="could not be written"):
        profile(filename=str(tmp_path / "none" / "profile.html"))


def test_another_plot_is_an_error(client: Client) -> None:
    with pytest.raises(ValueError, match="True, False or 'save'"):
        profile(plot="show")  # type: ignore[arg-type]


def test_a_worker_that_does_not_answer_lends_no_other_its_address() -> None:
    with attached_client(2) as client:
        wait(client.map(slow, range(8), pure=False))
        first, second = client.scheduler_info()["workers"]

        def forbid(dask_worker: Any) -> None:
            dask_worker.blocked_handlers = ["profile"]
            del dask_worker.handlers["profile"]

        client.run(forbid, workers=[first])
        assert list(profile(merge_workers=False)) == [second]
        wait_until(lambda: "slow" in names(profile()), "what the other says is not there")


def test_a_worker_that_is_silent_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_diag_lab.capture.profile.TIMEOUT_S", 0.1)

    async def never(**_: object) -> None:
        await asyncio.Event().wait()

    with attached_client() as client:
        cluster: Any = client.cluster  # has no types
        (worker,) = cluster.workers.values()
        monkeypatch.setitem(worker.handlers, "profile", never)
        with pytest.raises(TimeoutError, match="those that do answer"):
            profile()
