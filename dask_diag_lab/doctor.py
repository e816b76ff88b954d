"""Why nothing shows up: what `dask-diag-lab doctor` checks, and the configuration of `enable`.

Looks at this environment, and changes nothing but the one file that `enable` writes.
"""

from __future__ import annotations

import json
import logging
import os
import site
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil
from packaging.requirements import Requirement
from packaging.version import Version

PRELOAD: Final = "dask_diag_lab.preload"
SERVER: Final = "dask_diag_lab.proxy"
LAB: Final = "dask-diag-lab"
# The whole extension, and the plugins without which none of the others is loaded.
NEEDED: Final = (LAB, f"{LAB}:dashboards", f"{LAB}:plugin")
INSTALL: Final = f"{sys.executable} -m pip install --force-reinstall --no-deps dask_diag_lab"
RESTART: Final = "then restart JupyterLab"


class Result(NamedTuple):
    """What was found, and the command that mends it; '' where nothing is wrong."""

    text: str
    remedy: str = ""


def findings() -> Iterator[Result]:
    """Yield what is found in this environment, of the kernels' side and of JupyterLab's."""
    yield Result(f"Python {sys.version.split()[0]}, {sys.executable}")
    yield from _versions()
    yield _dask()
    yield from _jupyter()
    yield from _runtime()


def _versions() -> Iterator[Result]:
    found = [f"dask_diag_lab {metadata.version('dask_diag_lab')}"]
    for needed in map(Requirement, metadata.requires("dask_diag_lab") or ()):
        if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
            continue
        try:
            version = metadata.version(needed.name)
        except metadata.PackageNotFoundError:
            version = ""
        if version and needed.specifier.contains(version, prereleases=True):
            found.append(f"{needed.name} {version}")
        else:
            remedy = f'{sys.executable} -m pip install "{needed}"'
            yield Result(f"{needed.name} is {version or 'missing'}; needed is {needed}", remedy)
    yield Result(", ".join(found))


def _dask() -> Result:
    import dask
    import distributed  # noqa: F401  # its import loads its defaults

    if PRELOAD not in (dask.config.get("distributed.client.preload") or ()):
        other = _preload_source()
        remedy = (
            f"add {PRELOAD} to it there" if other else f"{sys.executable} -m dask_diag_lab enable"
        )
        where = f": {other} sets distributed.client.preload" if other else ""
        return Result(f"Dask does not run {PRELOAD} with each client{where}", remedy)
    if not dask.config.get("diag-lab.auto-attach", True):
        remedy = "set it to true, or call dask_diag_lab.attach() in the notebook"
        return Result("diag-lab.auto-attach is false in Dask's configuration", remedy)
    return Result(f"Dask runs {PRELOAD} with each client, as {_preload_source()} says")


def _preload_source() -> str:
    """Return what decides Dask's preloads for clients, '' where nothing names any."""
    import dask

    sources: list[Any] = [*dask.config.collect_yaml(dask.config.paths, return_paths=True)]
    name = "DASK_DISTRIBUTED__CLIENT__PRELOAD"
    sources.append((f"the environment variable {name}", dask.config.collect_env()))
    for source, config in reversed(sources):
        if dask.config.get("distributed.client.preload", None, config) is not None:
            return str(source)
    return ""


