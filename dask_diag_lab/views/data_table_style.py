"""How a table looks: the style sheet of Bokeh's grid in the colours and font of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dask_diag_lab.views.figure import smaller
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import mixed

ROW_PX: Final = 24

_CSS: Final = """
:host {{ --data-table-font-size: {font_size}; background: {background}; }}
.bk-data-table {{
  font: {font_size} {font}; color: {foreground}; background: {background};
  font-variant-numeric: tabular-nums;
}}
.slick-header-columns {{ background: {background}; border-bottom: 1px solid {muted}; }}
.slick-header-column, .slick-header-column.ui-state-default {{
  background: {background}; color: {muted}; border: 0; font-weight: 600;
}}
.slick-header-column:hover, .slick-header-column-active,
.slick-header-column.slick-header-column-sorted {{
  background: {background}; color: {foreground};
}}
{right} {{ float: right; }}
{right_sign} {{ float: right; margin-right: 4px; }}
.slick-viewport, .grid-canvas, .slick-pane {{ background: {background}; }}
.slick-row, .slick-row.odd {{ background: {background}; }}
.slick-row:hover .slick-cell {{ background: {hover}; }}
.slick-cell, .slick-cell.bk-cell-index {{
  border: 0; border-bottom: 1px solid {grid}; background: {background};
  color: {foreground}; padding: 1px 6px; line-height: 21px;
  box-sizing: border-box; height: {row}px;
}}
.slick-cell > div {{ overflow: hidden; text-overflow: ellipsis; }}
.slick-cell > .ddl-ends {{ display: flex; }}
.ddl-ends > span {{ white-space: pre; flex: none; }}
.ddl-ends > :first-child {{
  flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis;
}}
.slick-cell.selected {{ background: {hover}; }}
.slick-cell.active {{ border: 0; border-bottom: 1px solid {accent}; }}
{frozen} {{ border-right: 1px solid {muted}; box-sizing: border-box; }}
/* A bar that moves nothing: it keeps the room that the other pane's takes, so that rows align. */
{frozen} .slick-viewport {{ scrollbar-color: transparent transparent; }}
"""


def table_css(look: Look, is_text: Sequence[bool], frozen: int) -> str:
    """Return the style sheet of a table.

    Parameters
    ----------
    look : Look
    is_text : sequence of bool
        For each column; headers of the others stand at the right, over their numbers.
    frozen : int
        Columns in the pane that does not scroll sideways.
    """
    right = [
        f".slick-header-columns-{'left' if not frozen or at < frozen else 'right'} "
        f".slick-header-column:nth-child({at + 1 - (frozen if frozen and at >= frozen else 0)})"
        for at, is_left in enumerate(is_text)
        if not is_left
    ]
    return _CSS.format(
        foreground=look.foreground,
        background=look.background,
        muted=look.muted,
        grid=look.grid,
        accent=look.accent,
        hover=mixed(look.background, look.accent, 0.14),
        font=look.font,
        font_size=smaller(look.font_size),
        row=ROW_PX,
        right=", ".join(f"{header} .slick-column-name" for header in right) or ".none",
        right_sign=", ".join(f"{header} .slick-sort-indicator" for header in right) or ".none",
        frozen=".slick-pane-left" if frozen else ".none",
    )
