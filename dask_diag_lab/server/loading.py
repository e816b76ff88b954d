"""What is loaded before the first plot is asked for, beside the loop; touches nothing of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dask_diag_lab.views.registry import Plot

logger = logging.getLogger(__name__)


def load_plots(plots: Sequence[Plot]) -> None:
    """Import what drawing needs, and have Bokeh note what its classes hold."""
    import dask_diag_lab.server.application
    import dask_diag_lab.server.sessions  # noqa: F401

    for plot in plots:
        try:
            plot.load()
        except Exception as error:  # noqa: BLE001  # its own pane says so; the others go on
            logger.warning("Plot %s cannot be loaded: %s", plot.name, error)
    _look_at_classes()


def _look_at_classes() -> None:
    """Have Bokeh look through each class now, which it else does when a plot is first opened."""
    from bokeh.model import Model

    for kind in list(Model.model_class_reverse_map.values()):
        kind.properties(_with_props=True)
        kind.properties_with_refs()
