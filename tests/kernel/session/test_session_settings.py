"""Settings stay within the limits that the configuration file promises."""

from __future__ import annotations

import logging

import dask
import pytest

from dask_diag_lab.composition import LIMITS, own_listen, setting


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("interval", "1ms", 0.05),
        ("interval", "1h", 300),
        ("max-actions", "12", 1000),
        ("port", 70_000, 65_535),
    ],
)
def test_a_value_out_of_its_limits_is_replaced_with_a_warning(
    name: str, given: object, kept: float, caplog: pytest.LogCaptureFixture
) -> None:
    with dask.config.set({f"diag-lab.{name}": given}), caplog.at_level(logging.INFO):
        assert setting(name) == kept
    (message,) = [record.getMessage() for record in caplog.records]
    assert message == f"diag-lab.{name} is {given}; it has been set to {kept:g}"


def test_values_within_their_limits_are_taken_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert [setting(name) for name in LIMITS] == [2_000_000, 0.25, 2.0, 0]
    wanted = {"diag-lab.interval": 0.05, "diag-lab.idle-interval": "5 minutes"}
    with dask.config.set(wanted | {"diag-lab.max-actions": "1000", "diag-lab.port": "9000"}):
        assert [setting(name) for name in LIMITS] == [1000, 0.05, 300.0, 9000]
    assert caplog.records == []


def test_a_kernel_listens_at_no_address_that_others_reach(caplog: pytest.LogCaptureFixture) -> None:
    with dask.config.set({"diag-lab.host": "0.0.0.0", "diag-lab.port": 9000}):
        assert own_listen() == ("127.0.0.1", 9000, "")
    assert "diag-lab.host is 0.0.0.0" in caplog.text
    with dask.config.set({"diag-lab.host": "::1"}):
        assert own_listen().host == "::1"