def enable() -> str:
    """Have Dask run the preload with each client of this user; return what was done.

    Raises
    ------
    FileExistsError
        Another file names the preloads, or the file is there; the text says what to add.
    """
    import dask

    found = _dask()
    if not found.remedy:
        return found.text
    own = Path(dask.config.PATH)
    file = own if own.is_file() else own / "dask_diag_lab.yaml"
    text = Path(__file__).with_name("dask_diag_lab.yaml").read_text(encoding="utf-8")
    text = text[text.index("distributed:\n") : text.index("\ndiag-lab:\n")]
    if _preload_source():
        raise FileExistsError(f"{found.text}; {found.remedy}.")
    if file.exists():
        raise FileExistsError(f"{file} is yours and stays as it is. Add to it:\n{text}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return f"Wrote {file}: Dask runs {PRELOAD} with each new client. Restart the kernels."


def _version_in(file: Path) -> Version | None:
    """Return the version of a Lab extension, npm's or Python's; None where it cannot be read."""
    try:
        return Version(str(json.loads(file.read_bytes())["version"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _jupyter() -> Iterator[Result]:
    """Yield what the JupyterLab of this environment has."""
    import jupyter_core.paths as jupyter
    from jupyter_server.extension.config import ExtensionConfigManager
    from jupyterlab.commands import AppOptions, get_app_info

    bases = (Path(__file__).parents[1], Path(sys.prefix), Path(site.getuserbase()))
    there = next((one for one in bases if (one / "share/jupyter/labextensions" / LAB).exists()), "")
    user = Path(jupyter.jupyter_config_dir())
    places = [Path(path) / LAB / "package.json" for path in jupyter.jupyter_path("labextensions")]
    found = [place for place in places if place.exists()]  # Lab loads the first
    disabled = get_app_info(AppOptions(logger=logging.getLogger(__name__)))["disabled"]
    if not found:
        remedy = f"export JUPYTER_PATH={there}/share/jupyter, {RESTART}" if there else INSTALL
        yield Result("The Lab extension is not where Jupyter looks", remedy)
    elif off := [name for name in NEEDED if name in disabled]:
        file = user / "labconfig/page_config.json"
        level = "user" if file.exists() and LAB in file.read_text() else "sys_prefix"
        remedy = f"jupyter labextension enable --level={level} {off[0]}, {RESTART}"
        yield Result(f"The Lab extension is disabled ({off[0]})", remedy)
    elif _version_in(found[0]) != Version(own := metadata.version("dask_diag_lab")):
        its, folder = _version_in(found[0]) or "damaged", found[0].parent
        remedy = f"remove the folder {folder}" if len(found) > 1 else INSTALL
        text = f"The Lab extension in {folder} is {its}, and dask_diag_lab {own}"
        yield Result(text, f"{remedy}, {RESTART}")
    else:
        without = ", ".join(name for name in disabled if name.startswith(f"{LAB}:"))
        text = f"The Lab extension is in {found[0].parent}"
        yield Result(text + (without and f", without {without}"))
    for path in jupyter.jupyter_config_path():  # the first that names it decides
        manager: Any = ExtensionConfigManager(read_config_path=[path])
        is_enabled = manager.get_jpserver_extensions().get(SERVER)
        levels = {str(user): "--user", jupyter.ENV_CONFIG_PATH[0]: "--sys-prefix"}
        if is_enabled is False:
            level = levels.get(path, "--system")
            remedy = f"jupyter server extension enable {level} {SERVER}, {RESTART}"
            yield Result(f"The server extension is disabled in {path}", remedy)
        elif is_enabled:
            yield Result(f"The server extension is enabled in {path}")
        if is_enabled is not None:
            return
    remedy = f"export JUPYTER_CONFIG_PATH={there}/etc/jupyter, {RESTART}" if there else INSTALL
    yield Result("The server extension is not where Jupyter looks", remedy)


def runtime_folders() -> list[Path]:
    """Return Jupyter's runtime folder here, the usual one, and those given to other processes."""
    from jupyter_core.paths import jupyter_data_dir

    from dask_diag_lab.proxy.sockets import USER_ID
    from dask_diag_lab.server.announce import runtime_dir

    found = [runtime_dir(), Path(jupyter_data_dir(), "runtime")]
    for process in psutil.process_iter(["environ", "uids"]):
        if USER_ID is not None and getattr(process.info["uids"], "real", None) != USER_ID:
            continue
        given = process.info["environ"] or {}
        if folder := given.get("JUPYTER_RUNTIME_DIR"):
            found.append(Path(folder))
        elif folder := given.get("JUPYTER_DATA_DIR"):
            found.append(Path(folder) / "runtime")
    known = dict.fromkeys(found)
    # `is_dir` alone raises where a folder above may not be looked into.
    return [one for one in known if one == found[0] or (os.access(one, os.R_OK) and one.is_dir())]


def _runtime() -> Iterator[Result]:
    from dask_diag_lab.proxy.records import RecordDiscovery

    here, *others = runtime_folders()
    made = next(one for one in (here, *here.parents) if os.access(one, os.F_OK))
    if not made.is_dir() or not os.access(made, os.R_OK | os.W_OK | os.X_OK):
        remedy = f"chmod u+rwx {made}, or set JUPYTER_RUNTIME_DIR to a folder of yours"
        yield Result(f"Jupyter's runtime folder {here} cannot be written", remedy)
        return
    log = logging.getLogger(__name__)  # it is told why a record is not used
    n_used = {one: len(RecordDiscovery(one, log).scan()) for one in (here, *others)}
    yield Result(f"Jupyter's runtime folder is {here}; clusters in it: {n_used[here]}")
    if n_bad := len(list(here.glob("dask-diag-lab-*.json"))) - n_used[here]:
        yield Result(f"Runtime records that cannot be used: {n_bad}", "restart their kernels")
    for other in others:
        if n_used[other]:  # of another Jupyter, or of kernels with another JUPYTER_RUNTIME_DIR
            text = f"A JupyterLab of here does not see {other}; clusters: {n_used[other]}"
            yield Result(f"{text}; both need one JUPYTER_RUNTIME_DIR to see them")
