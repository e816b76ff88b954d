"""A listener gets every task that ends after it began, and harms nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, wait

import dask_diag_lab
from dask_diag_lab import listen
from dask_diag_lab.capture.listen import Listener
from tests.kernel.serving import wait_until

pytestmark = pytest.mark.usefixtures("runtime_dir")

Records = list[dict[str, Any]]


@pytest.fixture
def client() -> Iterator[Client]:
    with (
        dask.config.set({"diag-lab.idle-interval": "100ms"}),
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
    ):
        with Client(cluster) as made:
            yield made
            diagnostics = dask_diag_lab.attach(made)
        wait_until(lambda: diagnostics.is_closed, "it outlives its client")


def inc(x: int) -> int:
    return x + 1


def fail() -> None:
    raise ValueError("no")


def begun(client: Client, given: Records) -> None:
    """Wait until the listener hears: what ended before it began is not given."""

    def is_heard() -> bool:
        wait(client.submit(inc, 0, pure=False))
        return bool(given)

    wait_until(is_heard, "the listener does not begin")


def test_every_task_that_ends_is_reported(client: Client) -> None:
    given: Records = []
    with listen(given.extend, client):
        begun(client, given)
        futures = client.map(inc, range(20))
        wait(futures)
        keys = {future.key for future in futures}
        wait_until(lambda: keys <= {record["key"] for record in given}, "not all tasks were given")
    assert {record["status"] for record in given} == {"OK"}


def test_a_failed_task_is_given_as_failed(client: Client) -> None:
    given: Records = []
    with listen(given.extend, client):
        begun(client, given)
        wait(client.submit(fail))
        wait_until(
            lambda: any(record["status"] == "error" for record in given), "no failure was given"
        )


def test_nothing_is_given_after_close(client: Client) -> None:
    given: Records = []
    listener = listen(given.extend, client)
    begun(client, given)
    listener.close()
    listener.close()
    n = len(given)
    wait(client.map(inc, range(5), pure=False))
    dask_diag_lab.attach(client).submit(lambda store: None, is_fresh=True).result(60)
    assert len(given) == n


def test_a_function_that_fails_is_not_called_again(client: Client) -> None:
    calls: list[int] = []

    def bad(records: Records) -> None:
        calls.append(len(records))
        raise RuntimeError("mine")

    listener = listen(bad, client)

    def is_called() -> bool:
        wait(client.submit(inc, 0, pure=False))
        return bool(calls)

    wait_until(is_called, "it was never called")
    wait_until(lambda: isinstance(listener.error, RuntimeError), "its error is not kept")
    wait(client.map(inc, range(5), pure=False))
    dask_diag_lab.attach(client).submit(lambda store: None, is_fresh=True).result(60)
    assert len(calls) == 1


def test_a_slow_function_does_not_hold_up_the_diagnostics(client: Client) -> None:
    release, given = threading.Event(), threading.Event()

    def slow(_: Records) -> None:
        given.set()
        release.wait(120)

    listener = listen(slow, client)
    try:

        def is_called() -> bool:
            wait(client.submit(inc, 0, pure=False))
            return given.is_set()

        wait_until(is_called, "it was never called")
        diagnostics = dask_diag_lab.attach(client)
        assert diagnostics.submit(lambda store: store.actions.total, is_fresh=True).result(60) > 0
    finally:
        release.set()
        listener.close()


def test_a_listener_whose_diagnostics_have_ended_says_so_and_ends(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    diagnostics = dask_diag_lab.attach(client)
    diagnostics.close()
    listener = Listener(print, diagnostics)
    wait_until(lambda: not listener._thread.is_alive(), "its thread is left")
    assert [record.message for record in caplog.records if "listener" in record.message] == [
        "A listener gets no tasks: These Dask diagnostics are closed: their client was."
    ]


def test_what_cannot_be_called_is_refused(client: Client) -> None:
    with pytest.raises(TypeError, match="wants a function"):
        listen("print", client)  # type: ignore[arg-type]  # on purpose
