"""Which properties of a model hold a value of its own: the few that are worth a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bokeh.model import Model


def held_names(model: Model) -> set[str]:
    """Return the names of those properties of `model` that may differ from its class's.

    These were set, or come from a theme, or have a default that is made anew for each model. All
    others have plain values that a class shares: Bokeh works them out with each look at them.
    """
    themed = model.themed_values() or {}
    return {*model._property_values, *model._unstable_default_values, *themed}
