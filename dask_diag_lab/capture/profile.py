"""``profile``: the statistical profile of a cluster as data, and as a page that opens from disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal

from dask_diag_lab.capture.task_rows import TIMEOUT_S

if TYPE_CHECKING:
    from bokeh.models.ui import UIElement
    from distributed import Client


Tree = dict[str, Any]  # `distributed`'s: count, children, identifier, description


def profile(
    key: str | None = None,
    start: float | None = None,
    stop: float | None = None,
    workers: str | Sequence[str] | None = None,
    merge_workers: bool = True,
    plot: bool | Literal["save"] = False,
    filename: str | os.PathLike[str] | None = None,
    server: bool = False,
    scheduler: bool = False,
    *,
    client: Client | None = None,
) -> Any:  # see Returns; of an asynchronous client a coroutine
    """Return where the threads of the workers spent their time, as `Client.profile` does.

    Parameters
    ----------
    key : str, optional
        Prefix of the tasks to look at, such as ``"inc"``; default: all.
    start, stop : float, optional
        Seconds since the epoch.
    workers : str or sequence of str, optional
        Addresses; default: all.
    merge_workers : bool
        Add the workers up. False: a tree for each address.
    plot : bool or 'save'
        Make a picture as well, and with ``'save'`` write it to ``filename``.
    filename : path, optional
        Write a page there that opens without network; also a URL that ``fsspec`` can write.
        Default with ``'save'``: ``dask-profile.html``.
    server : bool
        The event loops of the workers instead of their tasks.
    scheduler : bool
        The event loop of the scheduler.
    client : distributed.Client, optional
        Default: the current client.

    Returns
    -------
    dict
        A tree of ``count`` (samples), ``identifier``, ``description`` (``filename``, ``name``,
        ``line_number``, ``line``) and ``children`` by identifier; of several workers that are not
        merged one by address. With ``plot`` or ``filename`` the tree and the picture, a Bokeh
        model.

    Raises
    ------
    ValueError
        Another ``plot``, or there is no client.
    RuntimeError
        The client is not connected.
    TimeoutError
        A worker did not answer within a minute.
    OSError
        The file cannot be written.
    """
    from distributed import default_client

    from dask_diag_lab.composition import Target

    if plot not in (True, False, "save"):
        raise ValueError(f"plot is {plot!r}; it may be True, False or 'save'")
    asked: dict[str, Any] = {"key": key, "start": start, "stop": stop}
    asked |= {"workers": [workers] if isinstance(workers, str | Number) else workers}
    asked |= {"merge_workers": merge_workers, "server": server, "scheduler": scheduler}
    client = default_client() if client is None else client
    Target.of(client)  # raises where it is not connected
    if plot == "save" and not filename:
        filename = "dask-profile.html"
    return client.sync(_profile, client, asked, plot, filename)


async def _profile(
    client: Client,
    asked: Mapping[str, Any],  # of `Client.profile`
    plot: bool | str,
    filename: str | os.PathLike[str] | None,
) -> Any:  # see `profile`
    try:
        async with asyncio.timeout(TIMEOUT_S):
            tree = await _tree(client.scheduler, asked)
    except TimeoutError as error:
        message = f"No answer in {TIMEOUT_S:g} s. Name with `workers` those that do answer."
        raise TimeoutError(message) from error
    if not (plot or filename):
        return tree
    trees = [tree] if asked["merge_workers"] or asked["scheduler"] else list(tree.values())
    # Drawing takes longer than the loop of a client, often the scheduler's, may be held.
    return tree, await asyncio.to_thread(_draw, trees, asked, filename)


async def _tree(scheduler: Any, asked: Mapping[str, Any]) -> Any:  # an `rpc`; `Tree`, or several
    if asked["merge_workers"] or asked["scheduler"]:
        return await scheduler.profile(**asked)
    # The scheduler's own answer mixes up the addresses once a worker has not answered.
    message = {"op": "profile", **{n: asked[n] for n in ("key", "start", "stop", "server")}}
    known = await scheduler.ncores(workers=None)
    wanted = known if asked["workers"] is None else asked["workers"]
    workers = [one for one in wanted if one in known]
    return await scheduler.broadcast(msg=message, workers=workers, on_error="ignore")


def _draw(
    trees: Sequence[Tree], asked: Mapping[str, Any], filename: str | os.PathLike[str] | None
) -> UIElement:
    """Draw, and save, trees that are added up as the plot of profiles does; in any thread."""
    from dask_diag_lab.server.saved import drawn_panel, picture_of, save_page, saved_page
    from dask_diag_lab.store import LiveSession
    from dask_diag_lab.transport.answers import add_tree, empty_tree, sampling_s
    from dask_diag_lab.views.registry import get_plot

    total = empty_tree()
    for tree in trees:
        add_tree(total, tree)
    arguments = {name: str(asked[name]) for name in ("start", "stop") if asked[name]}
    is_of_tasks = not (asked["server"] or asked["scheduler"])
    if is_of_tasks:
        arguments |= {"prefix": asked["key"] or ""}
    else:
        arguments |= {"source": "scheduler-loop" if asked["scheduler"] else "worker-loops"}
    answer: dict[str, Any] = {"tree": total, "missing": {}}
    answer["interval_s"] = sampling_s("interval" if is_of_tasks else "cycle")
    live = LiveSession()

    live.queries.on_ask = lambda query: (
        live.answer(query, answer) if query.kind == "profile" else live.fail(query, "")
    )
    plot = get_plot("profile" if is_of_tasks else "profile-server")
    panel = drawn_panel(plot, live, arguments)
    if filename:
        save_page(filename, saved_page("Dask Profile", "", [panel]))
    return picture_of(panel)
