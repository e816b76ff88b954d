"""The invisible model through which a page and its plot talk: the second root of each document."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from bokeh.core.properties import Bool, Float, String
from bokeh.model import DataModel

from dask_diag_lab.views.look import Look

if TYPE_CHECKING:
    from bokeh.core.property.bases import Property

    from dask_diag_lab.views.view import Caption

CONTROL_NAME: Final = "dask-diag-control"
MAX_ARGUMENTS_BYTES: Final = 4096
"""Of the arguments as JSON in UTF-8."""
SHOW: Final = "show"
"""The command whose arguments are what the plot is to show."""
SET: Final = "set"
"""The command whose arguments are controls and their new values."""
_ARGUMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def _of(descriptor: Property[Any]) -> Any:
    """Return a Bokeh property as what it is on instances: its value, of the type annotated."""
    return descriptor


def _text(default: str = "") -> Any:
    return _of(String(default=default))


class PaneControl(DataModel):
    """What the page tells its plot, and the plot its page, beside the picture itself.

    The page sets ``visible``, ``look`` and ``command``; the server sets the rest. A page acts on
    a change of ``open`` and not on what it finds there when it comes.

    Attributes
    ----------
    visible : bool
        False: the server stops updating this document.
    look : str
        JSON of the fields of `Look`.
    command : str
        JSON ``{"verb": str, "n": counter}``, and "arguments" of `SHOW` and `SET`.
    state, message : str
        live, connecting, degraded, lost, closed or error; and why, in words.
    period : str
        JSON ``{"text": str, "is_shown": bool}``: the stretch of time that all plots of the page
        are to show, and whether this one does; '' where each shows its own.
    chosen : str
        JSON ``{"text": str, "start": s, "stop": s}``: another stretch, which the reader has
        chosen in this picture; '' for none.
    closed_at : float
        When its cluster closed, in seconds since the epoch; 0 before.
    headline, legend, controls, facts, empty, note
        As in `Caption`; lists as JSON.
    behind_s : float
        Seconds by which live data is ahead.
    frozen : bool
        The picture stays as it is, as was asked.
    table : str
        JSON of the arguments with which a request has this picture's table.
    formats : str
        `View.formats`, with spaces between them.
    open : str
        JSON ``{"plot": name, "arguments": {name: text}, "n": counter}``: a click in the picture
        asks the page to open that plot.
    """

    visible: bool = _of(Bool(default=True))
    look: str = _text()
    command: str = _text()
    state: str = _text("connecting")
    message: str = _text()
    closed_at: float = _of(Float(default=0.0))
    headline: str = _text()
    legend: str = _text()
    controls: str = _text()
    facts: str = _text()
    period: str = _text()
    chosen: str = _text()
    empty: str = _text()
    note: str = _text()
    behind_s: float = _of(Float(default=0.0))
    frozen: bool = _of(Bool(default=False))
    table: str = _text()
    formats: str = _text()
    open: str = _text()


def show_caption(control: PaneControl, caption: Caption, *, is_frozen: bool) -> None:
    """Tell the page what the plot says in words; `is_frozen` where the page itself holds it."""
    control.frozen = is_frozen or caption.is_frozen
    for name in ("headline", "empty", "note"):
        setattr(control, name, getattr(caption, name))
    control.legend = _json([asdict(item) for item in caption.legend])
    control.controls = _json([asdict(one) for one in caption.controls])
    control.facts = _json(list(caption.facts))
    # Whole seconds: a frozen picture costs one small message a second, not one a tick.
    control.behind_s = float(math.ceil(caption.behind_s))


def _json(items: list[Any]) -> str:  # dictionaries and pairs
    return json.dumps(items, ensure_ascii=False) if items else ""


def read_object(text: str | bytes) -> Mapping[str, Any]:  # JSON
    """Return the JSON object that a page sent; no text is an empty one.

    Raises
    ------
    ValueError
        It is none, or nested too deeply to be read.
    """
    try:
        given = json.loads(text or "{}")
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    return _object(given)


def _object(given: object) -> Mapping[str, Any]:  # JSON
    if not isinstance(given, Mapping):
        raise ValueError('JSON like {"look": {"name": "dark"}, "arguments": {}} is wanted')  # noqa: TRY004  # what came is bad
    return given


def read_arguments(given: object) -> dict[str, str]:
    """Return arguments that came as JSON; None is none.

    Raises
    ------
    ValueError
        Not an object of texts, an odd name, or more than `MAX_ARGUMENTS_BYTES`.
    """
    arguments = dict(_object(given or {}))
    for name, value in arguments.items():
        if not _ARGUMENT.fullmatch(name) or not isinstance(value, str):
            raise ValueError('arguments have names like "worker" and texts as values')
    sent = json.dumps(arguments, ensure_ascii=False).encode(errors="replace")
    if len(sent) > MAX_ARGUMENTS_BYTES:
        raise ValueError(f"arguments may have {MAX_ARGUMENTS_BYTES} bytes")
    return arguments


def read_look(given: object) -> Look:
    """Return the look that came as JSON, with defaults for what is missing or unusable.

    Raises
    ------
    ValueError
        Not a JSON object.
    """
    return Look.of(_object(given or {}))


def read_command(given: Mapping[str, Any]) -> tuple[str, dict[str, str]]:  # JSON
    """Return verb and arguments of the command that came as JSON.

    A verb is ``fit``, ``live``, ``freeze``, `SHOW`, `SET` or what else a view understands.

    Raises
    ------
    ValueError
        It has no verb, or its arguments are none.
    """
    verb = given.get("verb")
    if not isinstance(verb, str) or not verb:
        raise ValueError("a command has a verb")
    return verb, read_arguments(given.get("arguments"))
