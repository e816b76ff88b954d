"""Each package imports only what the design allows it: shown by a fresh interpreter a package."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import dask_diag_lab

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "dask_diag_lab"
PACKAGES: Final = frozenset(
    {
        *("schema", "collector", "transport", "store", "views", "server", "capture", "notebook"),
        *("session", "composition", "preload", "proxy", "cli", "scheduler", "jobs", "doctor"),
        "analysis",
    }
)
ENGINE: Final = frozenset({"distributed"})
HEAVY: Final = frozenset({"bokeh", "distributed", "numpy", "tornado", "dask", "pandas"})

FORBIDDEN: Final[dict[str, frozenset[str]]] = {
    "schema": PACKAGES - {"schema"},
    "collector": (PACKAGES - {"collector", "schema"}) | {"numpy", "bokeh"},
    "transport": frozenset({"bokeh", "views", "store", "server", "session", "proxy"}),
    "store": ENGINE | {"tornado", "bokeh", "views", "server", "transport", "session", "proxy"},
    "analysis": (PACKAGES - {"analysis", "schema", "store", "jobs"})
    | ENGINE
    | {"tornado", "bokeh"},
    "views": ENGINE | {"tornado", "server", "transport", "session", "proxy"},
    "server": ENGINE | {"jupyter_server", "transport", "session", "notebook", "proxy"},
    "capture": frozenset({"jupyter_server", "proxy"}),
    "notebook": frozenset({"proxy", "jupyter_server"}),
    "session": frozenset({"proxy", "jupyter_server"}),
    "preload": frozenset({"proxy", "jupyter_server", "bokeh"}),
    "proxy": (PACKAGES - {"proxy"}) | {"bokeh", "distributed", "numpy", "dask"},
}
NOWHERE: Final = frozenset({"bokeh.server"})
"""What no package imports: plots have a stream of their own (docs/decisions/0005)."""

# Each list of modules is loaded by a fork: what all would load anew is loaded once.
LOAD = """
import importlib, json, os, sys
first, *wanted = json.loads(sys.argv[1])
for name in first:
    importlib.import_module(name)
for names in wanted:
    if os.fork() == 0:
        try:
            for name in names:
                importlib.import_module(name)
            print(json.dumps(sorted(sys.modules)), flush=True)
        finally:
            os._exit(0)
    os.wait()
"""


def files_of(package: str) -> list[Path]:
    """Return all source files of a package."""
    folder = PACKAGE / package
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{package}.py"]
    return [path for path in files if path.exists()]


def modules_of(package: str) -> list[str]:
    """Return the dotted names of all modules of a package."""
    names = [".".join(f.relative_to(ROOT).with_suffix("").parts) for f in files_of(package)]
    return [name.removesuffix(".__init__") for name in names]


def imported_by(node: ast.AST) -> Iterator[str]:
    """Yield the modules that code imports, in functions too, but not for annotations only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from imported_by(child)


def python(*arguments: str) -> str:
    """Return what a fresh interpreter prints, which has to complain of nothing."""
    done = subprocess.run(
        [sys.executable, "-c", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=True,
    )
    assert not done.stderr
    return done.stdout


def loaded_by(*wanted: Sequence[str], first: Sequence[str] = ()) -> list[set[str]]:
    """Return what a fresh interpreter has loaded after importing each list of modules."""
    return [
        set(json.loads(line))
        for line in python(LOAD, json.dumps([first, *wanted])).split("\n")[:-1]
    ]


def test_no_module_imports_itself_in_a_circle() -> None:
    of = {
        name: path
        for package in PACKAGES
        for name, path in zip(modules_of(package), files_of(package), strict=True)
    }
    graph = {
        name: set(imported_by(ast.parse(path.read_text()))) & of.keys() - {name}
        for name, path in of.items()
    }
    # Who names a module of a package does not mean the package, which takes in all of them.
    for name, its in graph.items():
        graph[name] = {one for one in its if not any(other.startswith(f"{one}.") for other in its)}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" ← ".join(error.args[1]))


