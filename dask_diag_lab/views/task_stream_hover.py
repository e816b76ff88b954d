"""What a task stream says about the rectangle under the pointer, written by the browser.

Names are sent once and looked up here: a rectangle itself carries only small numbers.
"""

from __future__ import annotations

from typing import Any, Final

from bokeh.models import ColumnDataSource, CustomJSHover, HoverTool, Range1d
from bokeh.models.renderers import GlyphRenderer

from dask_diag_lab.views.figure import quiet_hover
from dask_diag_lab.views.look import Look

LINES: Final = (
    "@left{title}",
    "@left{when}",
    "@left{where}",
    "@left{size}",
    "@left{key}",
)

_JS: Final = """
const i = special_vars.index
const data = source.data
const at = (name, otherwise) => name in data ? data[name][i] : otherwise
const text = (id) => { const k = texts.data.id.indexOf(id); return k < 0 ? "" : texts.data.text[k] }
const short = (x) => x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2)
const span = (s) => {
  if (s < 1e-3) return short(s * 1e6) + " µs"
  if (s < 1) return short(s * 1e3) + " ms"
  if (s < 60) return short(s) + " s"
  const m = Math.floor(s / 60)
  if (m < 60) return m + " min " + Math.floor(s % 60) + " s"
  return Math.floor(m / 60) + " h " + m % 60 + " min"
}
const bytes = (n) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
  let k = 0
  while (n >= 999.5 && k < 5) { n /= 1024; k += 1 }
  return (k == 0 ? n.toFixed(0) : short(n)) + " " + units[k]
}
const clock = (s) => {
  const t = new Date(s * 1000)
  const two = (x) => String(x).padStart(2, "0")
  return two(t.getHours()) + ":" + two(t.getMinutes()) + ":" + two(t.getSeconds())
    + "." + String(t.getMilliseconds()).padStart(3, "0")
}
const kinds = ["", "transfer for ", "disk read for ", "disk write for ", "unpack "]
const zero = facts.data.zero[0]
const left = data.left[i], right = data.right[i]
const count = at("count", 1)
const busy = at("busy", right - left)
const kind = kinds[at("kind", 0)]
switch (format) {
  case "title": {
    const name = text(at("prefix", 0))
    if (count > 1) return count.toLocaleString("en") + " " + what + ", longest: " + kind + name
    return kind + name + suffix
  }
  case "when": {
    if (what == "worker") return "since " + clock(zero + left)
    if (count > 1) return span(busy) + " of work in " + span(right - left) + ", zoom in to see each"
    const share = 100 * busy / Math.max(Math.abs(range.end - range.start), 1e-12)
    return span(busy) + " · " + (share < 0.1 ? "<0.1" : share.toFixed(share < 10 ? 1 : 0))
      + " % of the window · started " + clock(zero + left)
  }
  case "where": {
    const lane = data.lane[i]
    const name = workers.data.label[lanes.data.worker[lane]]
    return what == "worker" ? name : name + " · thread " + (lanes.data.slot[lane] + 1)
  }
  case "size": {
    const n = at("nbytes", -1), from = text(at("source", 0))
    if (count > 1 || n < 0) return from && count == 1 ? "from " + from : ""
    return from ? bytes(n) + " from " + from : "result: " + bytes(n)
  }
  case "key": {
    if ("key" in data) return data.key[i]
    const task = at("task", -1)
    const k = task < 0 ? -1 : keys.data.task.indexOf(task)
    return k < 0 ? "" : keys.data.key[k]
  }
}
return ""
"""

_WORKER_TITLE: Final = """if (format == "title") return "worker left"
if (format == "size" || format == "key") return ""
"""


def hover_of(
    renderer: GlyphRenderer[Any],  # of any glyph
    look: Look,
    tables: dict[str, ColumnDataSource],
    x_range: Range1d,
    what: str,
    suffix: str = "",
) -> HoverTool:
    """Return the hover tool of one class of rectangles.

    Parameters
    ----------
    renderer : GlyphRenderer
    look : Look
    tables : dict of str to ColumnDataSource
        ``texts``, ``keys``, ``lanes``, ``workers`` and ``facts``.
    x_range : Range1d
    what : str
        What several of them are: ``"tasks"``; ``"worker"`` for the bands of workers that left.
    suffix : str
        Added to the name of a single one, for example ``" · failed"``.
    """
    code = f"const what = {what!r}, suffix = {suffix!r}\n"
    code += (_WORKER_TITLE if what == "worker" else "") + _JS
    args = {"source": renderer.data_source, "range": x_range, **tables}
    return quiet_hover(
        look,
        *LINES,
        renderers=[renderer],
        formatters={"@left": CustomJSHover(args=args, code=code)},
    )
