"""The commands of the repository: what they take from the machine, and what they say is missing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import lab_build
import node_runtime
import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("kernel", "cluster", "proxy", "reach", "packaging")


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", *arguments]  # also where make runs this test
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_missing_python_is_named_with_the_command_that_brings_it() -> None:
    done = _make("demo", "PYTHON=")
    assert done.returncode != 0
    assert "apt install python3" in done.stdout


def test_a_suite_that_fails_fails_the_whole_and_is_named_last() -> None:
    done = _make("test", "SUITES=none-such")
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1] == "Failed: none-such"


def test_every_folder_with_python_tests_is_in_one_suite() -> None:
    # What pytest collects is the suites' arguments, with folders in place of globs.
    printed = _make("--always-make", "--dry-run", *(f"test-{s}" for s in SUITES)).stdout
    commands = [line.split() for line in printed.splitlines() if "-m pytest" in line]
    folders = {file.parent.relative_to(ROOT) for file in (ROOT / "tests").rglob("test_*.py")}
    for folder in folders:
        above = {str(folder), *map(str, folder.parents)}
        named = [
            command
            for command in commands
            if above & set(command) and not {f"--ignore={name}" for name in above} & set(command)
        ]
        assert len(named) == 1, folder


def test_an_old_node_on_the_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("old", "v16.1.0"), ("new", "v22.20.0")):
        node = tmp_path / name / "node"
        node.parent.mkdir()
        node.write_text(f"#!/bin/sh\necho {version}\n")
        node.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/old:{tmp_path}/new")
    assert node_runtime.system_node() == tmp_path / "new" / "node"
    monkeypatch.setenv("PATH", f"{tmp_path}/old")
    assert node_runtime.system_node() is None


def test_a_changed_source_makes_the_built_front_end_stale(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    source = tmp_path / "src" / "index.ts"
    source.parent.mkdir()
    source.write_text("1")
    assert not lab_build.is_fresh(tmp_path)
    for file in lab_build.outputs(tmp_path):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    lab_build.remember(tmp_path, lab_build.fingerprint(tmp_path))
    assert lab_build.is_fresh(tmp_path)
    source.write_text("2")
    assert not lab_build.is_fresh(tmp_path)
    (tmp_path / "PKG-INFO").write_text("")
    assert lab_build.is_fresh(tmp_path), "an sdist carries its build"
