"""``MemorySampler``: memory of a cluster over time, sampled on its scheduler while a block runs.

Must not need the collector: what samples is sent by value, to any scheduler that runs functions.
"""

from __future__ import annotations

import time
import uuid
import warnings
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from tornado.ioloop import PeriodicCallback

from dask_diag_lab.capture import import_pandas
from dask_diag_lab.capture.task_rows import TIMEOUT_S

if TYPE_CHECKING:
    from bokeh.models import Plot
    from distributed import Client

LABEL: Final = "Cluster memory (GiB)"
DASHES: Final = ("solid", "dashed", "dotted", "dotdash", "dashdot")
BOKEH: Final = "This is a figure for bokeh.io.show instead, and takes no options of pandas."


class MemorySampler:
    """Record the memory of a cluster while blocks run, to compare and to draw it.

    Takes what the class of this name of `distributed` takes, and more. The scheduler samples by
    itself, so neither a busy client nor a busy cell leaves gaps.

    Attributes
    ----------
    samples : dict of str to list of (float, int)
        By label: seconds since the epoch on the scheduler's clock, and bytes of all workers
        together. Of a sequence of measures each has a series, ``"label/managed"``. ``per_worker``
        adds one for each worker while it was there, ``"label/tcp://10.0.0.1:40331"`` or
        ``"label/managed/tcp://10.0.0.1:40331"``.

    Examples
    --------
    >>> sampler = MemorySampler()
    >>> with sampler.sample("threads"):  # doctest: +SKIP
    ...     x.sum().compute()
    >>> sampler.plot()  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self.samples: dict[str, list[tuple[float, int]]] = {}

    def sample(
        self,
        label: str | None = None,
        *,
        client: Client | None = None,
        measure: str | Sequence[str] = "process",
        interval: float = 0.5,
        per_worker: bool = False,
    ) -> Any:  # a context manager, an asynchronous one of an asynchronous client
        """Return a context manager that records the memory of the cluster in `samples`.

        With an asynchronous client it is used with ``async with``. The first sample is taken when
        the block begins. Samples are kept where the block raises.

        Parameters
        ----------
        label : str, optional
            Name of the series; samples of the same name from before are replaced. Default: a
            random one.
        client : distributed.Client, optional
            Default: the current client.
        measure : str or sequence of str
            Attributes of `distributed.scheduler.MemoryState`: process, managed, unmanaged,
            unmanaged_old, unmanaged_recent, spilled, managed_total, optimistic. Several are read at
            the same moments.
        interval : float
            Seconds between two samples.
        per_worker : bool
            Record each worker as well.

        Raises
        ------
        ValueError
            There is no such measure, no client, or the interval is not above 0.
        RuntimeError
            At either end of the block: the client is not connected.
        OSError
            At either end of the block: the scheduler does not answer.
        """
        from distributed import default_client
        from distributed.scheduler import MemoryState

        from dask_diag_lab.composition import Target

        label = label or str(uuid.uuid4())
        names = (
            {measure: label} if isinstance(measure, str) else {m: f"{label}/{m}" for m in measure}
        )
        known = {name for name in dir(MemoryState) if name[0] != "_"} - {"sum"}
        if not names or not names.keys() <= known:
            raise ValueError(f"measure is {measure!r}; it may be one or several of {sorted(known)}")
        if not interval > 0:
            raise ValueError(f"interval is {interval!r}; it has to be above 0")
        asked = default_client() if client is None else client

        def run(*call: object) -> Any:  # what a function returns there, or its awaitable
            Target.of(asked)  # raises where it is not connected
            return asked.run_on_scheduler(*call, callback_timeout=TIMEOUT_S)

        sample = self._sample_async if asked.asynchronous else self._sample_sync
        return sample(run, asked.id, names, interval, per_worker)

    @contextmanager
    def _sample_sync(self, run: Callable[..., Any], *how: object) -> Iterator[None]:
        key = run(START, *how)
        try:
            yield
        finally:
            self.samples |= _pairs(run(STOP, key))

    @asynccontextmanager
    async def _sample_async(self, run: Callable[..., Any], *how: object) -> AsyncIterator[None]:
        key = await run(START, *how)
        try:
            yield
        finally:
            self.samples |= _pairs(await run(STOP, key))

    def to_pandas(self, *, align: bool = False) -> Any:  # a DataFrame
        """Return a `pandas.DataFrame` with a column of bytes for each series.

        Where series have different times, each is carried forward from one of its samples to the
        next, and is NaN before its first and after its last one.

        Parameters
        ----------
        align : bool
            Index by time since the first sample of each series, to lay them over each other, and
            not by date and time, which are UTC (without a time zone).

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        pd = import_pandas("MemorySampler.to_pandas")
        columns = {
            label: pd.Series({at - align * samples[0][0]: nbytes for at, nbytes in samples})
            for label, samples in self.samples.items()
        }
        frame = pd.DataFrame(columns)
        frame.index = (pd.to_timedelta if align else pd.to_datetime)(frame.index, unit="s")
        return frame.ffill().where(frame.bfill().notna())

    def plot(self, *, align: bool = False, **kwargs: Any) -> Any:  # see below
        """Draw all series over time, in GiB.

        Parameters
        ----------
        align : bool
            As of `to_pandas`.
        **kwargs
            For `pandas.DataFrame.plot`.

        Returns
        -------
        matplotlib.axes.Axes or bokeh.plotting.figure
            What pandas returns. Where pandas or matplotlib is not installed, a figure for
            ``bokeh.io.show``, and a warning that says so.
        """
        try:
            frame = self.to_pandas(align=align) / 2**30
            evenly = frame.resample("1s").nearest()
            drawn = evenly if len(evenly) > 1 else frame
            return drawn.plot(**{"xlabel": "time", "ylabel": LABEL, **kwargs})
        except ImportError as error:
            warnings.warn(f"{error} {BOKEH}", stacklevel=2)
            return self._figure(align)

    def _figure(self, align: bool) -> Plot:
        from bokeh.plotting import figure

        from dask_diag_lab.views.figure import restyle_figure
        from dask_diag_lab.views.look import LIGHT, prefix_color

        axes: Any = {"x_axis_type": "timedelta" if align else "datetime", "y_axis_label": LABEL}
        made = figure(height=350, sizing_mode="stretch_width", **axes)
        for n, (label, samples) in enumerate(self.samples.items()):
            times, sizes = np.array(samples, dtype=float).T
            line = made.line((times - align * times[0]) * 1000, sizes / 2**30, legend_label=label)
            line.glyph.update(line_color=prefix_color(n, LIGHT), line_dash=DASHES[n % len(DASHES)])
        restyle_figure(made, LIGHT)
        return made


