"""``make lint``: every checker of the repository, all of them even after one complained."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from environment import LOGS, PYTHON, ROOT, SCRIPTS, node_environment, prepare
from steps import FailedError, MissingError, Steps

_CHECKERS: tuple[tuple[str, list[str | Path], str], ...] = (
    ("ruff check", [PYTHON, "-m", "ruff", "check"], "."),
    ("ruff format", [PYTHON, "-m", "ruff", "format", "--check"], "."),
    ("mypy", [PYTHON, "-m", "mypy"], "."),
    ("eslint, prettier and tsc of src", [SCRIPTS / "jlpm", "run", "lint:check"], "."),
    ("tsc of ui-tests", [SCRIPTS / "jlpm", "run", "lint"], "ui-tests"),
)


def main() -> int:
    """Run the checkers; the exit code is 0 only if all are content."""
    steps = Steps(3 + len(_CHECKERS), LOGS / "lint.log")
    prepare(steps, ["lint", "test"])
    env = node_environment()
    steps.begin("Node packages of the checkers")
    for root in (ROOT, ROOT / "ui-tests"):
        steps.run([SCRIPTS / "jlpm", "install", "--immutable"], root, env)
    unhappy = []
    for name, command, folder in _CHECKERS:
        steps.begin(name)
        if subprocess.run(command, cwd=ROOT / folder, env=env, check=False).returncode:
            unhappy.append(name)
    print(f"\nTo be corrected: {'; '.join(unhappy)}" if unhappy else "\nAll checkers are content.")
    return 1 if unhappy else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (MissingError, FailedError) as problem:
        sys.exit(f"\n{problem}")
