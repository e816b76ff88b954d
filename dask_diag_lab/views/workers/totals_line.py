"""Totals above a table, a quiet name over each number; scrolling sideways when narrow.

Knows Bokeh and the look; what is counted comes from the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from bokeh.models.widgets import Div

from dask_diag_lab.views.figure import set_properties, smaller
from dask_diag_lab.views.look import Look

_CSS: Final = """
:host {{ container-type: inline-size; overflow: auto hidden; background: {background};
  scrollbar-width: none; padding-bottom: 6px;
  mask-image: linear-gradient(to right, black calc(100% - 24px), transparent); }}
.totals {{ display: flex; width: max-content; white-space: nowrap; padding: 4px 24px 2px 0;
  font: {font_size} {font}; color: {foreground}; font-variant-numeric: tabular-nums; }}
.total {{ padding: 0 12px 0 6px; }}
.total span {{ display: block; color: {muted}; font-size: {small}; }}
.total b {{ font-weight: 600; }}
/* In a narrow pane: what fades goes on, and nothing fades all the way to the right. */
@container (width >= 700px) {{ .totals {{ flex-wrap: wrap; row-gap: 4px; width: auto; }} }}
"""


class TotalsLine:
    """Totals by name.

    Attributes
    ----------
    model : Div
    """

    def __init__(self, look: Look) -> None:
        self.model = Div(text="", sizing_mode="stretch_width", margin=0, min_width=0)
        self.restyle(look)

    def set(self, totals: Sequence[tuple[str, str]]) -> None:
        """Show pairs of name and number; no pairs hide the line."""
        parts = [
            f'<div class="total"><span>{escape(name)}</span><b>{escape(value)}</b></div>'
            for name, value in totals
        ]
        text = f'<div class="totals">{"".join(parts)}</div>'
        set_properties(self.model, text=text, visible=bool(parts))

    def restyle(self, look: Look) -> None:
        """Apply another look."""
        css = _CSS.format(
            foreground=look.foreground,
            background=look.background,
            muted=look.muted,
            font=look.font,
            font_size=look.font_size,
            small=smaller(look.font_size),
        )
        set_properties(self.model, stylesheets=[css])
