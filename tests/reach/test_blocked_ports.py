"""Where only the scheduler's own port is open between cluster and notebook, every plot works."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from dask_diag_lab.views.registry import Plot, built_in_plots
from tests.kernel.dashboards import answer_at
from tests.kernel.server.browser import BrowserPage
from tests.kernel.serving import LIMIT_S, TOKEN, Endpoint, run, until, wait_until
from tests.reach.hosts import Host, two_hosts

SCHEDULER_PORT, DASHBOARD_PORT, WORKER_PORT, JUPYTER_PORT, SERVE_PORT = 8786, 8787, 9000, 8888, 8800
JUPYTER = f"http://127.0.0.1:{JUPYTER_PORT}/user/ada"
# Without a click, a GPU, a measurement, and before Python 3.12 samples of event loops.
EMPTY = {"task", "gpu-utilization", "gpu-memory", "rmm-memory", "hardware", "profile-server"}
EMPTY |= {"compare"}  # there is one run, without an end
# Whether a task is stolen, a shuffle lasts until a heartbeat reports it, and a run has findings
# before its end, is left to chance.
CHANCE = {"stealing", "shuffle", "findings"}
CELL = """
import time
import dask.array as da
import numpy as np
from distributed import Client, wait

client = Client("tcp://{address}:{port}")
client.wait_for_workers(2)
x = da.random.random((1000, 1000), chunks=(100, 1000))
product, moved = client.persist([x @ x.T, x.rechunk((1000, 100), method="p2p")])
wait([product, moved])

def is_measured(dask_scheduler):
    return bool(dask_scheduler.bandwidth_workers)

# `distributed` forgets what was measured while a heartbeat was under way.
source, target = client.scheduler_info()["workers"]
while not client.run_on_scheduler(is_measured):
    made = client.submit(np.ones, 2**20, workers=[source], pure=False)
    wait(client.submit(np.sum, made, workers=[target], pure=False))

def crunch(i):
    time.sleep(0.1)
    return bytes(1000)

def fail(i):
    raise ValueError("as it was meant to")

failed = client.submit(fail, 0)
wait(failed)
crunched = client.map(crunch, range(10_000), pure=False)
"""


class Reach(NamedTuple):
    """One cluster, and its plots as they are served on its machine and in the user's notebook."""

    cluster: Host
    user: Host
    beside: Endpoint
    relayed: Endpoint


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Host, Host]]:
    with ExitStack() as stack:
        try:
            network = two_hosts(tmp_path_factory.mktemp("logs"), SCHEDULER_PORT)
            made = stack.enter_context(network)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces can be made here: {error.stderr.strip()}")
        except OSError as error:
            pytest.skip(f"no network namespaces can be made here: {error}")
        yield made


@pytest.fixture(scope="module")
def reach(hosts: tuple[Host, Host], tmp_path_factory: pytest.TempPathFactory) -> Reach:
    """Run a cluster, plots beside it, and a notebook on the other machine."""
    cluster, user = hosts
    address = f"tcp://{cluster.address}:{SCHEDULER_PORT}"
    place = ("--host", cluster.address)
    ports = ("--port", str(SCHEDULER_PORT), "--dashboard-address", f":{DASHBOARD_PORT}")
    user.start(
        *("jupyter_server", "--allow-root", "--no-browser", "--ServerApp.base_url=/user/ada/"),
        *("--ip=127.0.0.1", f"--port={JUPYTER_PORT}", "--ServerApp.port_retries=0"),
        JUPYTER_TOKEN=TOKEN,
    )
    cluster.start("distributed.cli.dask_scheduler", *place, *ports)
    wait_until(lambda: cluster.reaches(cluster.address, SCHEDULER_PORT), "no scheduler", LIMIT_S)
    for port in (WORKER_PORT, WORKER_PORT + 1):
        options = ("--no-nanny", "--nthreads", "1", "--worker-port", str(port))
        cluster.start("distributed.cli.dask_worker", address, *place, *options)
    runtime = str(tmp_path_factory.mktemp("runtime"))
    cluster.start(
        *("dask_diag_lab", "serve", address, "--port", str(SERVE_PORT)),
        DASK_DIAG_LAB_TOKEN=TOKEN,
        JUPYTER_RUNTIME_DIR=runtime,  # another machine's
    )
    beside = Endpoint(f"http://127.0.0.1:{SERVE_PORT}")
    wait_until(lambda: is_live(cluster, beside), "no plots beside the scheduler", LIMIT_S)
    wait_until(lambda: answer(user, JUPYTER, "/api/status"), "no Jupyter server", LIMIT_S)
    with user.entered():
        run(run_in_notebook(CELL.format(address=cluster.address, port=SCHEDULER_PORT)))
        (found,) = answer_at(JUPYTER, TOKEN, "/dask-diag-lab/api/dashboards")["dashboards"]
    relayed = Endpoint(f"{JUPYTER}/dask-diag-lab/dashboards/{found['id']}")
    return Reach(cluster, user, beside, relayed)