def _pairs(found: Mapping[str, array[float]]) -> dict[str, list[tuple[float, int]]]:
    parts = {name: (each[::2], map(int, each[1::2])) for name, each in found.items()}
    return {name: list(zip(*pair, strict=True)) for name, pair in parts.items()}


def _functions() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what begins and what ends sampling on a scheduler, which may lack this package.

    Functions in functions are sent by value; these use nothing of ours that is not in here.
    """

    def start(
        client: str, names: dict[str, str], interval_s: float, per_worker: bool, dask_scheduler: Any
    ) -> str:
        """Sample until `stop`, or until the client or the scheduler goes; return the key."""
        key = f"dask-diag-lab-memory-{uuid.uuid4()}"
        found: dict[str, array[float]] = {}  # time and bytes in turn: 16 bytes a sample

        def sample() -> None:
            if client not in dask_scheduler.clients:
                stop(key, dask_scheduler)
                return
            now, states = time.time(), {"": dask_scheduler.memory}
            if per_worker:
                states |= {f"/{at}": one.memory for at, one in dask_scheduler.workers.items()}
            for (place, state), (measure, name) in product(states.items(), names.items()):
                found.setdefault(name + place, array("d")).extend((now, getattr(state, measure)))

        sample()
        timer: Any = PeriodicCallback(sample, interval_s * 1000)  # has no place for what it found
        timer.found = found
        timer.start()
        dask_scheduler.periodic_callbacks[key] = timer  # which the scheduler ends when it ends
        return key

    def stop(key: str, dask_scheduler: Any) -> Any:
        timer = dask_scheduler.periodic_callbacks.pop(key)
        timer.stop()
        return timer.found

    return start, stop


START, STOP = _functions()
