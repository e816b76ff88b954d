"""Runs the corpus: which causes are found, which are wrong, and how far estimates are off.

``python -m tests.pathologies [--write FILE] [NAME…]``, all of them by default.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import median

import dask
from distributed import Client, LocalCluster

import dask_diag_lab
from benchmarks.report import machine, write_between
from dask_diag_lab.capture.run import Run
from tests.pathologies.workloads import FOUR, WORKLOADS, Work, Workload, warm_up


@dataclass(frozen=True)
class Result:
    """What was found in a workload, and how long it took with its cure; NaN for none."""

    name: str
    workload: Workload
    run: Run
    cured_s: float

    @property
    def causes(self) -> list[str]:
        return [one.cause for one in self.run.findings]

    @property
    def wrong(self) -> list[str]:
        return [cause for cause in self.causes if cause not in self.workload.causes]

    @property
    def is_found(self) -> bool:
        return self.workload.causes[0] in self.causes

    @property
    def took_s(self) -> float:
        return self.run.stop - self.run.start

    @property
    def error(self) -> float:
        """What the estimate of the cause is off by, as a share of what the cure took."""
        saved = {one.cause: one.saved_s for one in self.run.findings}
        cause = next(iter(self.workload.causes), "")
        return abs(self.took_s - saved.get(cause, float("nan")) - self.cured_s) / self.cured_s


def ran(name: str, work: Work, workload: Workload, *, is_cured: bool) -> Run:
    """Run something on a cluster of its own."""
    arguments = workload.cluster or FOUR
    if is_cured:
        arguments = workload.cured_cluster or arguments
    with (
        dask.config.set(workload.config),
        LocalCluster(
            dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, **arguments
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(arguments["n_workers"])
        warm_up()
        client.run(warm_up)
        with dask_diag_lab.run(name, client) as its:
            work(client)
        return its


def result(name: str) -> Result:
    """Run a workload, and its cure where there is one."""
    its = WORKLOADS[name]
    slow, cured_s = ran(name, its.work, its, is_cured=False), float("nan")
    if its.cure is not None:
        cured = ran(name, its.cure, its, is_cured=True)
        cured_s = cured.stop - cured.start
    print(slow, f"\ncured: {cured_s:.2f} s" if its.cure else "", "\n", flush=True)
    return Result(name, its, slow, cured_s)


def report(results: Sequence[Result]) -> str:
    """Return the figures as Markdown."""
    n_found = sum(len(one.causes) for one in results)
    n_wrong = sum(len(one.wrong) for one in results)
    slow = [one for one in results if one.workload.causes]
    n_seen = sum(one.is_found for one in slow)
    errors = [one.error for one in slow if isfinite(one.error)]
    off = 100 * median(errors or [0.0])
    lines = [
        f"{machine()}.",
        "",
        f"- precision: {n_found - n_wrong} of {n_found} findings are right; to be at least 95 %",
        f"- recall: {n_seen} of {len(slow)} causes are found; to be at least 80 %",
        f"- estimates: {off:.0f} % off what the cure took, median of {len(errors)}; at most 15 %",
        "",
        "| computation | cause | found | wrong | took | cured | estimate off |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in results:
        cause = one.workload.causes[0] if one.workload.causes else "none"
        found = (", ".join(c for c in one.causes if c not in one.wrong)) or "–"
        cured = f"{one.cured_s:.1f} s" if isfinite(one.cured_s) else "–"
        error = f"{100 * one.error:.0f} %" if isfinite(one.error) else "–"
        cells = [one.name, cause, found, ", ".join(one.wrong) or "–"]
        lines.append("| " + " | ".join([*cells, f"{one.took_s:.1f} s", cured, error]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for, and write or print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.pathologies")
    parser.add_argument("names", nargs="*", help="some of: " + ", ".join(WORKLOADS))
    parser.add_argument(
        "--write", type=Path, help="a file with the marks that the figures go between"
    )
    given = parser.parse_args()
    text = report([result(name) for name in given.names or WORKLOADS])
    print(text)
    if given.write:
        write_between(given.write, "insight", text)


if __name__ == "__main__":
    main()
