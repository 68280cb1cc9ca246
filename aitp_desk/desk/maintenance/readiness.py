"""The desk's readiness report: a public part, and details for operators."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.agent.base import Agent, LimitedAgent
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.component import Component, ComponentState, state_of

TOKENS_SPENT = (
    "The day's tokens (claude.day_tokens) are used up: no model is called until midnight UTC."
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


def make_readiness(
    components: tuple[Component, ...],
    knowledge: Knowledge,
    agent: Agent,
    notes: Sequence[str],
) -> Readiness:
    """Build the report.

    Parameters:
        components: all components, in their current state.
        agent: the configured agent.
        notes: on the sources of actions.
    """
    status = state_of(components)
    jobs = next((one for one in components if one.name == "jobs"), None)
    given_up = [JOBS_DEAD] if jobs is not None and JOBS_DEAD in jobs.reason else []
    stand_in = agent.stand_in if isinstance(agent, LimitedAgent) else None
    spent = [] if stand_in is None else [TOKENS_SPENT]
    editions = knowledge.editions
    return Readiness(
        status != "down",
        jobs is not None and jobs.state != "down",
        len(editions.documents),
        len(editions.library.passages),
        len(editions.problems),
        stand_in or agent.name,
        (*given_up, *spent, *notes),
        status,
        components,
    )
