"""Try the wheel in a real browser with the oldest and the newest versions that pip may choose.

Each row is a new environment of one Python with the wheel and its `demo` extra. The tests that run
in it are those of ui-tests with a tag ``@compat:…``, one column each::

    python scripts/compatibility.py                   # try all rows
    python scripts/compatibility.py oldest 3.13       # some
    python scripts/compatibility.py --write FILE      # all, and put the table into a page
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).resolve().parents[1]
OLDEST: Final = "oldest"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
SHOWN: Final = {
    "jupyterlab": "JupyterLab",
    "notebook": "Notebook",
    "jupyter-server": "Jupyter Server",
    "bokeh": "Bokeh",
    "distributed": "distributed",
    "tornado": "tornado",
    "numpy": "NumPy",
}
COLUMNS: Final = {
    "lab": "the demo in JupyterLab",
    "every-plot": "every plot opened",
    "single-document": "single-document mode",
    "notebook-7": "Notebook 7",
}
_BEGIN, _END = "<!-- written by scripts/compatibility.py -->", "<!-- end -->"
_VERSIONS: Final = """
import importlib.metadata, json, platform, sys
versions = {name: importlib.metadata.version(name) for name in sys.argv[1:]}
print(json.dumps(versions | {"python": platform.python_version()}))
"""
_STORY_LIMIT_S: Final = 900


class Row(NamedTuple):
    """What was tried with one environment: versions by package, and whether each test passed."""

    name: str
    versions: dict[str, str]
    passed: dict[str, bool]


def oldest_versions() -> list[str]:
    """Return the lower bound of everything that the package and its demo require, pinned."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["demo"]
    return [
        f"{requirement.name}=={bound.version}"
        for requirement in map(Requirement, [*project["dependencies"], *extra])
        for bound in requirement.specifier
        if bound.operator == ">="
    ]


def find_python(version: str) -> str | None:
    """Return an interpreter of this version, from the path or of pyenv; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [sys.executable, shutil.which(f"python{version}")]
    found += sorted(map(str, pyenv.glob(f"{version}.*/bin/python")))
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for python in filter(None, found):
        answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
        if answer.stdout.strip() == version:  # what pyenv puts on the path may find none
            return python
    return None


def run(*command: str | Path, **environment: str) -> str:
    """Run a command that has to work; return what it printed."""
    given: dict[str, Any] = {"cwd": ROOT, "env": os.environ | environment, "text": True}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, **given)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return str(done.stdout)


def install(python: str, pins: Sequence[str], wheel: Path, folder: Path) -> Path:
    """Make an environment with the wheel; return its interpreter."""
    run(python, "-m", "venv", folder)
    new = folder / "bin" / "python"
    run(new, "-m", "pip", "install", "-qq", "--no-input", f"{wheel}[demo]", *pins)
    return new


def watch(python: Path) -> dict[str, bool]:
    """Run the tests in the browser with an environment; return which passed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        told = {"PYTHON": str(python), "PLAYWRIGHT_JSON_OUTPUT_NAME": report.name}
        command = ["jlpm", "playwright", "test", "--project=story", "--grep=@compat:"]
        subprocess.run(
            [*command, "--reporter=list,json"],
            cwd=ROOT / "ui-tests",
            env=os.environ | told,
            timeout=_STORY_LIMIT_S,
            check=False,
        )
        suites = json.loads(Path(report.name).read_text(encoding="utf-8"))["suites"]
    return {
        tag.partition("compat:")[2]: spec["ok"]
        for suite in suites
        for spec in suite["specs"]
        for tag in spec["tags"]
    }


def tried(name: str, python: str, wheel: Path) -> Row:
    """Try one row."""
    print(f"== {name}", flush=True)
    with tempfile.TemporaryDirectory(prefix="compat-") as folder:
        pins = oldest_versions() if name == OLDEST else []
        new = install(python, pins, wheel, Path(folder))
        versions = json.loads(run(new, "-c", _VERSIONS, *SHOWN))
        print(", ".join(f"{key} {value}" for key, value in versions.items()), flush=True)
        return Row(name, versions, watch(new))


def table(rows: Sequence[Row], absent: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the page."""
    today = dt.datetime.now(dt.UTC).date()
    yield f"Tried on {today.isoformat()} with Chromium on Linux:\n"
    head = ["", "Python", *SHOWN.values(), *COLUMNS.values()]
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        versions = [row.versions[name] for name in ("python", *SHOWN)]
        results = [{True: "works", False: "**fails**"}[row.passed[name]] for name in COLUMNS]
        what = "oldest" if row.name == OLDEST else "newest"
        yield f"| {' | '.join([what, *versions, *results])} |"
    if absent:
        yield f"\nNot tried, because it was not there: Python {', '.join(absent)}."


def main() -> None:
    """Try rows and say, in the page and by the exit code, what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="*", choices=[OLDEST, *PYTHONS, []])
    parser.add_argument("--write", type=Path, help="a page with a place for the table")
    given = parser.parse_args()
    wanted = {name: PYTHONS[0] if name == OLDEST else name for name in (OLDEST, *PYTHONS)}
    pythons = {name: find_python(wanted[name]) for name in given.rows or wanted}
    rows = []
    with tempfile.TemporaryDirectory(prefix="compat-wheel-") as folder:
        run(sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "-w", folder, ROOT)
        (wheel,) = Path(folder).glob("*.whl")
        for name, python in pythons.items():
            if python is not None:
                rows.append(tried(name, python, wheel))
    absent = [name for name, python in pythons.items() if python is None]
    lines = "\n".join(table(rows, absent))
    print(lines)
    if given.write:
        text = given.write.read_text(encoding="utf-8")
        before, _, rest = text.partition(_BEGIN)
        after = rest.partition(_END)[2]
        given.write.write_text(f"{before}{_BEGIN}\n{lines}\n{_END}{after}", encoding="utf-8")
    if not rows or not all(all(row.passed.values()) for row in rows):
        raise SystemExit("Not all of it works.")


if __name__ == "__main__":
    main()
