"""The build backend: jupyter_packaging's, with what it lacks.

`jupyter_packaging.build_api` runs ``jlpm install`` and ``jlpm run build:prod`` before setuptools.
It lacks the editable hooks of PEP 660, wants a Node on the machine, and its ``skip-if-exists``
would install yesterday's build of a changed checkout.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sysconfig
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import lab_build
import node_runtime
from jupyter_packaging import build_api
from setuptools import build_meta

Settings = Mapping[str, str | list[str] | None] | None

prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


# Arguments of these hooks go by name: PEP 517 fixes them.
def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:  # noqa: ARG001
    """Return what builds the front end, if it must be built."""
    if lab_build.is_fresh(Path.cwd()):
        return []
    builder = "jupyter_builder>=1.2"  # brings `jlpm` and `jupyter-builder`
    return [builder] if node_runtime.system_node() else [builder, node_runtime.WHEEL_REQUIREMENT]


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel; its name is returned."""
    _build_front_end()
    # Setuptools would pack what is left there of an earlier build: modules that were deleted since.
    shutil.rmtree(Path("build", "lib"), ignore_errors=True)
    name: str = build_api.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build the source distribution, which carries the built front end; its name is returned."""
    _build_front_end()
    name: str = build_api.build_sdist(sdist_directory, config_settings)
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of an editable install; its name is returned."""
    _build_front_end()
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    _add_data_files(Path(wheel_directory) / name)
    return name


def _build_front_end() -> None:
    """Run jupyter_packaging's builder unless what is there belongs to these sources.

    Raises
    ------
    FileNotFoundError
        Neither the machine nor the wheel has a Node that is new enough.
    """
    root = Path.cwd()
    if lab_build.is_fresh(root):
        return
    node = node_runtime.find()
    if node is None:
        msg = (
            "Node.js 20.19 or 22.12 (or newer) is needed to build the Lab extension and was not "
            f'found. Run: python -m pip install "{node_runtime.WHEEL_REQUIREMENT}"'
        )
        raise FileNotFoundError(msg)
    digest = lab_build.fingerprint(root)
    # Chunks of an earlier build have other names, and would stay.
    for folder in {path.parent for path in lab_build.outputs(root)}:
        shutil.rmtree(folder, ignore_errors=True)
    folders = [str(node.parent), sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    os.environ["PATH"] = os.pathsep.join(folders)
    # jupyter_packaging has no public name for its builder; its version is pinned in pyproject.toml.
    build_api._get_build_func()()
    build_api._ensure_targets()
    lab_build.remember(root, digest)


def _add_data_files(wheel: Path) -> None:
    """Write ``[tool.setuptools.data-files]`` into an editable wheel, where setuptools drops them.

    Without them neither Jupyter nor Dask would find a checkout that is installed in place.
    """
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    data_files = project["tool"]["setuptools"]["data-files"].items()
    name, version = wheel.name.split("-")[:2]
    record_name = f"{name}-{version}.dist-info/RECORD"
    with zipfile.ZipFile(wheel) as archive:
        contents = {entry: archive.read(entry) for entry in archive.namelist()}
    record = contents.pop(record_name).decode()
    for target, patterns in data_files:
        for source in sorted(path for pattern in patterns for path in Path().glob(pattern)):
            content = source.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            entry = f"{name}-{version}.data/data/{target}/{source.name}"
            record += f"{entry},sha256={digest.decode()},{len(content)}\n"
            contents[entry] = content
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in {**contents, record_name: record.encode()}.items():
            archive.writestr(entry, content)
