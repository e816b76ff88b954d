"""Writes every plot of the catalogue, with its help and its pictures, to docs/plots.md.

Run by ``make pictures`` after the pictures have been taken; without pictures of a plot its text
stands alone.
"""

from __future__ import annotations

from pathlib import Path

from dask_diag_lab.views.registry import GROUPS, Plot, built_in_plots

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "plots.md"
IMAGES = Path("images") / "plots"
BEGIN, END = "<!-- plots -->", "<!-- end of plots -->"


def picture(plot: Plot) -> list[str]:
    """Return the lines that show a plot's picture in the reader's colours."""
    light, dark = IMAGES / f"{plot.name}.png", IMAGES / f"{plot.name}-dark.png"
    if not (PAGE.parent / light).exists():
        return []
    return [
        "<picture>",
        f'<source media="(prefers-color-scheme: dark)" srcset="{dark.as_posix()}">',
        f'<img alt="{plot.title}" src="{light.as_posix()}">',
        "</picture>",
        "",
    ]


def section(plot: Plot) -> list[str]:
    """Return the lines about one plot."""
    text = [f"### {plot.title}", "", f"{plot.description} `{plot.name}`", ""]
    return [*text, *picture(plot), plot.help, ""]


def sections() -> str:
    """Return what is between the marks of the page."""
    lines = [""]
    for group in GROUPS:
        plots = [plot for plot in built_in_plots() if plot.group == group]
        if plots:
            lines += [f"## {group}", ""]
            lines += [line for plot in plots for line in section(plot)]
    return "\n".join(lines)


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    text = f"{before}{BEGIN}\n{sections()}\n{END}{rest.partition(END)[2]}"
    PAGE.write_text(text, encoding="utf-8")
    print(f"{len(built_in_plots())} plots written to {PAGE.relative_to(ROOT)}")
