"""What comes packed up is read without trust: odd results are errors in words."""

from __future__ import annotations

import json
import zlib

import pytest
from distributed.protocol.serialize import Serialize, Serialized

from dask_diag_lab.transport.sealed import result_data
from dask_diag_lab.transport.wire import WireError

DASK = {"serializer": "dask"}


def packed(answer: object) -> bytes:
    return zlib.compress(json.dumps(answer).encode())


@pytest.mark.parametrize("wrap", [Serialize, lambda data: Serialized(DASK, [data])])
def test_a_result_is_read_as_it_was_packed(wrap: type[Serialize]) -> None:
    assert result_data(wrap(packed({"rows": [1]}))) == {"rows": [1]}


@pytest.mark.parametrize(
    "result",
    [
        Serialized({"serializer": "pickle"}, [b"x"]),
        Serialized({**DASK, "compression": [None, None]}, [b"x"]),
        Serialized({**DASK, "compression": ["no such library"]}, [b"x"]),
        Serialized({**DASK, "compression": ["zlib"]}, [b"not compressed"]),
        Serialized(DASK, [b"not compressed"]),
        Serialized(DASK, [zlib.compress(b"not JSON")]),
        "text",
    ],
)
def test_an_odd_result_is_an_error_in_words(result: object) -> None:
    with pytest.raises(WireError, match="result"):
        result_data(result)
