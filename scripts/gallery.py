"""Writes docs/plots.md: every plot of the catalogue with its help and its pictures.

Run by ``make pictures`` after the pictures have been taken; without pictures of a plot its text
stands alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from dask_diag_lab.views.registry import GROUPS, PLOTS, Plot  # noqa: E402 - of this checkout

PAGE = ROOT / "docs" / "plots.md"
IMAGES = Path("images") / "plots"

INTRODUCTION = """\
# Every plot, and how to read it

The pictures are of one real run on four worker processes, taken by `make pictures`: it loads and
cleans parts, shuffles and spills arrays, some of its tasks fail, and one worker is killed. This
page is written by the same command from the catalogue, which is also where the help in each pane
and the words in the sidebar come from.
"""

DATA = """\
## The numbers of a plot

What a plot shows is also a table: the button in its pane, or `/plots/<name>.csv` and `.json`, with
`?worker=…`, `?key=…` and the like for plots of one of many. In the notebook that has the client:

```python
import dask_diag_lab, pandas

url, _, token = dask_diag_lab.attach().url.partition("/status?token=")
pandas.read_csv(f"{url}/plots/progress.csv", storage_options={"Authorization": f"token {token}"})
```

`attach().url` is where address and token are found; plots that are there already stay as they are.
Programs send the token as this header. A link with `?token=` is for browsers: it is exchanged for a
cookie, which `read_csv` does not keep. `.json` also has the columns' units and a `note`: what is
left out or late, or why there are no rows; CSV has no place for words.

From another machine, ask the Jupyter server, with Jupyter's own token in the same header:
`<jupyter>/dask-diag-lab/dashboards/<id>/plots/progress.csv`, where `<id>` is `attach().id`.
"""


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
    where = f"`{plot.name}`"
    words = [f"### {plot.title}", "", f"{plot.description} {where}", ""]
    return [*words, *picture(plot), plot.help, ""]


def page() -> str:
    """Return the whole page."""
    lines = [INTRODUCTION]
    for group in GROUPS:
        plots = [plot for plot in PLOTS if plot.group == group]
        if plots:
            lines += [f"## {group}", ""]
            lines += [line for plot in plots for line in section(plot)]
    lines += [DATA]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(PLOTS)} plots written to {PAGE.relative_to(ROOT)}")
