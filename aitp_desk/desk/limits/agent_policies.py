"""What agents may do less, by what they call themselves: agents.txt's agent blocks.

A name is proven by nobody. So a block only ever lessens what the address or the credential may do,
and what is counted under a name is counted within one address or credential: nobody can use up
another's by taking its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from aitp_desk.config import EVERYBODY, AgentLimits
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.counters import Counters, Window, end_of_minute
from aitp_desk.model.errors import Forbidden


class AgentPolicies:
    """The blocks of a site, for all its desks together.

    Parameters:
        blocks: each under a name of its own.
        clock: Unix seconds.
    """

    def __init__(self, blocks: Iterable[AgentLimits], clock: Callable[[], float]) -> None:
        self._blocks = {block.name.lower(): block for block in blocks}
        self._counters = Counters(end_of_minute, clock)

    def find(self, user_agent: str) -> AgentLimits | None:
        """The block of whoever sends a User-Agent, that of everybody else where it has none.

        Its first word counts, up to a slash, in either case (agents.txt 1.0, section 3.6).
        """
        return self.find_by_name(user_agent) or self._blocks.get(EVERYBODY)

    def find_by_name(self, name: str) -> AgentLimits | None:
        """The block of an agent that is named so, as a User-Agent names it; None for none."""
        if not self._blocks:
            return None
        words = name.replace("/", " ").split(maxsplit=1)
        return self._blocks.get(words[0].lower()) if words and words[0] != EVERYBODY else None

    @property
    def default_policy(self) -> AgentLimits | None:
        """The block of agents that have none of their own."""
        return self._blocks.get(EVERYBODY)

    def count(self, principal: Principal, block: AgentLimits) -> Window:
        """Count a request of an agent against its block."""
        return self._counters.count((principal.limited_as, block.name), block.per_minute)


def check_action(blocks: Sequence[AgentLimits], action: str) -> None:
    """Refuse what an agent's block does not let it call.

    Raises:
        Forbidden: a block lists actions, and not this one.
    """
    for block in blocks:
        if not may_call(block, action):
            who = "Agents without limits of their own" if block.name == EVERYBODY else block.name
            raise Forbidden(f"{who} may call here: {', '.join(block.actions)}.")


def may_call(block: AgentLimits, action: str) -> bool:
    """Whether a block lets an agent call an action."""
    return not block.actions or action in block.actions
