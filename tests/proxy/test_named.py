"""Dashboards that somebody names: the user, for long; the administrator; behind https."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import json
import re
import socket
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jupyter_core.paths import jupyter_data_dir

from dask_diag_lab.proxy.client import tls_context
from dask_diag_lab.proxy.extension import DaskDiagLab
from dask_diag_lab.proxy.messages import DashboardInfo
from dask_diag_lab.proxy.policy import Settings
from dask_diag_lab.proxy.records import RecordDiscovery
from dask_diag_lab.proxy.registry import DashboardRegistry
from dask_diag_lab.proxy.stock import AddressStore
from tests.proxy.backends import Program, StockScheduler
from tests.proxy.client import Client, message
from tests.proxy.test_discovery import of
from tests.proxy.test_stock import added, live


def kept_path() -> Path:
    return Path(jupyter_data_dir()) / "dask-diag-lab" / "dashboards.json"


GATEWAY = "/services/dask-gateway/clusters/default.0a1b"


def is_answered(found: Sequence[Mapping[str, Any]]) -> bool:  # Any: JSON
    """Whether it is known of each how it is."""
    return not any("the first answer" in str(one["reason"]) for one in found)


async def after_restart(extension: DaskDiagLab) -> list[DashboardInfo]:
    """Return what the next Jupyter server makes of the same files."""
    discovery = RecordDiscovery(Path("/nowhere"), extension.log)
    registry = DashboardRegistry(
        discovery, Settings(discover=False), AddressStore(kept_path()), dict
    )
    async with asyncio.timeout(45):
        while not is_answered(listed := (await registry.refresh())["dashboards"]):
            await asyncio.sleep(0.05)
    await registry.close()
    return listed


async def test_added_ones_are_kept_and_removed_ones_are_not(
    client: Client, stock: StockScheduler, extension: DaskDiagLab
) -> None:
    dashboard = await added(client, stock)
    path = kept_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    (kept,) = await after_restart(extension)
    for field in ("id", "name", "state", "scheduler", "is_removable"):
        assert kept[field] == dashboard[field]
    assert (await client.add(f"http://127.0.0.1:{stock.port}")).code == 200  # known by that, too
    await client.get("api", "dashboards", dashboard["id"], method="DELETE")
    assert await after_restart(extension) == []


@pytest.mark.parametrize(
    ("content", "mode"),
    [
        ("[" * 9000, 0o600),
        ('{"schema": 1, "addresses": ["http://127.0.0.1:9"]}', 0o644),
        ('{"schema": 1, "addresses": ["http://192.0.2.7:1", "ftp://x", "a b"]}', 0o600),
    ],
)
async def test_spoilt_file_of_added_ones_contacts_nobody(
    content: str,
    mode: int,
    client: Client,
    stock: StockScheduler,
    extension: DaskDiagLab,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = kept_path()
    path.parent.mkdir(parents=True)
    path.write_text(content)
    path.chmod(mode)
    listed = await after_restart(extension)
    assert caplog.text.count(str(path)) == (2 if "ftp" in content else 1)
    for one in listed:
        assert (one["state"], "allowed_hosts" in str(one["reason"])) == ("unreachable", True)
    await added(client, stock)  # and what is added next is kept
    assert "LOCALHOST" not in path.read_text()
    assert f"http://localhost:{stock.port}" in json.loads(path.read_text())["addresses"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class TestConfigured:
    """With ``c.DaskDiagLab.dashboards``."""

    @pytest.fixture
    def settings(self, stock: StockScheduler) -> dict[str, object]:
        urls = [f"http://127.0.0.1:{stock.port}", f"127.0.0.1:{free_port()}/status", "not one"]
        return {"discover": False, "allowed_hosts": [], "dashboards": urls}

    async def test_are_listed_with_their_state_and_cannot_be_removed(
        self, client: Client, stock: StockScheduler
    ) -> None:
        there, missing = await client.until(lambda found: found if is_answered(found) else [])
        assert (there["scheduler"]["address"], there["state"]) == (stock.address, "live")
        assert missing["state"] == "unreachable"
        assert "nothing listens" in missing["reason"]
        assert not there["is_removable"]
        gone = await client.get("api", "dashboards", there["id"], method="DELETE")
        assert gone.code == 404


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of localhost that is its own authority, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    path.write_bytes(made.public_bytes(pem) + private)
    return path


@pytest.fixture
def front(certificate: Path, stock: StockScheduler) -> Iterator[str]:
    """Where a scheduler's dashboard is behind TLS and a path, as with Dask Gateway."""
    with Program("tls_front.py", str(certificate), str(stock.port), GATEWAY) as program:
        yield f"https://localhost:{program.first_line}{GATEWAY}/status"


async def test_unknown_authority_is_refused_in_words(client: Client, front: str) -> None:
    answer = await client.add(front)
    assert answer.code == 502
    assert "SSL_CERT_FILE" in message(answer)


class TestAuthority:
    """With an authority that the Jupyter server trusts."""

    @pytest.fixture(autouse=True)
    def trusted(self, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        tls_context.cache_clear()
        yield
        tls_context.cache_clear()

    async def test_pages_data_and_sockets_pass(
        self, client: Client, front: str, stock: StockScheduler
    ) -> None:
        answer = await client.add(front)
        assert answer.code == 201, message(answer)
        dashboard: dict[str, Any] = json.loads(answer.body)  # Any: JSON
        assert dashboard["scheduler"]["address"] == stock.address
        page = f"{client.base_url}dask-diag-lab/dashboards/{dashboard['id']}/individual-progress"
        login = {"Accept": "text/html", "Authorization": f"token {client.token}"}
        place = (await client.raw(page, headers=login)).headers["Location"]
        assert re.search("/frames/[^/]+/individual-progress$", place)
        async with live(client, place) as connection:
            assert "ACK" in str([await connection.read_message() for _ in range(3)])


@pytest.mark.parametrize("settings", [{"discover": True}])
class TestFound:
    """Behind a prefix, or a certificate of nobody, on this machine."""

    async def test_one_behind_a_prefix_is_named_by_host_and_path(self, client: Client) -> None:
        with StockScheduler(1, prefix="/a/b") as scheduler:
            found = await client.until(lambda found: of(scheduler.address, found))
            assert (found["name"], found["state"]) == (f"127.0.0.1:{scheduler.port}/a/b", "live")
            assert found["summary"]["workers"] == 1
            page = await client.get("dashboards", found["id"], "json/identity.json")
            assert page.code == 200
            for path in ("", "/a/b/status"):
                again = await client.add(f"127.0.0.1:{scheduler.port}{path}")
                assert json.loads(again.body)["id"] == found["id"], message(again)

    async def test_one_with_a_certificate_of_its_own_is_live(
        self, client: Client, certificate: Path
    ) -> None:
        tls = "DASK_DISTRIBUTED__SCHEDULER__DASHBOARD__TLS"
        paths = {f"{tls}__CERT": str(certificate), f"{tls}__KEY": str(certificate)}
        with StockScheduler(0, "", **paths) as scheduler:
            found = await client.until(lambda found: of(scheduler.address, found))
            assert (found["name"], found["state"]) == (f"127.0.0.1:{scheduler.port}", "live")
