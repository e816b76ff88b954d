"""Text that comes from the cluster, such as a traceback or a log: never read as markup."""

from __future__ import annotations

from typing import Final

from bokeh.models.widgets import Div

from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import Look

_CSS: Final = """
:host {{ overflow: auto; background: {background}; border-top: 1px solid {grid}; }}
.bk-clearfix {{
  white-space: pre-wrap; overflow-wrap: anywhere; padding: 4px 8px; user-select: text;
  font: calc({font_size} - 1px) ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color: {foreground}; tab-size: 4;
}}
"""


def text_pane(look: Look) -> Div:
    """Return an empty pane of text, which is not visible."""
    pane = Div(render_as_text=True, disable_math=True, sizing_mode="stretch_both", margin=0)
    pane.update(min_width=0, min_height=0, visible=False)
    restyle_text_pane(pane, look)
    return pane


def restyle_text_pane(pane: Div, look: Look) -> None:
    """Give the text the colours and size of ``look``."""
    set_properties(pane, stylesheets=[_CSS.format(**look.style)])
