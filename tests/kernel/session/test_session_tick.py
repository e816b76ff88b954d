"""Pages do not show how a cluster is taken down."""

from __future__ import annotations

from typing import Any

import pytest
from distributed import Client, LocalCluster

from dask_diag_lab.composition import Composition, Target
from dask_diag_lab.server import Server
from tests.kernel.serving import until


@pytest.mark.usefixtures("runtime_dir")
async def test_the_last_picture_is_of_what_was_before_the_client_closed_and_listeners_learn_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[bool] = []
    is_ending = False
    connect: Any = Client
    options: Any = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    monkeypatch.setattr(Server, "tick", lambda _: drawn.append(is_ending))
    async with (
        LocalCluster(asynchronous=True, **options) as cluster,
        connect(cluster, asynchronous=True, set_as_default=False) as client,
    ):
        target = Target.of(client)
        composition = Composition(target, "0123456789abcdef", "a.ipynb", lambda: is_ending)
        await composition.start()
        await until(lambda: drawn, "nothing is drawn")
        is_ending = True
        await client.gather(client.map(abs, range(5)))
        assert await composition.ask(lambda store: store.actions.total, is_fresh=True) == 5
        await composition.close()
    assert not any(drawn)
