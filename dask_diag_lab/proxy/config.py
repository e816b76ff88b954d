"""The administrator's settings of the extension, as ``c.DaskDiagLab`` in Jupyter's configuration.

Only traits: what they mean for a request is decided where they are read.
"""

from __future__ import annotations

from traitlets import Bool, Float, HasTraits, List, Unicode


class Settings(HasTraits):
    """What an administrator may decide; `extension.DaskDiagLab` is configured with it."""

    relay = Bool(
        True,
        help="""Whether plots are relayed to the browser; when off, dashboards are only listed.""",
    ).tag(config=True)

    discover = Bool(
        True,
        help="""Whether Dask's own dashboards that run on this machine are found by themselves, in
        processes of the user of this server only.""",
    ).tag(config=True)

    dashboards = List(
        Unicode(),
        help="""Addresses of Dask's own dashboards that every user of this server sees, such as
        "http://scheduler.cluster.local:8787"; their hosts need no entry in allowed_hosts. They
        are tried again while they cannot be reached.""",
    ).tag(config=True)

    certificate_authorities = Unicode(
        "",
        help="""A file of certificate authorities (PEM) that are trusted for https dashboards, in
        addition to those of the system.""",
    ).tag(config=True)

    allowed_hosts = List(
        Unicode(),
        default_value=["localhost", "127.0.0.1", "::1"],
        help="""Hosts whose stock Dask dashboards users may add by hand: names, patterns such as
        "node*.cluster.local", IP addresses, or networks such as "10.1.0.0/16"; this machine only
        by default. Link-local and cloud metadata addresses are refused always. Clusters that are
        found by themselves need no entry.""",
    ).tag(config=True)

    answer_timeout_s = Float(
        30.0,
        min=1.0,
        max=600.0,
        help="""Seconds that a relayed request may wait for its first byte, and for each next
        one. A kernel that holds the interpreter answers only when it lets go.""",
    ).tag(config=True)
