"""Plots of the group Profile: where the time went, line by line."""

from __future__ import annotations

from typing import Final

from dask_diag_lab.views.plot import Plot

PLOTS: Final[tuple[Plot, ...]] = (
    Plot(
        name="profile",
        title="Profile",
        group="Profile",
        description="Which functions the workers' threads spent their time in, as a flame graph.",
        help=(
            "Every worker looks at its threads some hundred times a second while tasks run, and "
            "notes which functions are at work. Each box is a function, as wide as its share of "
            "the time; below it stand the functions that it called. A bold outline is your own "
            "code, the others are libraries; one colour is one file or library. Striped: in one "
            "of several functions, where Dask does not record in which; choose a task to see "
            "more. Grey: many narrow boxes in one. Click a box to zoom in, click a row above to "
            "get back. Drag over the activity on top to see one period only. Healthy: the widest "
            "boxes are the computation you want. Look for wide boxes "
            "with little below them: that is where the time goes. Wide boxes of pickle, pandas "
            "concat or locks are work that can often be avoided. Shares are right; seconds are "
            "a lower bound, since a busy worker samples less often. Workers keep about 17 "
            "minutes."
        ),
        stock_title="Individual Profile",
        keywords=(
            *("flame graph", "flamegraph", "icicle", "hotspot", "slow", "function", "sampling"),
            *("statistical", "stack", "code", "line", "performance"),
        ),
        view="profile.profile:Profile",
    ),
    Plot(
        name="profile-server",
        title="Profile (Event Loops)",
        group="Profile",
        description="What the event loops of the workers or of the scheduler spent their time in.",
        help=(
            "The same picture as Profile, of the threads that talk to the network and manage the "
            "work: the workers' or the scheduler's. Healthy: mostly waiting, or a little of "
            "everything. A wide box of one function holds up all messages of its process: large "
            "objects inside the graph, slow plugins, or a great many small tasks. Dask takes only "
            "about one sample a second here, so let it run for minutes before you trust small "
            "boxes, and it takes none at all on Python 3.11."
        ),
        stock_title="Individual Profile Server",
        keywords=(
            *("flame graph", "flamegraph", "administrative", "scheduler", "event loop", "tornado"),
            *("slow", "latency", "overhead"),
        ),
        view="profile.profile_server:ProfileServer",
    ),
)
