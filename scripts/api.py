"""Writes docs/api.md: every public name with its docstring; run by ``make pictures``."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import dask_diag_lab

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
INTRO = """# Names that programs use

All of them are in `dask_diag_lab`; importing it is cheap. What `distributed` has under the same
name takes the same arguments and returns the same: changing the import is enough.
"""
_HEADING = re.compile(r"^(\w[\w ]+)\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}[\w, ]+?)(?: : (.+))?$")


def described(docstring: str) -> str:
    """Return a NumPy docstring as Markdown."""
    first, *rest = _HEADING.split(inspect.cleandoc(docstring))
    parts = [first.strip()]
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        text = body.strip("\n")
        is_list = heading in ("Parameters", "Attributes", "Raises", "Returns")
        parts += [f"**{heading}**", entries(text) if is_list else fenced(text)]
    return "\n\n".join(parts).replace("``", "`")


def entries(body: str) -> str:
    """Return the entries of a section as a list."""
    lines: list[str] = []
    for line in body.splitlines():
        found = _ENTRY.fullmatch(line)
        if found is not None and not line.startswith(" "):
            kind = f" ({found[2]})" if found[2] else ""
            lines.append(f"- `{found[1]}`{kind}")
        else:
            lines.append(f"  {line.strip()}".rstrip())
    return "\n".join(lines)


def fenced(body: str) -> str:
    """Return examples as code, and other text as it is."""
    code = "\n".join(line.removesuffix("  # doctest: +SKIP") for line in body.splitlines())
    return f"```python\n{code}\n```" if body.startswith(">>>") else body


def section(name: str, thing: Any) -> list[str]:  # any public object
    """Return the lines about one name, of a class with its public methods."""
    lines = [f"## {name}", "", f"`{name}{signature(thing)}`", "", described(thing.__doc__), ""]
    if inspect.isclass(thing):
        for method, value in vars(thing).items():
            told = getattr(value, "__doc__", None)
            if method.startswith("_") or not told or not callable(value):
                continue
            lines += [f"### {name}.{method}", "", f"`{method}{signature(value)}`", ""]
            lines += [described(told), ""]
    return lines


def signature(thing: Any) -> str:  # any public object
    """Return what it is called with; the types stand with the parameters. Plots make themselves."""
    if inspect.isclass(thing) and issubclass(thing, dask_diag_lab.View):
        return ""
    parameters = [
        one.replace(annotation=inspect.Parameter.empty)
        for one in inspect.signature(thing).parameters.values()
        if one.name != "self"
    ]
    return str(inspect.Signature(parameters))


def page() -> str:
    """Return the whole page."""
    lines = [INTRO]
    for name in sorted(dask_diag_lab.__all__, key=str.lower):
        thing = getattr(dask_diag_lab, name)
        if callable(thing):
            lines += section(name, thing)
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
