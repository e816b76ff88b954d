"""Dask's configuration in this process, as far as it may be shown: what is not known stays hidden.

Configuration is where people keep passwords and tokens, so only sections that are named here are
shown, and of these no text that could be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

SECTIONS: Final = (
    *("diag-lab", "array", "dataframe", "optimization"),
    *("distributed.scheduler", "distributed.worker", "distributed.comm", "distributed.deploy"),
    *("distributed.p2p", "distributed.admin", "distributed.diagnostics"),
)
"""Beginnings of the names that are shown."""

_HIDDEN: Final = re.compile(
    r"pass|secret|token|credential|auth|cookie|cert|\bpwd?\b|key\b|private|tls|environ|preload|argv|proxy"
    r"|socks|jupyter|bokeh-application|contact",
    re.IGNORECASE,
)
"""Names that may hold a secret, or code with one."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9 ._%+-]{0,24}")
"""Texts that are words, sizes and durations; a URL, a path or a long random text is none."""


def shown_configuration(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of `config` that may be shown, in their order.

    Parameters
    ----------
    config : mapping
        As ``dask.config.config``: names to values or to mappings of the same kind.
    """
    shown = ((name, _words(value)) for name, value in _leaves(config, ""))
    return sorted((name, words) for name, words in shown if words is not None and _is_open(name))


def _leaves(config: Mapping[str, Any], path: str) -> Iterator[tuple[str, object]]:
    for part, value in config.items():
        name = f"{path}{str(part).replace('_', '-')}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _is_open(name: str) -> bool:
    is_listed = any(name == section or name.startswith(f"{section}.") for section in SECTIONS)
    return is_listed and not _HIDDEN.search(name)


def _words(value: object) -> str | None:
    """Return a value as words, None for one that may not be shown."""
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return None
