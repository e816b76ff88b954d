"""A plot of your own: which workers do most of the work, as bars that fill up live.

Paste it into a notebook: the plot is in JupyterLab's Dask sidebar, under "Yours", for each client
that the notebook has or makes. Run it as a script, and it makes a cluster of its own to show. See
docs/home-made.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from dask_diag_lab import BarPlot, Column, Part, register_plot


@register_plot
class BusyThreads(BarPlot):
    """Tasks that run on each worker now."""

    name = "busy-threads"
    title = "Busy threads"
    description = "How many tasks each worker runs now."
    help = "Healthy: all bars alike. A short one is a worker that has too little to do."
    keywords = ("load", "balance")

    columns = (Column("name", "Worker"), Column("tasks", "Tasks at work", "count"))
    parts = (Part("tasks"),)
    noun = "worker"
    empty = "No worker is here. Add some with cluster.scale(2)."

    def rows(self) -> Mapping[str, Any]:
        workers = self.history.workers
        return {"name": list(workers.name), "tasks": workers.executing}

    def headline(self) -> str:
        return f"{self.history.workers.executing.sum()} tasks at work"


def main() -> None:
    """Show it with a cluster that has something to do."""
    from distributed import Client, LocalCluster

    import dask_diag_lab

    with (
        LocalCluster(n_workers=4, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        status = dask_diag_lab.attach(client).url
        print("Open", status.replace("/status", "/plots/busy-threads"))
        client.gather(client.map(lambda n: time.sleep(0.2 + n % 7 / 10), range(800)))


if __name__ == "__main__" and "__file__" in globals():  # a notebook's cell is in no file
    main()
