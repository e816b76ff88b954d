"""Records that must not be believed, found by a real scan next to a good one."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dask_diag_lab.proxy.messages import MessageError, loopback_address
from dask_diag_lab.proxy.records import RecordDiscovery, find_process, read_record
from dask_diag_lab.proxy.sockets import ProcessError, check_owner
from tests.proxy.backends import FIXTURES, Backend

LOG = logging.getLogger("test.records")


@pytest.fixture
def discovery(jp_runtime_dir: Path) -> RecordDiscovery:
    return RecordDiscovery(jp_runtime_dir, LOG)


def scanned(discovery: RecordDiscovery) -> list[str]:
    return [announcement.record["id"] for announcement in discovery.scan()]


def test_bad_records_are_each_reported_once_and_harm_no_other(
    discovery: RecordDiscovery, announced: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    paths = []
    for fixture in FIXTURES.glob("runtime_record/bad*.json"):
        paths.append(discovery.folder / f"dask-diag-lab-{fixture.stem}.json")
        paths[-1].write_text(fixture.read_text())
        paths[-1].chmod(0o600)
    with caplog.at_level(logging.INFO):
        assert scanned(discovery) == scanned(discovery) == [announced.id]
    warnings = sorted(str(record.getMessage()) for record in caplog.records)
    assert len(warnings) == len(paths) > 10
    for path, warning in zip(sorted(paths), warnings, strict=True):
        assert warning.startswith(f"Ignoring the runtime record {path.name}: ")
        assert path.exists(), "only the record of a dead process may be removed"
    assert "Zm9v" not in caplog.text


@pytest.mark.parametrize("kind", ["file", "below a file", "unreadable"])
def test_in_a_folder_that_cannot_be_read_there_is_nothing(
    kind: str, announced: Backend, tmp_path: Path
) -> None:
    folder = tmp_path / "spoilt"
    if kind == "unreadable":  # but for root
        folder.mkdir(mode=0)
    else:
        folder.write_text("")
    folder = folder / "runtime" if kind == "below a file" else folder
    assert scanned(RecordDiscovery(folder, LOG, announced.folder)) == [announced.id]


def _link(path: Path) -> None:
    real = path.with_name("elsewhere.json")
    path.rename(real)
    path.symlink_to(real)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda path: path.chmod(0o640), "mode"),
        (_link, "plain file"),
        (_pipe, "regular file"),
        (lambda path: path.write_text(path.read_text() + " " * 70_000), "larger than"),
        (lambda path: path.rename(path.with_name("dask-diag-lab-0123456789abcdef.json")), "name"),
        (lambda path: path.write_text("[" * 60_000), "not JSON"),
    ],
)
def test_spoilt_file_is_not_believed(
    spoil: Callable[[Path], None],
    word: str,
    discovery: RecordDiscovery,
    announced: Backend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    spoil(announced.path)
    assert scanned(discovery) == scanned(discovery) == []
    (warning,) = [record.getMessage() for record in caplog.records]
    assert word in warning
    assert announced.token not in warning


@pytest.mark.parametrize("is_zombie", [False, True])
def test_dead_record_is_removed(
    is_zombie: bool, discovery: RecordDiscovery, announced: Backend
) -> None:
    assert scanned(discovery) == [announced.id]
    announced.process.kill()
    os.waitid(os.P_PID, announced.pid, os.WEXITED | os.WNOWAIT)  # dead, not yet collected
    if not is_zombie:
        announced.kill()
    assert scanned(discovery) == []
    assert not announced.path.exists()


def test_record_of_a_reused_pid_is_removed(discovery: RecordDiscovery, backend: Backend) -> None:
    path = backend.announce(start_ticks=backend.start_ticks - 100)
    assert scanned(discovery) == []
    assert not path.exists()


def test_process_that_listens_elsewhere_is_refused_and_its_record_kept(
    discovery: RecordDiscovery, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    with Backend(backend.folder) as other:
        path = backend.announce(url=other.url)
        assert scanned(discovery) == scanned(discovery) == []
    assert path.exists()
    (warning,) = [record.getMessage() for record in caplog.records]
    assert f"does not listen on port {other.port}" in warning


def test_file_and_port_of_another_user_are_refused(announced: Backend) -> None:
    record = read_record(announced.path)
    with pytest.raises(MessageError, match="another user"):
        read_record(announced.path, os.getuid() + 1)
    with pytest.raises(ProcessError, match="another user"):
        find_process(record, os.getuid() + 1)
    if os.getuid() != 0:  # what root has opened counts as one's own
        with pytest.raises(ProcessError, match="another user"):
            check_owner(loopback_address(announced.url), os.getuid() + 1)
    check_owner(loopback_address(announced.url), os.getuid())


def test_records_of_other_machines_are_left_alone(
    discovery: RecordDiscovery, announced: Backend
) -> None:
    path = announced.announce(id="0123456789abcdef", host="another-node", pid=2**22 + 1)
    assert scanned(discovery) == [announced.id]
    assert path.exists()
