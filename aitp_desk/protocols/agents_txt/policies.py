"""Describes the policies of named agents, which the desk enforces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from aitp_desk.config import EVERYBODY, THREADS, AgentLimits
from aitp_desk.protocols.agents_txt.document import (
    ANY_AGENT,
    AgentPolicy,
    Capability,
    RateLimit,
)

CONVERSE: Final = "converse"
MCP: Final = "mcp"
A2A: Final = "a2a"
NLWEB: Final = "nlweb"
_WAYS: Final = frozenset({CONVERSE, MCP, A2A})
"""Entry points to every action."""


class AgentBlock(msgspec.Struct, frozen=True):
    """A capability block of the file.

    Parameters:
        of: its subject on the site's own desk: an action, conversations or an entry point. The same
            subject of a further site agent has another id.
    """

    of: str
    capability: Capability


def make_action_id(action: str) -> str:
    """Return the id of an action in the file, which allows no underscores."""
    return action.replace("_", "-")


def list_policies(
    blocks: Sequence[AgentLimits], told: Sequence[AgentBlock]
) -> Iterator[tuple[str, AgentPolicy]]:
    """Yield the policies of agents by their names (section 3.6).

    Parameters:
        blocks: the enforced limits.
        told: all capability blocks of the file.
    """
    if all(block.name != EVERYBODY for block in blocks):
        yield ANY_AGENT, AgentPolicy()
    for block in blocks:
        limit = RateLimit(block.per_minute, "minute") if block.per_minute else None
        listed = tuple(_usable(block, told)) if block.actions else None
        yield block.name, AgentPolicy(rate_limit=limit, capabilities=listed)


def _usable(block: AgentLimits, told: Sequence[AgentBlock]) -> Iterator[str]:
    """Yield the ids that a limited agent may use: actions and entry points."""
    named = {make_action_id(action) for action in block.actions}
    usable = named | (_WAYS if named != {THREADS} else set())
    yield from (one.capability.id for one in told if one.of in usable)
