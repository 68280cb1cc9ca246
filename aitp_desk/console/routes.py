"""The operators' pages, put together: their files, and what they ask (``/console/api``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.auth.console_sessions import ConsoleSessions
from aitp_desk.auth.data_keys import DataKeys
from aitp_desk.auth.guesses import Guesses
from aitp_desk.auth.verified import Epoch
from aitp_desk.config import Config
from aitp_desk.console.files import CONSOLE_PATH, ConsoleFiles
from aitp_desk.console.signing_in import SigningIn
from aitp_desk.console.wire import render_error
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.noting import Noting
from aitp_desk.protocols.reply import Door
from aitp_desk.store.base import Store

HOUR_SECONDS = 3600


def make_sessions(
    config: Config,
    *,
    store: Store,
    keys: DataKeys,
    epoch: Epoch,
    guesses: Guesses | None,
    clock: Callable[[], float],
) -> ConsoleSessions | None:
    """What knows who has signed in; None where there are no operators' pages.

    Parameters:
        keys: the desk's data keys.
        epoch: that of credentials.
        guesses: bounds how many API keys are looked up in vain.
        clock: Unix seconds.
    """
    if not config.console.enabled:
        return None
    return ConsoleSessions(
        store=store,
        keys=keys,
        epoch=epoch,
        guesses=guesses,
        seconds=config.console.hours * HOUR_SECONDS,
        clock=clock,
    )


def make_doors(
    sessions: ConsoleSessions | None,
    desks: Sequence[Desk],
    noting: Noting,
    clock: Callable[[], float],
) -> tuple[Door, ...]:
    """The door; none where there are no operators' pages.

    Parameters:
        desks: of all site agents, the site's own first.
        noting: notes what is seen at the door.
        clock: Unix seconds.
    """
    if sessions is None:
        return ()
    signing_in = SigningIn(
        sessions, desks[0].site, [desk.name for desk in desks], noting.refused, clock
    )
    routes = (*ConsoleFiles().routes(), *signing_in.routes())
    return (Door("console", routes, owns=(f"{CONSOLE_PATH}/",), render_error=render_error),)
