"""A line of radio buttons below a figure, made of a legend: no widget scripts have to be loaded.

Knows Bokeh and the look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bokeh.models import ColumnDataSource, Scatter
from bokeh.models.annotations import Legend, LegendItem
from bokeh.plotting import figure

from dask_diag_lab.views.figure import add_glyph, set_properties
from dask_diag_lab.views.look import Look


class FormSwitch:
    """One of several words is chosen by a click.

    Parameters
    ----------
    plot : figure
    labels : sequence of str
    on_choose : callable
        Takes the index of the word that was clicked.
    """

    def __init__(
        self, plot: figure, labels: Sequence[str], on_choose: Callable[[int], None]
    ) -> None:
        nowhere = ColumnDataSource({"x": [float("nan")], "y": [float("nan")]})
        self._renderers = [
            add_glyph(plot, nowhere, Scatter(x="x", y="y", size=8, marker="circle")) for _ in labels
        ]
        self._chosen = 0
        self._on_choose = on_choose
        self.legend = Legend(
            orientation="horizontal",
            location="left",
            visible=False,
            margin=0,
            spacing=10,
            label_standoff=2,
            glyph_width=14,
            glyph_height=14,
            label_height=11,
            click_policy="mute",
            inactive_fill_alpha=0,
        )
        items = []
        for at, (label, renderer) in enumerate(zip(labels, self._renderers, strict=True)):
            item = LegendItem(label=label, index=0)
            item.update(renderers=[renderer])
            items.append(item)
            renderer.on_change("muted", self._clicked(at))
        self.legend.update(items=items, padding=0)
        plot.add_layout(self.legend, "below")

    def _clicked(self, at: int) -> Callable[[str, bool, bool], None]:
        def clicked(_attribute: str, _old: bool, new: bool) -> None:
            if new:
                # A click mutes, which is how it is heard of; the next one has to mute again.
                self._renderers[at].muted = False
                self._on_choose(at)

        return clicked

    def show(self, *, is_shown: bool, chosen: int) -> None:
        """Show or hide the line, with one word chosen."""
        self._chosen = chosen
        set_properties(self.legend, visible=is_shown)
        self._mark()

    def restyle(self, look: Look) -> None:
        """Apply another look."""
        self._look = look
        self._mark()

    def _mark(self) -> None:
        for at, renderer in enumerate(self._renderers):
            fill = self._look.accent if at == self._chosen else None
            set_properties(renderer.glyph, fill_color=fill, line_color=self._look.muted)
