"""The desk's readiness report: a public part, and details for operators."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.agent.base import Agent, LimitedAgent
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.component import Component, ComponentState, state_of

TOKENS_SPENT = (
    "The day's tokens (model.day_tokens) are used up: no model is called until midnight UTC."
)
"""Note while an agent that has used up its tokens is replaced."""
JOBS_DEAD = (
    "Some jobs failed permanently: 'aitp-desk jobs list --dead' shows them with their reasons."
)
"""Note while dead jobs are kept."""


class Readiness(msgspec.Struct, frozen=True):
    """Whether the desk can work, and with what.

    Parameters:
        working: whether runs are claimed.
        documents: number of pages it knows.
        problems: number of content files that could not be read.
        agent: the agent that answers now.
        notes: sentences for operators.
        status: the overall state.
        components: the state of each component; for operators.
        worker: the label of the process that answers, if there are several.
    """

    ready: bool
    working: bool
    documents: int
    passages: int
    problems: int
    agent: str = ""
    notes: tuple[str, ...] = ()
    status: ComponentState = "up"
    components: tuple[Component, ...] | UnsetType = UNSET
    worker: str | UnsetType = UNSET


class ReadinessReport:
    """Reports whether a desk can work.

    Parameters:
        agent: the configured agent.
        source_notes: returns notes on the sources of its actions.
    """

    def __init__(
        self,
        health_checks: HealthChecks,
        knowledge: Knowledge,
        agent: Agent,
        source_notes: Callable[[], tuple[str, ...]],
    ) -> None:
        self._health_checks = health_checks
        self._knowledge = knowledge
        self._agent = agent
        self._source_notes = source_notes

    async def check(self) -> Readiness:
        """Return the components' health, the content, and the agent that answers now."""
        components = await self._health_checks.get_components()
        status = state_of(components)
        jobs = next((one for one in components if one.name == "jobs"), None)
        given_up = [JOBS_DEAD] if jobs is not None and JOBS_DEAD in jobs.reason else []
        agent = self._agent
        stand_in = agent.stand_in if isinstance(agent, LimitedAgent) else None
        spent = [] if stand_in is None else [TOKENS_SPENT]
        editions = self._knowledge.editions
        return Readiness(
            status != "down",
            jobs is not None and jobs.state != "down",
            len(editions.documents),
            len(editions.library.passages),
            len(editions.problems),
            stand_in or agent.name,
            (*given_up, *spent, *self._source_notes()),
            status,
            components,
            self._health_checks.worker or UNSET,
        )
