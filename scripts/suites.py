"""``make test``: sets up what the tests need, runs every suite and adds up the numbers.

``SUITES="kernel jest"`` in the environment runs only these.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import chromium
import lanes
import reports
from environment import LOGS, PYTHON, ROOT, SCRIPTS, isolated, node_environment, prepare
from reports import Count
from steps import FailedError, MissingError, Steps
from suite import Outcome, Suite

_NEED_NODE = {"jest", "ui"}
_WAVES = ((("kernel", "packaging"), ("cluster", "jest", "proxy")), (("ui",),))
"""Lanes that run side by side, wave after wave: tests of clusters mostly wait, so there is room
beside them; browsers need the machine for themselves."""

_KERNEL = ("views", "server", "store", "records")
_CLUSTER = ("collector", "transport", "session", "situations_real", "capture", "notebook")
"""The folders of ``tests/kernel`` in two halves that take about as long."""


def _pytest(name: str, folders: list[str], limit_s: float) -> Suite:
    report = LOGS / f"{name}.xml"
    command: list[str | Path] = [PYTHON, "-m", "pytest", *folders, f"--junitxml={report}"]
    return Suite(name, command, ROOT, report, reports.read_junit, limit_s)


def _suites() -> list[Suite]:
    jest, ui = LOGS / "jest.json", LOGS / "ui.json"
    jlpm = SCRIPTS / "jlpm"
    kernel, cluster = ([f"tests/kernel/{name}" for name in half] for half in (_KERNEL, _CLUSTER))
    return [
        _pytest("kernel", [*kernel, "tests/boundaries"], 900),
        _pytest("cluster", [*cluster, "tests/contract"], 900),
        # A command of its own: pytest-jupyter's fixtures clash with asyncio plugins.
        _pytest("proxy", ["tests/proxy"], 420),
        Suite(
            "jest",
            [jlpm, "run", "jest", "--ci", "--json", f"--outputFile={jest}"],
            ROOT,
            jest,
            reports.read_jest,
            300,
        ),
        _pytest("packaging", ["tests/packaging"], 600),
        Suite("ui", [jlpm, "run", "test"], ROOT / "ui-tests", ui, reports.read_playwright, 900),
    ]


def _chosen() -> list[Suite]:
    names = os.environ.get("SUITES", "").split()
    known = {one.name: one for one in _suites()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise FailedError(f"No suite is called {', '.join(unknown)}: there are {', '.join(known)}.")
    return [known[name] for name in names] if names else list(known.values())


def _set_up(steps: Steps, names: set[str]) -> dict[str, str]:
    prepare(steps, ["test", "demo"])
    steps.begin("Node packages of the tests")
    env = node_environment() if names & _NEED_NODE else dict(os.environ)
    if "jest" in names:
        steps.run([SCRIPTS / "jlpm", "install", "--immutable"], ROOT, env)
    if "ui" in names:
        steps.run([SCRIPTS / "jlpm", "install", "--immutable"], ROOT / "ui-tests", env)
    steps.begin("A Chromium for the browser tests")
    if "ui" in names:
        env["CHROMIUM_PATH"] = str(chromium.find_or_bring(steps))
        steps.note(env["CHROMIUM_PATH"])
    return env


def _summary(outcomes: dict[str, Outcome]) -> Count:
    print("\n" + "─" * 72)
    for name, outcome in outcomes.items():
        count = outcome.count
        print(
            f"{name:<10} {count.passed:>5} passed {count.failed:>4} failed "
            f"{count.skipped:>4} skipped {outcome.seconds:>6.0f} s   {outcome.problem}"
        )
    for name, outcome in outcomes.items():
        for reason in outcome.count.reasons:
            print(f"\n{name}: {reason}")
    total = sum((outcome.count for outcome in outcomes.values()), Count())
    print(f"{total.passed} passed, {total.failed} failed")
    return total


def main() -> int:
    """Run the suites; the exit code is 0 only if all of them ran and nothing failed."""
    suites = _chosen()
    steps = Steps(4 + len(suites), LOGS / "test.log")
    env = _set_up(steps, {one.name for one in suites})
    outcomes: dict[str, Outcome] = {}
    # Short, because the kernels' and the runtime folder's socket paths are limited to 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ddl-") as folder:
        env = isolated(Path(folder), env)
        env |= {"PLAYWRIGHT_JSON_OUTPUT_FILE": str(LOGS / "ui.json"), "PYTHON": str(PYTHON)}
        for wave in _WAVES:
            chosen = [[one for one in suites if one.name in names] for names in wave]
            begun = [lane for lane in chosen if lane]
            outcomes |= lanes.run(begun, env, LOGS, lambda name: steps.begin(f"Tests: {name}"))
    return 1 if _summary(outcomes).failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (MissingError, FailedError) as problem:
        sys.exit(f"\n{problem}\n\n0 passed, 1 failed (the set-up)")