def is_or_is_in(module: str, parent: str) -> bool:
    return module == parent or module.startswith(f"{parent}.")


@pytest.mark.parametrize("first", ["", "distributed"])
def test_a_package_imports_nothing_that_is_not_its_business(first: str) -> None:
    # `distributed` loads NumPy itself where it is there; what counts is what the package adds.
    packages = [p for p in FORBIDDEN if ("distributed" in FORBIDDEN[p]) != bool(first)]
    before = [first] if first else []
    already, *loaded = loaded_by([], *map(modules_of, packages), first=before)
    for package, modules in zip(packages, loaded, strict=True):
        banned = [
            f"dask_diag_lab.{n}" if n in PACKAGES else n for n in FORBIDDEN[package] | NOWHERE
        ]
        found = sorted(m for m in modules - already for b in banned if is_or_is_in(m, b))
        assert found == [], f"{package} imports {found}"


@pytest.mark.parametrize("package", FORBIDDEN)
def test_no_file_of_a_package_names_what_is_not_its_business(package: str) -> None:
    banned = [f"dask_diag_lab.{n}" if n in PACKAGES else n for n in FORBIDDEN[package] | NOWHERE]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files_of(package)
        for name in imported_by(ast.parse(path.read_text(encoding="utf-8")))
        for b in banned
        if is_or_is_in(name, b)
    ]
    assert found == []


def test_importing_the_package_loads_nothing_heavy() -> None:
    for loaded in loaded_by(["dask_diag_lab"], ["dask_diag_lab.preload"]):
        assert sorted(m for m in loaded for b in HEAVY if is_or_is_in(m, b)) == []
        assert len([m for m in loaded if m.startswith("dask_diag_lab")]) <= 2


def test_the_catalogue_and_the_server_load_without_bokeh() -> None:
    for loaded in loaded_by(["dask_diag_lab.views.registry"], ["dask_diag_lab.server"]):
        assert not any(is_or_is_in(module, "bokeh") for module in loaded)


def test_a_recording_is_served_without_the_engine() -> None:
    assert "distributed" not in loaded_by(["dask_diag_lab.composition"])[0]


def test_the_repr_of_diagnostics_loads_no_bokeh() -> None:
    check = (
        "import sys\n"
        "from dask_diag_lab.composition import Target\n"
        "from dask_diag_lab.session import Diagnostics\n"
        "made = Diagnostics(Target('id', 'tcp://127.0.0.1:1', {}))\n"
        "print(repr(made), 'bokeh' in sys.modules)\n"
        "made.start()\n"  # else its event loop is left open
        "made.close()\n"
    )
    assert python(check).endswith(": open> False\n")


def test_public_names_are_all_there() -> None:
    assert set(dask_diag_lab.__all__) <= set(dir(dask_diag_lab))
    assert all(getattr(dask_diag_lab, name) is not None for name in dask_diag_lab.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = dask_diag_lab.nothing


def test_no_two_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_packages_import_each_other_in_a_circle() -> None:
    imports = {
        package: {
            name.split(".")[1]
            for path in files_of(package)
            for name in imported_by(ast.parse(path.read_text(encoding="utf-8")))
            if name.startswith("dask_diag_lab.")
        }
        & (PACKAGES - {package})
        for package in PACKAGES
    }
    while free := [package for package, needs in imports.items() if not needs & imports.keys()]:
        for package in free:
            del imports[package]
    assert imports == {}


def test_what_is_not_public_of_others_stands_in_the_list_of_it() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    listed = architecture.partition("\n## What is used that is not public\n")[2]
    scripts = [path for path in (ROOT / "src").rglob("*.ts*") if path.parent.name != "test"]
    text = "\n".join(path.read_text("utf-8") for path in scripts)
    used = set(re.findall(r"\b(?:require\(\s*'|super\.(?=_))([^'(]+)", text))
    trees = [ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    own = {"_asdict", "_fields", "_replace"}  # of named tuples
    own |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name)}
    own |= {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    used |= {node.attr for node in attributes if re.match("_[a-z]", node.attr)} - own
    assert {name for name in used if f"`{name}`" not in listed} == set()
