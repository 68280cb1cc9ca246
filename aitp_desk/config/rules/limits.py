"""Rules for the limits of agents and of tiers beyond their types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.access.limits import AgentLimits, Tier
from aitp_desk.model.access.principal import PREFIXES
from aitp_desk.model.access.scope import SCOPES_IN_WORDS, is_scope
from aitp_desk.model.calls.action import is_action_name

_PRINCIPAL = re.compile(rf"(?:{'|'.join(PREFIXES)})\S+")


def check_agent_limits(blocks: Sequence[AgentLimits]) -> Iterator[Problem]:
    """Yield faults of blocks without an agent, or with an ambiguous one."""
    yield from _check_names("agent_limits", [block.name.lower() for block in blocks])
    for block in blocks:
        for action in block.actions:
            if not is_action_name(action):
                yield Problem(
                    "agent_limits.actions",
                    f"{action!r} is not the name of an action; it takes names such as "
                    "content_search.",
                )


def check_tiers(tiers: Sequence[Tier]) -> Iterator[Problem]:
    """Yield faults that leave a tier without members."""
    yield from _check_names("tiers", [tier.name for tier in tiers])
    for tier in tiers:
        for principal in tier.principals:
            if not _PRINCIPAL.fullmatch(principal) or "*" in principal[:-1]:
                yield Problem(
                    "tiers.principals",
                    f"{principal!r} is not a caller; it takes key:, client:, jwt: or agent: and a"
                    " name, or the beginning of a name followed by *.",
                )
        for scope in tier.scopes:
            if not is_scope(scope):
                yield Problem(
                    "tiers.scopes",
                    f"{scope!r} is not a scope; the scopes are {SCOPES_IN_WORDS}.",
                )
        if not tier.principals and not tier.scopes:
            yield Problem(
                "tiers.principals", f"{tier.name!r} has no members; name callers or scopes."
            )


def _check_names(section: str, names: Sequence[str]) -> Iterator[Problem]:
    for place, name in enumerate(names):
        if not name:
            yield Problem(
                f"{section}.name", f"table {place + 1} of [[{section}]] has none that can be used."
            )
        elif name in names[:place]:
            yield Problem(f"{section}.name", f"{name!r} is used twice.")
