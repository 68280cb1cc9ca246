"""What the desk tells of its readiness: to anybody, and to those who run it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.agent.base import Agent, LimitedAgent
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.component import Component, ComponentState, state_of

TOKENS_SPENT = (
    "The tokens of the day (claude.day_tokens) are used up: no model is asked until midnight, UTC."
)
"""What is said while an agent is replaced that has used what it may."""
JOBS_DEAD = "Jobs were given up: 'aitp-desk jobs list --dead' shows which, and why."
"""What is said while dead jobs are kept."""


class Readiness(msgspec.Struct, frozen=True):
    """Whether the desk can do its work, and with what.

    Parameters:
        working: whether runs are taken up.
        documents: how many pages it knows.
        problems: how many files of the content could not be read.
        agent: who answers now.
        notes: what somebody who watches the desk should know, in sentences.
        status: how it is on the whole.
        components: how each of its parts is; for those who run it.
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
    """Put it together.

    Parameters:
        components: all parts, as they are now.
        agent: who answers.
        notes: of where actions come from.
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
