"""How much a caller may do: requests a minute, counted when they arrive.

Anonymous callers are counted by address, callers with a credential by who they are. Within that the
agent that a request names (``User-Agent``, ``requesting_agent``) and its session are counted as
well: nobody has proven such a name, so it can only lessen what its caller may do. Every answer
tells how much is left of what is scarcest (AHP 0.1, sections 11.1 and 11.3; agents.txt 1.0, 7.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from aitp_desk.config import AgentLimits, Limits
from aitp_desk.desk.limits.agent_policies import AgentPolicies, check_action, may_call
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.counters import WINDOW_SECONDS, Counters, Window, end_of_minute
from aitp_desk.model.errors import LimitScope, RateLimited


class Allowance(msgspec.Struct):
    """What a caller has left. It becomes less as more is known of the request.

    Parameters:
        limit: requests in a window.
        remaining: requests left in this one.
        reset_at: Unix seconds when the next window begins.
        refused: the refusal to answer with when nothing was left, else None.
        agents: the blocks of the agents that the request names.
    """

    limit: int
    remaining: int
    reset_at: int
    refused: RateLimited | None = None
    agents: tuple[AgentLimits, ...] = ()

    def tighten(self, other: Allowance) -> None:
        """Become another one that counts the same request, where that leaves less."""
        if self.refused is None and (other.refused is not None or other.remaining < self.remaining):
            self.limit = other.limit
            self.remaining = other.remaining
            self.reset_at = other.reset_at
            self.refused = other.refused

    def check(self) -> None:
        """Refuse the request where nothing is left.

        Raises:
            RateLimited: nothing is.
        """
        if self.refused is not None:
            raise self.refused

    def check_action(self, action: str) -> None:
        """Refuse what an agent that the request names may not call.

        Raises:
            Forbidden: its block leaves the action out.
        """
        check_action(self.agents, action)

    def allows_action(self, action: str) -> bool:
        """Whether the agents that the request names may call an action."""
        return all(may_call(block, action) for block in self.agents)


class RateLimiter:
    """Counts requests in windows of a minute, each from the first request on.

    Parameters:
        clock: Unix seconds.
        agents: the blocks of agents by their names.
        tiers: which callers have limits of their own.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        agents: AgentPolicies | None = None,
        tiers: Tiers | None = None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._named = agents or AgentPolicies((), clock)
        self._tiers = tiers or Tiers()
        self._anonymous = {
            "static": limits.static_per_minute,
            "converse": limits.converse_per_minute,
        }
        self._callers = Counters(end_of_minute, clock)
        self._actions = Counters(end_of_minute, clock)
        self._agents = Counters(end_of_minute, clock)
        self._sessions = Counters(end_of_minute, clock)

    @property
    def one_agent(self) -> int:
        """Requests a minute of an agent that has no block of its own; 0 for no such limit."""
        everybody = self._named.default_policy
        limits = (self._limits.agent_per_minute, everybody.per_minute if everybody else 0)
        return min((limit for limit in limits if limit), default=0)

    def find_agent(self, user_agent: str) -> AgentLimits | None:
        """The block of whoever sends this User-Agent; None while limits are switched off."""
        return self._named.find(user_agent) if self._limits.enabled else None

    def count(
        self,
        principal: Principal,
        kind: Literal["static", "converse"],
        agent: AgentLimits | None = None,
    ) -> Allowance | None:
        """Count one request and tell what is left; None while limits are switched off.

        Parameters:
            agent: the block of the agent that sends it, where it has one.
        """
        if not self._limits.enabled:
            return None
        scope: LimitScope
        if principal.counts_by_address:
            limit, scope = self._anonymous[kind], "ip"
        else:
            limit, scope = self._limit_of(principal, kind), "principal"
        window = self._callers.count((kind, principal.limited_as), limit)
        allowance = self._allow(window, limit, scope, "")
        if agent is not None:
            self._add_agent(principal, agent, allowance)
        return allowance

    def _limit_of(self, principal: Principal, kind: Literal["static", "converse"]) -> int:
        tier = self._tiers.find_tier(principal)
        own = 0
        if tier is not None:
            own = tier.static_per_minute if kind == "static" else tier.converse_per_minute
        return own or self._limits.authenticated_per_minute

    def _add_agent(self, principal: Principal, block: AgentLimits, allowance: Allowance) -> None:
        """Hold a request to the block of an agent that it names."""
        allowance.agents += (block,)
        if block.per_minute:
            window = self._named.count(principal, block)
            whose = (
                f" of {block.name}" if block is not self._named.default_policy else " of an agent"
            )
            allowance.tighten(self._allow(window, block.per_minute, "agent", whose))

    def count_agent(
        self, principal: Principal, name: str | None, allowance: Allowance | None
    ) -> None:
        """Count a question against the agent that asks it; all that name none are one.

        An agent that has a block under this name is held to it, as it is by its User-Agent.

        Parameters:
            allowance: what the caller has left; it becomes the agent's where that is less.

        Raises:
            RateLimited: the agent has asked too often.
        """
        if allowance is None:
            return
        block = self._named.find_by_name(name) if name is not None else None
        if block is not None and block not in allowance.agents:
            self._add_agent(principal, block, allowance)
        if limit := self._limits.agent_per_minute:
            window = self._agents.count((principal.limited_as, name or ""), limit)
            allowance.tighten(self._allow(window, limit, "agent", " of one requesting_agent"))
        allowance.check()

    def count_action(self, principal: Principal, allowance: Allowance | None) -> None:
        """Count a call that may change something, which has a limit of its own.

        Parameters:
            allowance: what the caller has left; it becomes that limit's where that is less.

        Raises:
            RateLimited: the caller has called too often.
        """
        counted = None if allowance is None else self._count_action(principal)
        if allowance is not None and counted is not None:
            allowance.tighten(counted)
            allowance.check()

    def count_call(self, principal: Principal) -> None:
        """Count a call that may change something, which an agent makes for a caller.

        Raises:
            RateLimited: that was called too often for this caller.
        """
        counted = self._count_action(principal) if self._limits.enabled else None
        if counted is not None:
            counted.check()

    def _count_action(self, principal: Principal) -> Allowance | None:
        limit = self._limits.actions_per_minute
        if not limit:
            return None
        window = self._actions.count(principal.limited_as, limit)
        return self._allow(window, limit, "principal", " for actions")

    def count_session(self, session_id: str, allowance: Allowance | None) -> None:
        """Count a question against its session, which is known to be the caller's.

        Parameters:
            allowance: what the caller has left; it becomes the session's where that is less.

        Raises:
            RateLimited: too much was asked in this session.
        """
        limit = self._limits.session_per_minute
        if allowance is None or not limit:
            return
        window = self._sessions.count(session_id, limit)
        allowance.tighten(self._allow(window, limit, "session", " in one session"))
        allowance.check()

    def _allow(self, window: Window, limit: int, scope: LimitScope, whose: str) -> Allowance:
        """What a window leaves in which this request was counted."""
        reset_at = math.ceil(window.ends)
        if window.counted <= limit:
            return Allowance(limit, limit - window.counted, reset_at)
        wait = max(1, math.ceil(window.ends - self._clock()))
        refused = RateLimited(
            f"More than {limit} requests{whose} in {WINDOW_SECONDS} seconds."
            f" Try again in {wait} seconds.",
            scope=scope,
            retry_after=wait,
        )
        return Allowance(limit, 0, reset_at, refused)
