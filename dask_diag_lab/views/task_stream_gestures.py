"""What the hand does on a task stream: drag pans, wheel scrolls rows, Ctrl-wheel zooms time.

Runs in the browser; the server learns of it by the ranges.
"""

from __future__ import annotations

from typing import Final

from bokeh.models import CustomJS, PanTool, Range1d, WheelZoomTool
from bokeh.plotting import figure

_SCROLL_ROWS_JS: Final = """
if (cb_obj.modifiers.ctrl) return
const span = Math.abs(range.start - range.end)
const [least, most] = range.bounds
if (span >= most - least - 1e-9) return
const step = -cb_obj.delta * span / Math.max(plot.inner_height, 1)
const top = Math.min(Math.max(range.end + step, least), most - span)
if (top != range.end) range.setv({start: top + span, end: top})
"""

# Bokeh tells at each plain wheel that Ctrl-wheel would zoom: a hint where the wheel does nothing
# else, a nuisance where it scrolls rows.
_NO_HINT_JS: Final = """
const view = globalThis.Bokeh?.index?.find_one_by_id?.(plot.id)
if (!view?.notify_about || view.is_hushed) return
const tell = view.notify_about.bind(view)
view.is_hushed = true
view.notify_about = (text) => {
  const [least, most] = range.bounds
  if (Math.abs(range.start - range.end) >= most - least - 1e-9) tell(text)
}
"""


def add_gestures(plot: figure, rows: Range1d) -> None:
    """Give a figure its gestures.

    Parameters
    ----------
    plot : figure
    rows : Range1d
        Its y range, top row at the end, with bounds.
    """
    pan = PanTool(dimensions="both")  # the rows' bounds hold them where all of them fit
    zoom = WheelZoomTool(dimensions="width", modifiers={"ctrl": True})
    plot.add_tools(pan, zoom)
    plot.toolbar.active_drag = pan
    plot.toolbar.active_scroll = zoom
    args = {"range": rows, "plot": plot}
    plot.js_on_event("wheel", CustomJS(args=args, code=_SCROLL_ROWS_JS))
    plot.js_on_event("mouseenter", CustomJS(args=args, code=_NO_HINT_JS))
