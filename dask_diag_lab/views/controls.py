"""Small controls beside a figure, in the colours and font of the page.

Knows Bokeh and `look`; knows nothing of the store or of any one plot. No control runs a script of
its own in the page: what one does is a Python callable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from bokeh.models.layouts import Row
from bokeh.models.ui import UIElement
from bokeh.models.widgets import (
    AutocompleteInput,
    Button,
    Div,
    InputWidget,
    RadioButtonGroup,
    Select,
    TextInput,
    Toggle,
)

from dask_diag_lab.views.figure import set_properties, smaller
from dask_diag_lab.views.look import Look
from dask_diag_lab.views.palette import mixed
from dask_diag_lab.views.pane_size import CHARACTER_PX

HEIGHT_PX: Final = 26
"""Height of every control: enough for a pointer, little beside a picture."""

Options = Sequence[str | tuple[str, str]]
Styled = InputWidget | Button | Toggle | RadioButtonGroup | Div


def select(
    look: Look,
    title: str,
    options: Options,
    value: str,
    on_change: Callable[[str], None],
    *,
    width: int = 150,
) -> Select:
    """Return a list to choose one of.

    Parameters
    ----------
    look : Look
    title : str
        What is chosen, shown in front; '' for none.
    options : sequence of str, or of (value, words)
    value : str
        What is chosen now.
    on_change : callable
        Takes the new value. It is called as well when code sets ``value``.
    width : int
        Pixels of the list itself; it gives way in a narrow pane.
    """
    sizes = _sizes(select_width(title, width))
    made = Select(title=title, options=list(options), value=value, **sizes)
    made.on_change("value", _changed(on_change))
    _style(made, look)
    return made


def select_width(title: str, width: int) -> int:
    """Return the width of a `select` whose list has that of ``width``, in pixels."""
    return width + (round(len(title) * CHARACTER_PX) + _LABEL_GAP_PX if title else 0)


def text_input(
    look: Look,
    placeholder: str,
    on_change: Callable[[str], None],
    *,
    completions: Sequence[str] | None = None,
    value: str = "",
    width: int = 150,
) -> TextInput:
    """Return a field for text; with ``completions`` it suggests those that contain the text.

    ``on_change`` takes the text once the reader has pressed Enter or left the field. With
    completions anything else may be written as well.
    """
    kind = TextInput if completions is None else AutocompleteInput
    more: dict[str, Any] = {}  # options of a Bokeh model have no common type
    if completions is not None:
        more = {
            "completions": list(completions),
            "restrict": False,
            "case_sensitive": False,
            "search_strategy": "includes",
            "min_characters": 1,
            "max_completions": 12,
        }
    made = kind(placeholder=placeholder, value=value, **more, **_sizes(width))
    made.on_change("value", _changed(on_change))
    _style(made, look)
    return made


def button(look: Look, label: str, on_click: Callable[[], None]) -> Button:
    """Return a button that calls ``on_click``."""
    made = Button(label=label, **_sizes(None))
    made.on_click(lambda _event: on_click())
    _style(made, look)
    return made


def toggle(
    look: Look, label: str, on_change: Callable[[bool], None], *, is_active: bool = False
) -> Toggle:
    """Return a button that stays pressed; ``on_change`` takes whether it is."""
    made = Toggle(label=label, active=is_active, **_sizes(None))
    made.on_change("active", _changed(on_change))
    _style(made, look)
    return made


def choice(
    look: Look, labels: Sequence[str], active: int, on_change: Callable[[int], None]
) -> RadioButtonGroup:
    """Return buttons of which one is pressed; ``on_change`` takes its index."""
    made = RadioButtonGroup(labels=list(labels), active=active, **_sizes(None))
    made.on_change("active", _changed(on_change))
    _style(made, look)
    return made


def words(look: Look, text: str = "") -> Div:
    """Return quiet text for a `bar`; set it by ``text`` alone: it is never read as HTML."""
    made = Div(text=text, render_as_text=True, margin=0, visible=bool(text))
    _style(made, look)
    return made


def bar(*models: UIElement) -> Row:
    """Return a quiet row for above a figure; its parts wrap when it is narrow.

    Put it with the figure into ``Column(bar, figure, sizing_mode="stretch_both", spacing=0)``.
    `restyle_controls` of the row styles all that is in it.
    """
    return Row(
        children=list(models),
        spacing=0,
        margin=0,
        sizing_mode="stretch_width",
        min_width=0,
        stylesheets=[_BAR_CSS],
    )


def bar_px(row: Row, width: int) -> int:
    """Return how high a `bar` of controls with a width of their own is, when it is shown.

    It depends on the width of the whole alone: the parts wrap as the browser wraps them.
    """
    lines, end = 1, 0
    for part in row.children:
        if isinstance(part, Styled) and part.visible:
            part_px = int(part.width or 0)
            is_new = end > 0 and end + _GAP_PX[1] + part_px > width - 2 * _EDGE_PX[1]
            lines += is_new
            end = part_px if is_new or not end else end + _GAP_PX[1] + part_px
    return lines * (HEIGHT_PX + _GAP_PX[0]) - _GAP_PX[0] + 2 * _EDGE_PX[0]


def restyle_controls(models: Iterable[UIElement], look: Look) -> None:
    """Give controls the colours and font of ``look``; a `bar` passes it on to its parts."""
    for model in models:
        if isinstance(model, Row):
            restyle_controls(model.children, look)
        elif isinstance(model, (InputWidget, Button, Toggle, RadioButtonGroup, Div)):
            _style(model, look)


_LABEL_GAP_PX: Final = 5

_GAP_PX: Final = (4, 6)
_EDGE_PX: Final = (3, 8)
"""Of a bar: upright, and sideways."""

_BAR_CSS: Final = f"""
:host {{
  flex-wrap: wrap; align-items: center; gap: {_GAP_PX[0]}px {_GAP_PX[1]}px;
  padding: {_EDGE_PX[0]}px {_EDGE_PX[1]}px; container-type: inline-size;
}}
"""

_CSS: Final = """
:host {{
  --color: {foreground}; --background-color: {background}; --border-color: {edge};
  --surface-background-color: {hover}; --placeholder-color: {muted};
  max-width: 100%;
  font: {font_size} {font}; color: {foreground};
  font-variant-numeric: tabular-nums;
}}
label {{
  color: {muted}; padding: 0 {gap}px 0 0; font: inherit; white-space: nowrap; flex: none;
}}
@container (max-width: 300px) {{
  label {{ position: absolute; width: 1px; overflow: hidden; clip-path: inset(50%); }}
}}
.bk-input-group {{ flex-direction: row; align-items: center; }}
.bk-input-container {{ min-width: 0; }}
.bk-input, .bk-btn {{
  box-sizing: border-box; height: {height}px; min-height: 0; min-width: 0; margin: 0;
  padding: 0 8px; border: 1px solid {edge}; border-radius: 3px; box-shadow: none;
  background-color: {background}; color: {foreground};
  font: inherit; line-height: {line}px; text-overflow: ellipsis;
}}
.bk-input::placeholder {{ color: {muted}; opacity: 1; }}
select.bk-input:not([multiple]) {{
  padding-right: 20px; cursor: pointer;
  background-image: linear-gradient(45deg, transparent 50%, {muted} 50%),
    linear-gradient(-45deg, transparent 50%, {muted} 50%);
  background-position: right 11px center, right 7px center;
  background-size: 4px 4px, 4px 4px; background-repeat: no-repeat;
}}
option {{ background-color: {background}; color: {foreground}; }}
.bk-btn:hover, .bk-input:hover {{ background-color: {hover}; border-color: {muted}; }}
.bk-btn.bk-active {{
  box-shadow: none;
  background-color: {pressed}; border-color: {accent}; color: {foreground}; font-weight: 600;
}}
.bk-btn[disabled], .bk-input[disabled] {{ opacity: 0.5; background-color: {background}; }}
.bk-btn:focus-visible, .bk-input:focus-visible {{
  outline: 2px solid {accent}; outline-offset: -1px; box-shadow: none;
}}
.bk-btn-group {{ height: {height}px; }}
.bk-menu {{
  box-sizing: border-box; min-width: 100%; width: max-content; max-width: 360px;
  max-height: 260px; overflow: auto;
  background-color: {background}; color: {foreground}; border: 1px solid {edge};
  font: inherit; box-shadow: 0 2px 8px rgba(0, 0, 0, 0.3);
}}
.bk-menu > div {{ overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
.bk-menu > :hover, .bk-menu > .bk-active {{ background-color: {pressed}; }}
.bk-clearfix {{ color: {muted}; line-height: {height}px; overflow-wrap: anywhere; }}
"""


def controls_css(look: Look) -> str:
    """Return the style of all controls; for a widget that this module does not make."""
    edge = 0.0 if look.name == "high-contrast" else 0.7
    return _CSS.format(
        foreground=look.foreground,
        background=look.background,
        muted=look.muted,
        accent=look.accent,
        font=look.font,
        font_size=smaller(look.font_size),
        edge=mixed(look.muted, look.grid, edge),
        hover=mixed(look.background, look.foreground, 0.06),
        pressed=mixed(look.background, look.accent, 0.25),
        height=HEIGHT_PX,
        line=HEIGHT_PX - 2,
        gap=_LABEL_GAP_PX,
    )


def _style(model: Styled, look: Look) -> None:
    set_properties(model, stylesheets=[controls_css(look)])


def _sizes(width: int | None) -> dict[str, Any]:  # options of a Bokeh model have no common type
    return {"height": HEIGHT_PX, "width": width, "min_width": 0, "margin": 0}


def _changed(call: Callable[[Any], None]) -> Callable[[str, Any, Any], None]:
    """Return a Bokeh handler, which gets the property's name and its old value as well."""
    return lambda _attribute, _old, new: call(new)
