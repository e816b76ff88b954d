"""Two runs side by side: the parts add up to the difference, also of files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from distributed import Client, wait

import dask_diag_lab
from tests.kernel.session.small_clusters import PARTLY_CLOSED

pytestmark = [pytest.mark.usefixtures("runtime_dir"), *PARTLY_CLOSED]


def nap(seconds: float) -> None:
    time.sleep(seconds)


def rest(seconds: float) -> bytes:
    time.sleep(seconds)
    return b"x" * 100_000


def test_two_runs_and_their_recordings_are_compared(client: Client, tmp_path: Path) -> None:
    with dask_diag_lab.run("short <a>") as short:
        wait(client.map(nap, [0.2] * 4, pure=False))
    short.save(tmp_path / "short.daskrun")
    with dask_diag_lab.run("long") as long:
        wait(client.map(nap, [0.5] * 4, pure=False))
        wait(client.map(rest, [0.3] * 2, pure=False))
    long.save(tmp_path / "long.daskrun")
    found = dask_diag_lab.compare(short, long)
    assert found.difference_s == pytest.approx(
        (long.stop - long.start) - (short.stop - short.start)
    )
    assert sum(found.budget.values()) == pytest.approx(found.difference_s, rel=1e-3)
    assert found.settings == []
    rows = {
        one.prefix: (one.status, one.before.n_tasks, one.after.n_tasks) for one in found.prefixes
    }
    assert rows == {"nap": ("more", 4, 4), "rest": ("added", 0, 2)}
    assert next(one for one in found.prefixes if one.prefix == "rest").after.nbytes >= 200_000
    assert str(found).startswith("short <a> ")
    assert "short &lt;a&gt;" in found._repr_html_()
    files = dask_diag_lab.compare(tmp_path / "short.daskrun", str(tmp_path / "long.daskrun"))
    assert files.after.name == "long"
    assert files.difference_s == pytest.approx(found.difference_s, abs=0.3)
    assert dask_diag_lab.compare(short, short).budget == {}
    assert dask_diag_lab.compare(tmp_path / "short.daskrun", short).before.name == "short <a>"


def test_the_plot_compares_runs_of_two_recordings(client: Client, tmp_path: Path) -> None:
    with dask_diag_lab.run("short") as short:
        wait(client.map(nap, [0.1] * 4, pure=False))
    short.save(tmp_path / "before.daskrun")
    with dask_diag_lab.run("long") as long:
        wait(client.map(rest, [0.2] * 4, pure=False))
    long.save(tmp_path / "after.daskrun")
    with (
        dask_diag_lab.load(tmp_path / "before.daskrun") as before,
        dask_diag_lab.load(tmp_path / "after.daskrun") as after,
    ):
        pair = {"before": str(short.number), "before_of": before.id, "after": str(long.number)}
        columns = after.table("compare", **pair, by="tasks").columns
        assert dict(zip(columns["name"], columns["tasks_after"], strict=True)) == {
            "nap": 0,
            "rest": 4,
        }
        assert columns["before"][columns["name"].index("nap")] >= 4 * 0.099
        # What the workers said of it is in the recording.
        functions = after.table("profile", run=str(long.number)).columns["function"]
        assert any("rest" in one for one in functions)  # some samples Dask cannot place
    with dask_diag_lab.load(tmp_path / "after.daskrun") as alone:
        for gone in (before.id, "../kernel-1"):
            note = alone.table("compare", **{**pair, "before_of": gone}).note
            assert "not open on this machine" in note


def test_what_was_made_otherwise_comes_first(client: Client) -> None:
    with dask_diag_lab.run("one") as one:
        wait(client.map(nap, [0.1] * 2, pure=False))
    with dask_diag_lab.run("other") as other:
        wait(client.map(nap, [0.1] * 2, pure=False))
    other.settings["distributed"] = "2020.1.0"
    found = dask_diag_lab.compare(one, other)
    assert [(s.name, s.after) for s in found.settings] == [("distributed", "2020.1.0")]
    assert str(found).splitlines()[1].startswith("  distributed: ")


def test_a_run_that_goes_on_and_what_is_no_recording_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.daskrun").write_text("no")
    with pytest.raises(ValueError, match=r"x\.daskrun"):
        dask_diag_lab.compare(tmp_path / "x.daskrun", tmp_path / "x.daskrun")
    with pytest.raises(TypeError, match="neither a run nor"):
        dask_diag_lab.compare(1, 2)  # type: ignore[arg-type]
    never = dask_diag_lab.run("never")
    with pytest.raises(RuntimeError, match="not over yet"):
        dask_diag_lab.compare(never, never)
