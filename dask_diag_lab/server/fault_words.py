"""What a pane says when its view has failed: what happened, what goes on, where to look."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dask_diag_lab.views.registry import Plot


def cannot_be_built(plot: Plot, error: Exception) -> str:
    """Return what is said in the place of a view that could not even begin."""
    return (
        f"“{plot.title}” could not be drawn ({_in_short(error)}). The other plots and the"
        " computation are not affected. It is tried again when the plot is opened again; the log of"
        " the kernel has the details."
    )


def cannot_be_drawn(plot: Plot, error: Exception) -> str:
    """Return what is said while a view's updates fail."""
    return (
        f"“{plot.title}” could not be drawn ({_in_short(error)}). The other plots and the"
        " computation are not affected. It is tried again with the next change; the log of the"
        " kernel has the details."
    )


def cannot_be_done(plot: Plot, error: Exception) -> str:
    """Return what is said after a click or a wish of the page that failed."""
    return (
        f"“{plot.title}” could not do that ({_in_short(error)}). The picture goes on; the log of"
        " the kernel has the details."
    )


def cannot_be_read(plot: Plot, error: Exception) -> str:
    """Return the answer to a request for a table that failed."""
    return f"The data of “{plot.title}” could not be read ({_in_short(error)})."


def _in_short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
