"""A picture that cannot be drawn is not the feed's fault: nothing is pulled again for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from distributed import Client, LocalCluster

from dask_diag_lab.composition import Composition, Target
from dask_diag_lab.server import Server

pytestmark = pytest.mark.usefixtures("runtime_dir")


def test_an_error_of_the_server_does_not_stop_the_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    def broken(_: Server, **_given: object) -> None:
        raise RuntimeError("no paint")

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        options: Any = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
        connect: Any = Client
        async with (
            LocalCluster(asynchronous=True, **options) as cluster,
            connect(cluster, asynchronous=True, set_as_default=False) as client,
        ):
            composition = Composition(Target.of(client), "0123456789abcdef", "a.ipynb")
            monkeypatch.setattr(Server, "tick", broken)
            await composition.start()
            try:
                await client.gather(client.map(abs, range(5)))
                async with asyncio.timeout(60):
                    while await composition.ask(_total, is_fresh=True) < 5:
                        await asyncio.sleep(0.02)
                state = await composition.ask(lambda store: store.feed_state, is_fresh=False)
                assert (state.state, state.reason) == ("live", "")
            finally:
                await composition.close()

    asyncio.run(run())
    assert "no paint" in str(told[0]["exception"])


def test_the_end_of_a_cluster_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last picture is of what was before its client was closed; listeners are told all."""
    drawn: list[bool] = []
    is_ending = False

    async def run() -> None:
        nonlocal is_ending
        options: Any = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
        connect: Any = Client
        async with (
            LocalCluster(asynchronous=True, **options) as cluster,
            connect(cluster, asynchronous=True, set_as_default=False) as client,
        ):
            composition = Composition(
                Target.of(client), "0123456789abcdef", "a.ipynb", is_ending=lambda: is_ending
            )
            monkeypatch.setattr(Server, "tick", lambda *_, **__: drawn.append(is_ending))
            await composition.start()
            try:
                async with asyncio.timeout(60):
                    while not drawn:
                        await asyncio.sleep(0.02)
                    is_ending = True
                    await client.gather(client.map(abs, range(5)))
                    while await composition.ask(_total, is_fresh=True) < 5:
                        await asyncio.sleep(0.02)
            finally:
                await composition.close()

    asyncio.run(run())
    assert drawn
    assert not any(drawn)


def _total(store: Any) -> int:
    return int(store.actions.total)
