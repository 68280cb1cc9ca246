"""What holds for agents by their names, as agents.txt says it and the desk enforces it."""

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
_WAYS: Final = frozenset({CONVERSE, MCP, A2A})
"""What leads to actions, whichever these are."""


class AgentBlock(msgspec.Struct, frozen=True):
    """A block of the file.

    Parameters:
        of: what it is about, as the site's own desk calls it: an action, conversations, a way. The
            same of a further site agent has another id.
    """

    of: str
    capability: Capability


def make_action_id(action: str) -> str:
    """What an action is called in the file, which knows no underscores."""
    return action.replace("_", "-")


def list_policies(
    blocks: Sequence[AgentLimits], told: Sequence[AgentBlock]
) -> Iterator[tuple[str, AgentPolicy]]:
    """Yield what holds for agents by their names (section 3.6).

    Parameters:
        blocks: those that are enforced.
        told: all that the file tells of.
    """
    if all(block.name != EVERYBODY for block in blocks):
        yield ANY_AGENT, AgentPolicy()
    for block in blocks:
        limit = RateLimit(block.per_minute, "minute") if block.per_minute else None
        listed = tuple(_usable(block, told)) if block.actions else None
        yield block.name, AgentPolicy(rate_limit=limit, capabilities=listed)


def _usable(block: AgentLimits, told: Sequence[AgentBlock]) -> Iterator[str]:
    """What an agent may use that may call some actions alone: these, and the ways to them."""
    named = {make_action_id(action) for action in block.actions}
    usable = named | (_WAYS if named != {THREADS} else set())
    yield from (one.capability.id for one in told if one.of in usable)
