"""A history as a file, and back: JSON for what is small, columns of numbers beside it, no pickle.

Classes of a history say by `SAVED` which of their attributes are kept; what follows from these is
made anew by their method `restored`.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields, is_dataclass
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dask_diag_lab.schema import SchedulerInfo
from dask_diag_lab.store.actions import Segment
from dask_diag_lab.store.arrays import GrowingArray
from dask_diag_lab.store.history import History
from dask_diag_lab.store.live import LiveSession
from dask_diag_lab.store.queries import Query
from dask_diag_lab.store.runs import Piece, RunRecord
from dask_diag_lab.store.slots import SlotWorker

FORMAT: Final = 4
CLASSES: Final[dict[str, type]] = {
    c.__name__: c for c in (Piece, RunRecord, SchedulerInfo, Segment, SlotWorker)
}
"""Of objects that are made anew; all others are there in a new history."""
META: Final = "meta.json"
TABLES: Final = ".npz"
"""Ends the names of the parts with columns: the log, and one for all that is small."""
ACTIONS: Final = "actions "
"""Begins the names of the columns of the log."""
MAX_BYTES: Final = 1 << 32
"""Of the parts of a file that is read: some hundred times as much as a million tasks have."""

CUT: Final = "is cut off, its end is missing. Copy it once more, or save the recording again"
FOREIGN: Final = "is no recording of dask_diag_lab. Those are what `run.save` writes"
OF_ANOTHER: Final = (
    f"this version of dask_diag_lab reads format {FORMAT}: update dask_diag_lab, or open it with"
    " the version that wrote it"
)
DAMAGED: Final = "Copy it once more, or save the recording again"

Array = npt.NDArray[Any]  # dtypes differ


def snapshot(
    history: History,
    recorded: Mapping[str, Any] | None = None,
    selection: Mapping[str, str] | None = None,
    answered: Sequence[Query] = (),
) -> Callable[[Path], None]:
    """Return what writes a history as it is now to a file, in any thread.

    The file is a zip; it is at its place only when it is whole.

    Parameters
    ----------
    history : History
    recorded : mapping, optional
        What else is to be said, as JSON; see `LiveSession.recorded`.
    selection : mapping, optional
        As `LiveSession.selection`. All is written in any case: what began before a run, or was
        said of it later, is what its plots are made of as well.
    answered : sequence of Query
        What the cluster has answered; their arguments are those that plots ask with.
    """
    writer = _Writer()
    saved, rows = writer.json_of(history), history.actions.snapshot()

    def write(path: Path) -> None:
        log = {f"{ACTIONS}{name}": one for name, one in rows().items()}
        tables = {"actions": log, "tables": writer.arrays}
        dtypes = {name: one.dtype.str for table in tables.values() for name, one in table.items()}
        said: dict[str, Any] = {
            "recorded": dict(recorded or {}),
            "selection": dict(selection or {}),
        }
        said["answers"] = list(_texts(answered))
        meta = {"format": FORMAT, **said, "dtypes": dtypes, "history": saved}
        part = path.with_name(f".{path.name}.part")
        try:
            with zipfile.ZipFile(part, "w") as file:
                file.writestr(META, json.dumps(meta), zipfile.ZIP_DEFLATED)
                for table, columns in tables.items():
                    packed: Any = {name: _packed(one) for name, one in columns.items()}
                    with file.open(f"{table}{TABLES}", "w", force_zip64=True) as npz:
                        np.savez_compressed(npz, **packed)  # by column, to be read side by side
            part.replace(path)
        except OSError as error:
            raise OSError(error.errno, f"{path} cannot be written: {error.strerror}") from error
        finally:
            part.unlink(missing_ok=True)

    return write


def load(path: Path) -> LiveSession:
    """Return the history in a file that `snapshot` has written, in a session that is closed.

    Raises
    ------
    ValueError
        It is no such file, a part of one, or of another version; the text is for the user.
    OSError
        It cannot be read.
    """
    with path.open("rb") as file:
        why = CUT if META.encode() in file.read(64) else FOREIGN
        if not zipfile.is_zipfile(file):
            raise ValueError(f"{path} {why}.")
        try:
            with zipfile.ZipFile(file) as parts:
                _check_size(parts)
                # What is cut off may end as a zip: its tables are such.
                is_ours = META in parts.namelist()
                meta = json.loads(parts.read(META)) if is_ours else {}
                if meta.get("format") == FORMAT:
                    return _restored(meta, parts)
        except Exception as error:  # what is damaged may raise anything
            raise ValueError(f"{path} is damaged ({error!r}). {DAMAGED}.") from error
    if "format" in meta:
        why = f"is of format {meta['format']}; {OF_ANOTHER}"
    raise ValueError(f"{path} {why}.")


def _check_size(parts: zipfile.ZipFile) -> None:
    if sum(part.file_size for part in parts.infolist()) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES >> 30} GiB")


def _columns(table: bytes, dtypes: Mapping[str, str]) -> dict[str, Array]:
    """Return the columns in a part, read by two threads: unpacking leaves the interpreter free."""
    with np.load(io.BytesIO(table), allow_pickle=False) as file, ThreadPoolExecutor(2) as pool:
        _check_size(file.zip)
        names = list(file)
        read = pool.map(lambda name: _unpacked(file[name], dtypes[name]), names)
        return dict(zip(names, read, strict=True))


def _restored(meta: Mapping[str, Any], parts: zipfile.ZipFile) -> LiveSession:  # JSON
    arrays: dict[str, Array] = {}
    for name in parts.namelist():
        if name.endswith(TABLES):
            arrays |= _columns(parts.read(name), meta["dtypes"])
    history = History()
    _Reader(arrays).restore(history, meta["history"])
    rows = {n.removeprefix(ACTIONS): c for n, c in arrays.items() if n.startswith(ACTIONS)}
    history.actions.refill(rows)
    live = LiveSession.of_recording(history, dict(meta["recorded"]), dict(meta["selection"]))
    for text in meta.get("answers", ()):
        with suppress(RecursionError):  # another Python may have written deeper ones
            kind, arguments, answer, at = json.loads(text)
            live.queries.answered(live.queries.ask(kind, **arguments), answer, at)
    return live


def _texts(answered: Sequence[Query]) -> Iterator[str]:
    """Yield answers as JSON, apart from each other: stacks may be too deep for it."""
    for query in answered:
        with suppress(RecursionError):
            yield json.dumps([query.kind, query.arguments, query.answer, query.answered_at])


def saved_of(value: Any) -> Sequence[str]:  # any attribute of a history
    """Return the attributes of an object that are kept; none of what is a value itself."""
    if is_dataclass(value):
        return [field.name for field in fields(value)]
    return getattr(value, "SAVED", ())


class _Writer:
    """Turns objects into JSON, and their arrays into parts of `arrays`.

    A history has a thousand small ones: to read each by itself takes longer than all of them.
    """

    def __init__(self) -> None:
        self._parts: defaultdict[str, list[Array]] = defaultdict(list)
        self._sizes: Counter[str] = Counter()

    @property
    def arrays(self) -> dict[str, Array]:
        """All of one type, one after the other, by its name."""
        return {name: np.concatenate(parts) for name, parts in self._parts.items()}

    def json_of(self, value: Any) -> Any:  # any attribute of a history
        if saved := saved_of(value):
            attributes = {name: self.json_of(getattr(value, name)) for name in saved}
            return {"class": type(value).__name__, "attributes": attributes}
        if isinstance(value, np.ndarray | GrowingArray):
            return self._array(value)
        if isinstance(value, dict):
            return {"pairs": [[self.json_of(k), self.json_of(v)] for k, v in value.items()]}
        if isinstance(value, tuple | set | deque):
            kind = "set" if isinstance(value, set) else type(value).__name__
            # A copy: that of `Piece.clients` may grow meanwhile.
            return {kind: [self.json_of(one) for one in list(value)]}
        if isinstance(value, list):
            return [self.json_of(one) for one in value]
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        return value.item() if isinstance(value, np.generic) else value

    def _array(self, value: Array | GrowingArray[Any]) -> Any:  # JSON
        if isinstance(value, GrowingArray):
            return {"growing": self._array(value.values.copy())}
        if value.dtype == object:
            return {"objects": [self.json_of(one) for one in value.tolist()]}
        name = value.dtype.name
        begin = self._sizes[name]
        self._parts[name].append(value.ravel())
        self._sizes[name] += value.size
        return {"array": [name, begin, value.shape]}


class _Reader:
    """The way back; what is in a new history already is filled."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays

    def restore(self, value: Any, given: Any) -> None:  # an object of a history, and JSON
        for name in saved_of(value):
            read = self.value_of(given["attributes"][name], getattr(value, name, None))
            object.__setattr__(value, name, read)
        if restored := getattr(value, "restored", None):
            restored()

    def value_of(self, given: Any, there: Any = None) -> Any:  # noqa: PLR0911  # JSON, one a kind
        if isinstance(given, list):
            return [self.value_of(one) for one in given]
        if not isinstance(given, dict):
            return given
        if "class" in given:
            return self._object(given, there)
        ((kind, content),) = given.items()
        if kind == "array":
            name, begin, shape = content
            return self.arrays[name][begin : begin + prod(shape)].reshape(shape)
        if kind == "growing":
            there.extend(self.value_of(content)[len(there) :])
            return there
        if kind == "bytes":
            return base64.b64decode(content)
        if kind == "pairs":
            return self._mapping(content, there)
        values = [self.value_of(one) for one in content]
        if kind == "objects":
            column = np.empty(len(values), dtype=object)
            column[:] = values
            return column
        if kind == "deque":
            return deque(values, maxlen=there.maxlen)
        return {"tuple": tuple, "set": set}[kind](values)

    def _object(self, given: Any, there: Any) -> Any:  # as above
        made = CLASSES.get(given["class"])
        value = there if made is None else object.__new__(made)
        self.restore(value, given)
        return value

    def _mapping(self, pairs: list[Any], there: Any) -> dict[Any, Any]:  # as above
        known = there if isinstance(there, dict) else {}
        read = ((self.value_of(key), value) for key, value in pairs)
        return {key: self.value_of(value, known.get(key)) for key, value in read}


def _packed(column: Array) -> Array:
    """Return numbers that follow each other closely as what makes small files."""
    if column.dtype.itemsize != 8 or column.ndim != 1:
        return column
    steps = np.diff(column.view(np.int64), prepend=np.int64(0))
    return np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8).T)


def _unpacked(column: Array, dtype: str) -> Array:
    if np.dtype(dtype).itemsize != 8 or column.dtype != np.uint8:
        return column
    steps = np.ascontiguousarray(column.T).view(np.int64).reshape(-1)
    return np.cumsum(steps).view(dtype)
