"""Controls above one figure, which give way in a small pane and come back when they are asked for.

Knows Bokeh and `look`; what the controls do is their own business.
"""

from __future__ import annotations

from typing import Final

from bokeh.models import Column, Plot
from bokeh.models.ui import UIElement

from dask_diag_lab.views import controls
from dask_diag_lab.views.figure import set_properties
from dask_diag_lab.views.look import Look

LABEL: Final = "Controls"
_CLASS: Final = "controls-opener"

# Over the corner of the picture, and only while the pointer or the focus is in the pane, as its
# toolbar: it takes no height of a row. A finger does not hover.
OPENER_CSS: Final = f"""
.{_CLASS} {{ position: absolute; top: 0; right: 8px; z-index: 1; opacity: 0; }}
:host(:hover) .{_CLASS}, .{_CLASS}:focus-within {{ opacity: 1; }}
@media (hover: none) {{ .{_CLASS} {{ opacity: 1; }} }}
"""
"""Style of what holds `ControlBar.parts`."""


class ControlBar:
    """A bar of controls, and the button that shows it where there is no room for it.

    Attributes
    ----------
    bar : Row
    opener : Toggle
        Pressed while a reader of a small pane wants the controls.
    """

    def __init__(self, look: Look, *parts: UIElement) -> None:
        self.bar = controls.bar(*parts)
        self.opener = controls.toggle(look, LABEL, lambda _: None)
        set_properties(self.opener, css_classes=[_CLASS], visible=False)

    @property
    def parts(self) -> tuple[UIElement, UIElement]:
        """What goes above a figure, into a column that has `OPENER_CSS`."""
        return self.opener, self.bar

    def above(self, plot: Plot) -> Column:
        """Return the root of a view: the bar with a figure below."""
        return Column(
            children=[*self.parts, plot],
            sizing_mode="stretch_both",
            spacing=0,
            stylesheets=[OPENER_CSS],
        )

    @property
    def is_asked_for(self) -> bool:
        """Whether a reader wants the controls where there is no room."""
        return bool(self.opener.active)

    def show(self, *, has_room: bool, is_of_use: bool = True) -> None:
        """Show the controls, or the way to them; neither where they are of no use."""
        set_properties(self.opener, visible=is_of_use and not has_room)
        set_properties(self.bar, visible=is_of_use and (has_room or self.is_asked_for))

    def restyle(self, look: Look) -> None:
        """Apply another look."""
        controls.restyle_controls(self.parts, look)
