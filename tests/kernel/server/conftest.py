"""What all tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernel.server.sample_views import Counting, Failing


@pytest.fixture(autouse=True)
def fresh_views() -> Iterator[None]:
    """Forget the sample views of other tests."""
    Counting.made.clear()
    Failing.is_broken = True
    yield
    Counting.made.clear()