def answer(host: Host, url: str, path: str) -> Any:  # JSON
    """Return what somebody on a machine is answered; None where nothing listens yet."""
    with host.entered():
        try:
            return answer_at(url, TOKEN, path)
        except HTTPError:
            raise
        except URLError:
            return None


def is_live(host: Host, endpoint: Endpoint) -> bool:
    health = answer(host, endpoint.url, "/health")
    return health is not None and health["state"] == "live"


async def run_in_notebook(code: str) -> None:
    """Have the Jupyter server start a kernel for a notebook, and run a cell in it."""
    notebook = {"path": "blocked.ipynb", "name": "blocked.ipynb", "type": "notebook"}
    body = json.dumps({**notebook, "kernel": {"name": "python3"}})
    made = await Endpoint(JUPYTER).ask("/api/sessions", method="POST", body=body)
    kernel = json.loads(made.body)["kernel"]["id"]
    url = f"{JUPYTER.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
    request = HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"})
    socket = await websocket_connect(request)
    header = {"msg_id": "1", "msg_type": "execute_request", "session": "1", "username": ""}
    content = {"code": code, "silent": False, "allow_stdin": False, "stop_on_error": True}
    asked = {"header": {**header, "version": "5.3"}, "content": content, "channel": "shell"}
    await socket.write_message(json.dumps({**asked, "parent_header": {}, "metadata": {}}))
    while (message := json.loads(str(await socket.read_message())))["msg_type"] != "execute_reply":
        pass
    assert message["content"]["status"] == "ok", message["content"]
    socket.close()


def test_only_the_schedulers_port_is_open(reach: Reach) -> None:
    ports = (SCHEDULER_PORT, DASHBOARD_PORT, WORKER_PORT, WORKER_PORT + 1)
    address = reach.cluster.address
    assert [reach.cluster.reaches(address, port) for port in ports] == [True] * 4
    assert [reach.user.reaches(address, port) for port in ports] == [True, False, False, False]


@pytest.mark.parametrize("plot", built_in_plots(), ids=lambda plot: plot.name)
def test_a_plot_has_what_it_has_where_nothing_is_blocked(reach: Reach, plot: Plot) -> None:
    """Rows, or the same words why there are none."""
    path = f"/plots/{plot.name}.json"
    seen: list[object] = []

    def shown(host: Host, endpoint: Endpoint) -> tuple[list[str], bool, str]:
        found = answer(host, endpoint.url, path)
        return list(found["columns"]), found["rows"] > 0, "" if found["rows"] else found["note"]

    def is_same() -> bool:
        here, there = shown(reach.user, reach.relayed), shown(reach.cluster, reach.beside)
        seen[:] = [here, there]
        if plot.name in CHANCE:
            return here[0] == there[0]
        return here == there and (here[1] or plot.name in EMPTY)

    wait_until(is_same, plot.name)


def test_a_picture_is_live_through_jupyter(reach: Reach) -> None:
    async def story() -> None:
        page = await BrowserPage.open(reach.relayed, "task-stream")
        assert page.control.state == "live"
        frames = page.frames
        await until(lambda: page.frames >= frames + 3, f"it stands still: {page.control}")
        await page.close()

    with reach.user.entered():
        run(story())
