"""The administrator's settings of the extension, as ``c.DaskDiagLab`` in Jupyter's configuration.

Only traits: what they mean for a request is decided where they are read.
"""

from __future__ import annotations

from typing import Final

from traitlets import Bool, Float, HasTraits, Int, List, Unicode

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
MIB: Final = 1024 * 1024


class Settings(HasTraits):
    """What an administrator may decide; `extension.DaskDiagLab` is configured with it."""

    relay = Bool(
        True,
        help="""Whether plots are relayed to the browser. When off, dashboards are listed but
        no plot can be opened, and none can be added by hand. Enforced on the server.""",
    ).tag(config=True)

    allowed_hosts = List(
        Unicode(),
        default_value=list(LOOPBACK_NAMES),
        help="""Hosts whose stock Dask dashboards users may add by hand: names, patterns with
        "*" (such as "node*.cluster.local"), IP addresses, or networks (such as "10.1.0.0/16").
        Link-local and cloud metadata addresses are refused always. The default is this machine
        only. An empty list means that none can be added. The user's own announced clusters
        need no entry.""",
    ).tag(config=True)

    poll_interval_s = Float(
        0.5,
        min=0.1,
        max=60.0,
        help="""Seconds between two looks for new clusters while a browser listens.""",
    ).tag(config=True)

    health_interval_s = Float(
        1.0,
        min=0.2,
        max=600.0,
        help="""Seconds between two questions to a dashboard how it is, while a browser listens.
        Stock dashboards, which run inside the scheduler, are asked five times less often.""",
    ).tag(config=True)

    health_timeout_s = Float(
        5.0,
        min=0.1,
        max=60.0,
        help="""Seconds after which a dashboard that does not answer is shown as unreachable. A
        kernel that computes in pure Python on a busy machine may take a second or two.""",
    ).tag(config=True)

    answer_timeout_s = Float(
        30.0,
        min=1.0,
        max=600.0,
        help="""Seconds that a relayed request may wait for its first byte, and for each next
        one. A kernel that holds the interpreter answers only when it lets go.""",
    ).tag(config=True)

    max_message_bytes = Int(
        64 * MIB,
        min=MIB,
        help="""Bytes of the largest websocket message that is relayed from a dashboard to the
        browser. A larger one closes that plot's connection.""",
    ).tag(config=True)

    max_answer_bytes = Int(
        256 * MIB,
        min=MIB,
        help="""Bytes of the largest HTTP answer that is relayed, such as a plot's data as
        CSV. A larger one is broken off.""",
    ).tag(config=True)
