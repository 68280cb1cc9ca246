"""Loads the site's actions and resources from its folder, once at the start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import msgspec

from aitp_desk.actions.base import OfferedAction, OfferedResource
from aitp_desk.actions.declaration.action import DeclaredAction
from aitp_desk.actions.declaration.resource import READS, DeclaredResource
from aitp_desk.actions.faults import ActionsError, DeclarationFaults
from aitp_desk.actions.loader.modules import is_wanted
from aitp_desk.config import Config
from aitp_desk.config.rules.settings_rules import RESERVED


class Actions(msgspec.Struct, frozen=True):
    """The declarations of a site.

    Parameters:
        offered: its actions, in the order of their declaration.
        resources: its resource types, with unique paths.
    """

    offered: tuple[OfferedAction, ...] = ()
    resources: tuple[OfferedResource, ...] = ()


def load_actions(
    config: Config,
    *,
    taken: Collection[str] = (),
    is_elsewhere: Callable[[str], bool] = lambda _name: False,
) -> Actions:
    """Import the module that ``site.actions`` names, and build its declarations.

    Parameters:
        config: of the site, or of a further site agent.
        taken: reserved names: those of the desk's own actions.
        is_elsewhere: returns whether another source offers an action of this name.

    Raises:
        ActionsError: it cannot be imported, or declarations have faults; it lists all.
    """
    if not is_wanted(config.folder, config.site.actions):
        return Actions()
    from aitp_desk.actions.loader.imports import import_declarations

    faults = DeclarationFaults(config.folder)
    declarations = import_declarations(config.folder, config.site.actions, faults)
    named: set[str] = set()
    readers = {one.reader for one in declarations if isinstance(one, DeclaredResource)} - {""}
    for one in declarations:
        name = one.function.__name__
        if name in taken:
            faults.add_fault(
                one.function, "has the name of one of the desk's own actions; rename it."
            )
        elif name in named:
            faults.add_fault(one.function, "is declared twice; rename one of the two.")
        elif name in readers:
            told = f"has the name of the query that reads {name.removeprefix(READS)!r}; rename it."
            faults.add_fault(one.function, told)
        named.add(name)
    actions = [one for one in declarations if isinstance(one, DeclaredAction)]
    offered = _make_actions(
        actions,
        lambda name: name in named or name in taken or name in readers or is_elsewhere(name),
        faults,
    )
    declared = {one.function.__name__ for one in actions}
    resources = _make_resources(
        [one for one in declarations if isinstance(one, DeclaredResource)],
        lambda name: name in declared or name in readers or is_elsewhere(name),
        RESERVED.union(agent.name for agent in config.agents),
        faults,
    )
    if faults.problems:
        raise ActionsError(faults.problems)
    own = tuple(made for _, made in offered if made is not None)
    paid = tuple(one.reader for one in resources if one.reader is not None)
    return Actions((*own, *paid), resources)


def _make_actions(
    declarations: Sequence[DeclaredAction[..., Any]],
    is_action: Callable[[str], bool],
    faults: DeclarationFaults,
) -> list[tuple[DeclaredAction[..., Any], OfferedAction | None]]:
    if not declarations:
        return []
    from aitp_desk.actions.declaration.action_builder import build_action

    made = []
    for declared in declarations:
        report = partial(faults.add_fault, declared.function)
        for check in declared.checks:
            for name in check.recovery.actions if check.recovery else ():
                if not is_action(name):
                    report(
                        f"recommends {name!r} if {check.precondition.name!r} is not met,"
                        " but there is no such action."
                    )
        made.append((declared, build_action(declared, report)))
    return made


def _make_resources(
    declarations: Sequence[DeclaredResource[..., Any]],
    is_action: Callable[[str], bool],
    reserved: Collection[str],
    faults: DeclarationFaults,
) -> tuple[OfferedResource, ...]:
    if not declarations:
        return ()
    from aitp_desk.actions.declaration.resource_builder import build_resource

    resources: list[OfferedResource] = []
    for declared in declarations:
        made = build_resource(declared, is_action, partial(faults.add_fault, declared.function))
        if made is None:
            continue
        template = made.type.template
        if template.segments[0] in reserved:
            faults.add_fault(
                declared.function,
                f"has the path {template}, which the desk uses itself; choose another.",
            )
        for other in resources:
            if other.type.template.meets(template):
                faults.add_fault(
                    declared.function,
                    f"has the path {template}, which matches the same addresses as"
                    f" {other.type.template} of {other.type.name}. Change one of them.",
                )
        resources.append(made)
    return tuple(resources)
