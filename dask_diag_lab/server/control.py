"""The invisible model through which a page and its plot talk: the second root of each document."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from bokeh.core.properties import Bool, Float, String
from bokeh.model import DataModel

from dask_diag_lab.views.look import LIGHT, PALETTES, Look

if TYPE_CHECKING:
    from bokeh.core.property.bases import Property

    from dask_diag_lab.views.view import Caption

CONTROL_NAME: Final = "dask-diag-control"
MAX_ARGUMENTS_BYTES: Final = 4096
"""Of the arguments as JSON in UTF-8."""
MAX_LOOK_BYTES: Final = 4096
MAX_COMMAND_BYTES: Final = MAX_ARGUMENTS_BYTES + 256
SHOW: Final = "show"
"""The command whose arguments are what the plot is to show."""
SET: Final = "set"
"""The command whose arguments are controls and their new values."""

_COLOR = re.compile(
    r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|rgba?\([0-9.,%/ ]{1,60}\)"
)
_FONT_SIZE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?(?:px|pt|em|rem|%)")
_FONT = re.compile(r"[^<>{};\\]{1,300}")
_NAMES = ("light", "dark", "high-contrast")
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def _of(descriptor: Property[Any]) -> Any:
    """Return a Bokeh property as what it is on instances: its value, of the type annotated."""
    return descriptor


class PaneControl(DataModel):
    """What the page tells its plot, and the plot its page, beside the picture itself.

    The page sets ``visible``, ``look`` and ``command``; the server sets the rest. A page acts on
    a change of ``open`` and not on what it finds there when it comes.
    """

    visible: bool = _of(Bool(default=True, help="False: the server stops updating this document"))
    look: str = _of(String(default="", help="JSON of the fields of `Look`"))
    command: str = _of(
        String(default="", help='JSON `{"verb": str, "n": counter}`, and "arguments" of "show"')
    )
    state: str = _of(
        String(default="connecting", help="live, connecting, degraded, lost, closed or error")
    )
    message: str = _of(String(default="", help="Why it is in that state, in words"))
    closed_at: float = _of(
        Float(default=0.0, help="When its cluster closed, in seconds since the epoch; 0 before")
    )
    headline: str = _of(String(default="", help="What matters now, in a line"))
    legend: str = _of(String(default="", help="JSON list of the fields of `LegendItem`"))
    controls: str = _of(String(default="", help="JSON list of the fields of `Control`"))
    facts: str = _of(String(default="", help="JSON list of pairs: label and value"))
    empty: str = _of(String(default="", help="Why there is nothing to draw and what to do"))
    note: str = _of(String(default="", help="What was merged, dropped, sampled or late"))
    behind_s: float = _of(Float(default=0.0, help="Seconds by which live data is ahead"))
    frozen: bool = _of(Bool(default=False, help="The picture stays as it is, as was asked"))
    table: str = _of(
        String(
            default="", help="JSON of the arguments with which a request has this picture's table"
        )
    )
    open: str = _of(
        String(
            default="",
            help='JSON `{"plot": name, "arguments": {name: text}, "n": counter}`: a click in the'
            " picture asks the page to open that plot",
        )
    )


def show_caption(control: PaneControl, caption: Caption, *, is_frozen: bool) -> None:
    """Tell the page what the plot says in words; `is_frozen` where the page itself holds it."""
    control.frozen = is_frozen or caption.is_frozen
    control.headline = caption.headline
    control.legend = _json([asdict(item) for item in caption.legend])
    control.controls = _json([asdict(one) for one in caption.controls])
    control.facts = _json(list(caption.facts))
    control.empty = caption.empty
    control.note = caption.note
    # Whole seconds: a frozen picture costs one small message a second, not one a tick.
    control.behind_s = float(math.ceil(caption.behind_s))


def _json(items: list[Any]) -> str:  # dictionaries and pairs
    return json.dumps(items, ensure_ascii=False) if items else ""


def read_json(text: str | bytes) -> Any:  # JSON
    """Return what a page sent as JSON.

    Raises
    ------
    ValueError
        It is none, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def read_arguments(given: object) -> dict[str, str]:
    """Return arguments that came as JSON; None is none.

    Raises
    ------
    ValueError
        Not an object of texts, an odd name, or more than `MAX_ARGUMENTS_BYTES`.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError("arguments are a JSON object")  # noqa: TRY004  # the text is bad
    arguments: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not _ARGUMENT.fullmatch(name) or not isinstance(value, str):
            raise ValueError('arguments have names like "worker" and texts as values')
        arguments[name] = value
    if (
        len(json.dumps(arguments, ensure_ascii=False).encode(errors="replace"))
        > MAX_ARGUMENTS_BYTES
    ):
        raise ValueError(f"arguments may have {MAX_ARGUMENTS_BYTES} bytes")
    return arguments


def read_look(text: str) -> Look:
    """Return the look that a page sent as JSON, with defaults for what is missing or unusable.

    Raises
    ------
    ValueError
        Not a JSON object, or longer than `MAX_LOOK_BYTES`.
    """
    if len(text) > MAX_LOOK_BYTES:
        raise ValueError(f"a look may have {MAX_LOOK_BYTES} characters")
    given = read_json(text) if text else {}
    if not isinstance(given, Mapping):
        raise ValueError("a look is a JSON object")  # noqa: TRY004  # the text is bad
    return Look.of({name: value for name, value in given.items() if _is_usable(name, value)})


def _is_usable(name: object, value: object) -> bool:
    if not isinstance(value, str):
        return False
    if name == "name":
        return value in _NAMES
    if name == "palette":
        return value in PALETTES
    if name == "font":
        return bool(_FONT.fullmatch(value))
    if name == "font_size":
        return bool(_FONT_SIZE.fullmatch(value))
    return name in {field.name for field in fields(LIGHT)} and bool(_COLOR.fullmatch(value))


@dataclass(frozen=True, slots=True)
class Command:
    """What a key, a button or a link of a page asks of its plot.

    Attributes
    ----------
    verb : str
        ``fit``, ``live``, ``freeze``, ``show``, ``set`` and what else a view understands.
    arguments : mapping of str to str
        Of ``show`` what to show, of ``set`` the controls' new values.
    """

    verb: str
    arguments: Mapping[str, str]


def read_command(text: str) -> Command | None:
    """Return the command that a page sent as JSON, None when it is not understood."""
    if len(text) > MAX_COMMAND_BYTES:
        return None
    try:
        given = read_json(text)
        verb = given.get("verb") if isinstance(given, Mapping) else None
        if not isinstance(verb, str) or not verb:
            return None
        return Command(verb, read_arguments(given.get("arguments")) if verb in (SHOW, SET) else {})
    except ValueError:
        return None
