"""The program of Synapse, imported once by a process whose copies run homeservers.

Importing takes most of a start. Twisted's reactor cannot be copied with the process, so each copy
has one of its own, as Synapse's own launcher for tests does it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from synapse.app.complement_fork_proxied_reactor import ProxiedReactor
from twisted.internet.main import installReactor

_reactor = ProxiedReactor()
installReactor(_reactor)  # type: ignore[no-untyped-call]

from synapse.app import _base, homeserver  # noqa: E402 - these would install another reactor


def run(config: Path, address: Path) -> None:
    """Run a homeserver until the process ends; its log is next to its configuration.

    Parameters:
        address: of the socket where it says that it takes requests.
    """
    from twisted.internet.epollreactor import EPollReactor

    os.chdir(config.parent)
    log = os.open("log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for output in (1, 2):
        os.dup2(log, output)
    _base.sdnotify_sockaddr = str(address)
    real = EPollReactor()  # type: ignore[no-untyped-call]
    _reactor._install_real_reactor(real)  # noqa: SLF001 - as Synapse's launcher calls it
    sys.argv = ["homeserver", "-c", str(config)]
    homeserver.main()
