"""Rate limits: requests per minute, counted on arrival.

Anonymous callers are counted by address, callers with a credential by identity. Within that, the
agent that a request names (``User-Agent``, ``requesting_agent``) and its session are counted as
well: such a name is unproven, so it can only reduce what its caller may do. Every response reports
the scarcest remaining limit (AHP 0.1, sections 11.1 and 11.3; agents.txt 1.0, 7.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from aitp_desk.config import AgentLimits, Limits
from aitp_desk.desk.limits.agent_policies import AgentPolicies, check_action, may_call
from aitp_desk.desk.limits.shared_counts import SharedCounts
from aitp_desk.desk.limits.tiers import Tiers
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.counters import WINDOW_SECONDS, Counters, Window, end_of_minute
from aitp_desk.model.errors import LimitScope, RateLimited
from aitp_desk.model.text import write_count


class Allowance(msgspec.Struct):
    """A caller's remaining rate limit. It decreases as more is known of the request.

    Parameters:
        limit: requests in a window.
        remaining: requests left in this one.
        reset_at: Unix seconds when the next window begins.
        refused: the refusal to respond with when nothing was left, otherwise None.
        agents: the blocks of the agents that the request names.
    """

    limit: int
    remaining: int
    reset_at: int
    refused: RateLimited | None = None
    agents: tuple[AgentLimits, ...] = ()

    def tighten(self, other: Allowance) -> None:
        """Take over another limit on the same request, if it leaves less."""
        if self.refused is None and (other.refused is not None or other.remaining < self.remaining):
            self.limit = other.limit
            self.remaining = other.remaining
            self.reset_at = other.reset_at
            self.refused = other.refused

    def check(self) -> None:
        """Refuse the request if nothing is left.

        Raises:
            RateLimited: nothing is left.
        """
        if self.refused is not None:
            raise self.refused

    def check_action(self, action: str) -> None:
        """Refuse an action that the agents named by the request may not call.

        Raises:
            Forbidden: a block leaves the action out.
        """
        check_action(self.agents, action)

    def allows_action(self, action: str) -> bool:
        """Return whether the agents that the request names may call an action."""
        return all(may_call(block, action) for block in self.agents)


class RateLimiter:
    """Counts requests in one-minute windows, each starting with its first request.

    Parameters:
        clock: Unix seconds.
        agents: the blocks of agents, by name.
        tiers: callers with specific limits.
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
            "search": limits.search_per_minute,
        }
        self._callers = Counters(end_of_minute, clock)
        self._actions = Counters(end_of_minute, clock)
        self._agents = Counters(end_of_minute, clock)
        self._sessions = Counters(end_of_minute, clock)

    def share(self, shared: SharedCounts, desk: str) -> None:
        """Count together with the other processes, separately from further desks."""
        shared.add(f"{desk} callers", self._callers)
        shared.add(f"{desk} actions", self._actions)
        shared.add(f"{desk} agents", self._agents)
        shared.add(f"{desk} sessions", self._sessions)

    @property
    def one_agent(self) -> int:
        """Requests per minute of an agent without a specific block; 0 for no limit."""
        everybody = self._named.default_policy
        limits = (self._limits.agent_per_minute, everybody.per_minute if everybody else 0)
        return min((limit for limit in limits if limit), default=0)

    def find_agent(self, user_agent: str) -> AgentLimits | None:
        """Return the block for a User-Agent; None while limits are switched off."""
        return self._named.find(user_agent) if self._limits.enabled else None

    def count(
        self,
        principal: Principal,
        kind: Literal["static", "converse", "search"],
        agent: AgentLimits | None = None,
    ) -> Allowance | None:
        """Count one request and return the remaining limit; None while limits are switched off.

        Parameters:
            agent: the block of the agent that sends it, if it has one.
        """
        if not self._limits.enabled:
            return None
        limit, scope = self._find_limit(principal, kind)
        window = self._callers.count((kind, principal.limited_as), limit)
        allowance = self._allow(window, limit, scope, "")
        if agent is not None:
            self._add_agent(principal, agent, allowance)
        return allowance

    def give_back(
        self, principal: Principal, kind: Literal["static", "converse", "search"]
    ) -> None:
        """Take back the count of a request that is counted when it comes again."""
        if self._limits.enabled:
            limit, _ = self._find_limit(principal, kind)
            self._callers.count((kind, principal.limited_as), limit, -1)

    def _find_limit(
        self, principal: Principal, kind: Literal["static", "converse", "search"]
    ) -> tuple[int, LimitScope]:
        if principal.counts_by_address:
            return self._anonymous[kind], "ip"
        return self._limit_of(principal, kind), "principal"

    def _limit_of(self, principal: Principal, kind: Literal["static", "converse", "search"]) -> int:
        if kind == "search":
            return self._limits.search_per_minute
        tier = self._tiers.find_tier(principal)
        own = 0
        if tier is not None:
            own = tier.static_per_minute if kind == "static" else tier.converse_per_minute
        return own or self._limits.authenticated_per_minute

    def _add_agent(self, principal: Principal, block: AgentLimits, allowance: Allowance) -> None:
        """Apply the block of an agent that the request names."""
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
        """Count a question against its agent; requests without a name count as one agent.

        The block for this name applies to it as well, as it does to its User-Agent.

        Parameters:
            allowance: the caller's remaining limit; tightened if that of the agent is lower.

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
        """Count a call that may change something, which has a separate limit.

        Parameters:
            allowance: the caller's remaining limit; tightened if that of calls is lower.

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
            RateLimited: there were too many calls for this caller.
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
            allowance: the caller's remaining limit; tightened if that of the session is lower.

        Raises:
            RateLimited: there were too many questions in this session.
        """
        limit = self._limits.session_per_minute
        if allowance is None or not limit:
            return
        window = self._sessions.count(session_id, limit)
        allowance.tighten(self._allow(window, limit, "session", " in one session"))
        allowance.check()

    def _allow(self, window: Window, limit: int, scope: LimitScope, whose: str) -> Allowance:
        """Return the allowance that a window leaves after counting this request."""
        reset_at = math.ceil(window.ends)
        if window.counted <= limit:
            return Allowance(limit, limit - window.counted, reset_at)
        wait = max(1, math.ceil(window.ends - self._clock()))
        refused = RateLimited(
            f"More than {limit} requests{whose} in {WINDOW_SECONDS} seconds."
            f" Try again in {write_count(wait, 'second')}.",
            scope=scope,
            retry_after=wait,
        )
        return Allowance(limit, 0, reset_at, refused)
