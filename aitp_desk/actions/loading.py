"""The site's own actions, read from its folder once, when the desk starts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from aitp_desk.actions.base import Offered
from aitp_desk.actions.declare import DeclaredAction
from aitp_desk.actions.faults import ActionsError, Faults
from aitp_desk.actions.modules import is_wanted
from aitp_desk.config import Config


class Actions(msgspec.Struct, frozen=True):
    """What a site has declared.

    Parameters:
        offered: its actions, in the order of their declaration.
    """

    offered: tuple[Offered, ...] = ()


def load_actions(config: Config, *, taken: Collection[str] = ()) -> Actions:
    """Import the module that ``site.actions`` names, and make of its declarations what they offer.

    Parameters:
        config: of the site, or of a further site agent.
        taken: names that no action may have: those of the desk's own.

    Raises:
        ActionsError: it cannot be imported, or something is wrong with a declaration; tells all.
    """
    if not is_wanted(config.folder, config.site.actions):
        return Actions()
    from aitp_desk.actions.importing import import_declarations

    faults = Faults(config.folder)
    offered: dict[str, Offered] = {}
    declarations = import_declarations(config.folder, config.site.actions, faults)
    names = {declared.function.__name__ for declared in declarations}
    for declared in declarations:
        made = _make(declared, {*names, *taken}, faults)
        if made is None:
            continue
        name = made.action.name
        if name in taken:
            faults.tell(
                declared.function, "has the name of an action of the desk's own; rename it."
            )
        elif name in offered:
            faults.tell(declared.function, "is declared twice; rename one of the two.")
        else:
            offered[name] = made
    if faults.problems:
        raise ActionsError(faults.problems)
    return Actions(tuple(offered.values()))


def _make(
    declared: DeclaredAction[..., Any], known: Collection[str], faults: Faults
) -> Offered | None:
    from aitp_desk.actions.making import make_offered

    def tell(message: str) -> None:
        faults.tell(declared.function, message)

    for check in declared.checks:
        for name in check.recovery.actions if check.recovery else ():
            if name not in known:
                tell(
                    f"names {name!r} as what helps where {check.precondition.name!r} is not met;"
                    " there is no such action."
                )
    return make_offered(declared, tell)
