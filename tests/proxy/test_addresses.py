"""Which addresses may be contacted: the policy, and resolving once."""

from __future__ import annotations

import ipaddress

import pytest

from dask_diag_lab.proxy.addresses import AddressError, is_allowed, resolve, typed_address


@pytest.mark.parametrize(
    ("host", "ip", "policy", "expected"),
    [
        ("localhost", "127.0.0.1", ["localhost"], True),
        ("localhost", "10.0.0.1", ["localhost", "10.0.0.0/8"], False),
        ("a.localhost", "10.0.0.1", ["*"], False),
        ("127.0.0.1", "127.0.0.1", [], False),
        ("node7.cluster", "10.1.2.3", ["node*.cluster"], True),
        ("node7.cluster", "10.1.2.3", ["10.1.0.0/16"], True),
        ("node7.cluster", "10.2.2.3", ["10.1.0.0/16", "nonsense/99"], False),
        ("evil.example", "127.0.0.1", ["localhost", "127.0.0.1"], False),
        ("meta", "169.254.169.254", ["*", "0.0.0.0/0"], False),
        ("meta", "100.100.100.200", ["*"], False),
        ("meta", "fd00:ec2::254", ["*"], False),
        ("meta", "fe80::1", ["*"], False),
        ("any", "0.0.0.0", ["*"], False),
        ("any", "224.0.0.1", ["*"], False),
        ("any", "255.255.255.255", ["*"], False),
        ("::1", "::1", ["[::1]"], True),
    ],
)
def test_policy_decides(host: str, ip: str, policy: list[str], expected: bool) -> None:
    assert is_allowed(host, ipaddress.ip_address(ip), policy) is expected


async def test_name_is_resolved_once_and_pinned() -> None:
    (first, *_) = await resolve(typed_address("http://LOCALHOST:8787/a/b/status"), ["localhost"])
    assert ipaddress.ip_address(first.ip).is_loopback
    assert (first.netloc, first.prefix) == ("localhost:8787", "/a/b")


async def test_name_that_does_not_resolve_is_told() -> None:
    with pytest.raises(AddressError, match="cannot be resolved"):
        await resolve(typed_address("http://nowhere.invalid"), ["*"])
