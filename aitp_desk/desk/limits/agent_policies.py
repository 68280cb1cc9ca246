"""Limits of agents by the name they claim: the agent blocks of agents.txt.

A name is not proven. So a block only reduces what the address or the credential may do, and
requests under a name are counted within one address or credential: no caller can use up another's
limit by taking its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from aitp_desk.config import EVERYBODY, AgentLimits
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.counters import Counters, Window, end_of_minute
from aitp_desk.model.errors import Forbidden


class AgentPolicies:
    """The agent blocks of a site, for all its desks together.

    Parameters:
        blocks: each with a unique name.
        clock: Unix seconds.

    Attributes:
        counters: requests by caller and block; shared with other processes.
    """

    def __init__(self, blocks: Iterable[AgentLimits], clock: Callable[[], float]) -> None:
        self._blocks = {block.name.lower(): block for block in blocks}
        self.counters = Counters(end_of_minute, clock)

    def find(self, user_agent: str) -> AgentLimits | None:
        """Return the block for a User-Agent, or the default block if it has none.

        The first word counts, up to a slash, case-insensitively (agents.txt 1.0, section 3.6).
        """
        return self.find_by_name(user_agent) or self._blocks.get(EVERYBODY)

    def find_by_name(self, name: str) -> AgentLimits | None:
        """Return the block for an agent's name, as in a User-Agent; None for none."""
        if not self._blocks:
            return None
        words = name.replace("/", " ").split(maxsplit=1)
        return self._blocks.get(words[0].lower()) if words and words[0] != EVERYBODY else None

    @property
    def default_policy(self) -> AgentLimits | None:
        """The block of agents that have no specific one."""
        return self._blocks.get(EVERYBODY)

    def count(self, principal: Principal, block: AgentLimits) -> Window:
        """Count a request of an agent against its block."""
        return self.counters.count((principal.limited_as, block.name), block.per_minute)


def check_action(blocks: Sequence[AgentLimits], action: str) -> None:
    """Refuse an action that an agent's block does not allow.

    Raises:
        Forbidden: a block lists actions, and not this one.
    """
    for block in blocks:
        if not may_call(block, action):
            who = "Agents without their own limits" if block.name == EVERYBODY else block.name
            raise Forbidden(f"{who} may call only {', '.join(block.actions)}.")


def may_call(block: AgentLimits, action: str) -> bool:
    """Return whether a block lets an agent call an action."""
    return not block.actions or action in block.actions
