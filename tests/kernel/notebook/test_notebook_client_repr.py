"""What a notebook shows of clients and clusters, by IPython's own formatters."""

from __future__ import annotations

import asyncio
import html
import re
import socket
from collections.abc import Iterator
from typing import Any

import dask
import pytest
from distributed import Client
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import dask_diag_lab
from dask_diag_lab.notebook.client_repr import add_formatters, reach
from tests.kernel.serving import wait_until
from tests.kernel.session.small_clusters import small_cluster


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with small_cluster() as cluster, Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture
def formatter() -> Iterator[DisplayFormatter]:
    """What turns results of cells into pictures, with our formatters."""
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    assert shell.display_formatter is not None
    add_formatters(shell)
    yield shell.display_formatter
    InteractiveShell.clear_instance()


def shown(formatter: DisplayFormatter, client: Client) -> str:
    """Return the HTML of a client in a notebook."""
    bundle, _ = formatter.format(client)
    return str(bundle["text/html"])


def cells(page: str) -> dict[str, str]:
    """Return the first row of the table of workers, by its heads."""
    table = page.split("<details", 1)[1]
    heads, values = (re.findall(rf"<{tag}>(.*?)</{tag}>", table) for tag in ("th", "td"))
    return dict(zip(heads, values, strict=False))


def test_what_dask_leaves_blank_is_filled(formatter: DisplayFormatter, client: Client) -> None:
    kept = client.submit(sum, [1, 2])
    wait_until(
        lambda: cells(shown(formatter, client))["Tasks in memory"] == "1", "the task is not counted"
    )
    row = cells(shown(formatter, client))
    assert {row[f"Tasks {name}"] for name in ("executing", "ready", "in flight")} == {"0"}
    assert row["Threads"] == "2"
    kept.release()


def test_an_asynchronous_client_shows_the_workers_of_its_own_cluster(
    formatter: DisplayFormatter, client: Client
) -> None:
    async def show(**given: Any) -> str:
        made = Client(asynchronous=True, set_as_default=False, **given)
        async with made as other:
            return shown(formatter, other)

    own = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    assert cells(asyncio.run(show(**own)))["Threads"] == "2"
    page = asyncio.run(show(address=client.scheduler_info()["address"]))
    assert "<th>Threads</th><td>2</td>" in page


def test_buttons_name_the_dashboard_and_nothing_in_it_opens_it(
    formatter: DisplayFormatter, client: Client
) -> None:
    diagnostics = dask_diag_lab.attach(client)
    page = html.unescape(shown(formatter, client))
    address, _, token = diagnostics.url.partition("/status?token=")
    assert page.count(f'{{"dashboard": "{diagnostics.id}"}}') == 2
    assert token not in page
    assert address not in page


def test_taking_the_formatter_away_brings_dask_s_own_back(
    formatter: DisplayFormatter, client: Client
) -> None:
    formatter.formatters["text/html"].pop(Client)
    add_formatters(InteractiveShell.instance())  # as the next client does it
    assert "jp-DaskDiag" not in shown(formatter, client)
    assert "Scheduler Info" in shown(formatter, client)


def test_a_cluster_is_shown_above_dask_s_own_widget(
    formatter: DisplayFormatter, client: Client
) -> None:
    with capture_output() as captured:
        formatter.format(client.cluster)
    ours, widget = (output.data for output in captured.outputs)
    assert "jp-DaskDiag-repr" in ours["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in widget


def test_it_says_from_where_dask_s_own_link_opens() -> None:
    assert "where the kernel runs" in reach("http://127.0.0.1:8787/status", is_on_hub=False)
    assert "cannot reach" in reach("http://localhost:8787/status", is_on_hub=True)
    assert "port 8787 of 10.0.0.5" in reach("http://10.0.0.5:8787/status", is_on_hub=True)
    assert not reach("https://hub.example/user/me/proxy/8787/status", is_on_hub=True)
    assert not reach("/user/me/proxy/8787/status", is_on_hub=True)


def test_a_closed_client_is_shown_as_dask_does(formatter: DisplayFormatter, client: Client) -> None:
    with Client(client.cluster, set_as_default=False) as other:
        pass
    assert shown(formatter, other) == other._repr_html_()


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6")
def test_a_cluster_on_ipv6_is_shown_with_a_link_that_works(formatter: DisplayFormatter) -> None:
    with (
        small_cluster(host="tcp://[::1]") as cluster,
        Client(cluster, set_as_default=False) as client,
        capture_output() as captured,
    ):
        link = f"http://[::1]:{client.scheduler_info()['services']['dashboard']}/status"
        assert link in shown(formatter, client)
        formatter.format(cluster)
    assert link in captured.outputs[0].data["text/html"]


def test_what_cannot_be_shown_our_way_is_shown_as_dask_does(
    formatter: DisplayFormatter, client: Client
) -> None:
    with dask.config.set({"distributed.dashboard.link": "http://[no-link"}):
        assert "Scheduler Info" in shown(formatter, client)


def test_a_subclass_keeps_a_repr_of_its_own(formatter: DisplayFormatter, client: Client) -> None:
    class Own(Client):
        def _repr_html_(self) -> str:
            return "its own"

    make: Any = Own  # `distributed` has no types
    with make(client.cluster, set_as_default=False) as own:
        assert shown(formatter, own) == "its own"


def test_no_memory_limit_is_said_to_be_none(formatter: DisplayFormatter) -> None:
    with (
        small_cluster(memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        page = shown(formatter, client)
    assert cells(page)["Limit"] == "no limit"
    assert "<th>Memory</th><td>no limit</td>" in page
