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
            "Each box is a function, as wide as its share of the time of the workers' threads; "
            "below it stand the functions that it called.\n"
            "- bold outline: your own code; the others are libraries, one colour for each file "
            "or library\n"
            "- striped: in one of several functions, where Dask does not record in which; choose "
            "a task to see more\n"
            "- grey: many narrow boxes in one\n"
            "- click a box: zoom in; click a row above it to get back\n"
            "- drag over the activity on top: one period only\n"
            "- 0 s below it: the first sample that workers had when the plot was opened\n"
            "- opened by a click on a task's block: a button leads to the page of that task\n"
            "- healthy: the widest boxes are the computation you want\n"
            "- wide, with little below: that is where the time goes\n"
            "- wide boxes of pickle, pandas concat or locks: work that can often be avoided\n"
            "- how sure: shares are right; seconds are a lower bound, since a busy worker takes "
            "fewer samples than some hundred a second\n"
            "- how long: workers keep about 17 minutes"
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
            "The picture of Profile, of the threads that talk to the network and manage the "
            "work: those of the workers or of the scheduler.\n"
            "- healthy: a little of everything; loops that wait are left out\n"
            "- a wide box of one function: it holds up all messages of its process; look for "
            "large objects inside the graph, slow plugins, or a great many small tasks\n"
            "- how sure: Dask takes only about one sample a second here, so let it run for "
            "minutes before you trust small boxes; it takes none at all on Python 3.11"
        ),
        stock_title="Individual Profile Server",
        keywords=(
            *("flame graph", "flamegraph", "administrative", "scheduler", "event loop", "tornado"),
            *("slow", "latency", "overhead"),
        ),
        view="profile.profile_server:ProfileServer",
    ),
)
