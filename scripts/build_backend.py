"""The build backend: jupyter_packaging's, with what it lacks.

`jupyter_packaging.build_api` runs ``jlpm install`` and ``jlpm run build:prod`` before setuptools.
It lacks the editable hooks of PEP 660, wants a Node on the machine, builds a wheel without a front
end when `jlpm` is missing, and its ``skip-if-exists`` would install yesterday's build of a changed
checkout.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import editable_data
import lab_build
import node_runtime
from jupyter_packaging import build_api
from setuptools import build_meta

Settings = Mapping[str, str | list[str] | None] | None

prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return setuptools' wishes, and what builds the Lab extension if it must be built."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_lab_requirements()]


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Return the same for an sdist, which carries the built extension."""
    return [*build_meta.get_requires_for_build_sdist(config_settings), *_lab_requirements()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return the same for an editable install."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *_lab_requirements()]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel; its name is returned."""
    _build_lab_extension()
    name: str = build_api.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build the source distribution; its name is returned."""
    _build_lab_extension()
    name: str = build_api.build_sdist(sdist_directory, config_settings)
    return name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of an editable install; its name is returned."""
    _build_lab_extension()
    name: str = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    editable_data.add_data_files(Path(wheel_directory) / name, Path.cwd())
    return name


def _lab_requirements() -> list[str]:
    if lab_build.is_fresh(Path.cwd()):
        return []
    if node_runtime.system_node():
        return [node_runtime.BUILDER_REQUIREMENT]
    return [node_runtime.BUILDER_REQUIREMENT, node_runtime.WHEEL_REQUIREMENT]


def _build_lab_extension() -> None:
    """Run jupyter_packaging's builder unless what is there belongs to these sources."""
    root = Path.cwd()
    if lab_build.is_fresh(root):
        return
    digest = lab_build.fingerprint(root)
    shutil.rmtree(root / lab_build.OUTPUT, ignore_errors=True)
    os.environ["PATH"] = node_runtime.search_path()
    # jupyter_packaging has no public name for its builder; its version is pinned in pyproject.toml.
    builder = build_api._get_build_func()
    builder()
    build_api._ensure_targets()
    lab_build.remember(root, digest)
