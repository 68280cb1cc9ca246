"""One run: the agent's reply to what waits on a thread, written down once."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from aitp_desk.agent.base import Agent, SiteFacts, answer_of
from aitp_desk.desk.context import read_context
from aitp_desk.desk.following import Following, Tell
from aitp_desk.desk.replying import read_turn, reply_metadata, write_reply
from aitp_desk.model.chain import new_salt
from aitp_desk.model.errors import DeskError
from aitp_desk.model.ids import new_id
from aitp_desk.model.thread import Actor, Origin
from aitp_desk.store.base import Store
from aitp_desk.store.records import ClaimedRun, NewMessage
from aitp_desk.store.work.runs import fail_run, finish_run

FAULT = "The desk could not answer this because of a fault of its own."

_log = structlog.get_logger()


class Turns:
    """Takes runs to their end."""

    def __init__(
        self,
        *,
        store: Store,
        agent: Agent,
        actor: Actor,
        site: SiteFacts,
        following: Following,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._agent = agent
        self._actor = actor
        self._site = site
        self._following = following
        self._clock = clock

    async def take(self, claim: ClaimedRun) -> None:
        """Answer what a claimed run has to answer, and commit the reply with the run's end.

        When the lease was lost meanwhile nothing is written: somebody else answers.
        """
        with self._following.answering(
            claim.thread_id, claim.id, after=claim.last_event, attempt=claim.attempt
        ) as tell:
            await self._finish(claim, tell)
        self._following.ended(claim.id)
        self._following.changed(claim.thread_id)

    async def _finish(self, claim: ClaimedRun, tell: Tell) -> None:
        try:
            replies = await self._reply(claim, tell)
        except DeskError as error:
            await self._fail(claim, error.message)
        except Exception:  # noqa: BLE001 -- whatever an agent does, its run ends
            _log.exception("fault", run=claim.id)
            await self._fail(claim, FAULT)
        else:
            await self._store.run(finish_run, claim=claim, replies=replies, now=int(self._clock()))

    async def _reply(self, claim: ClaimedRun, tell: Tell) -> tuple[NewMessage, ...]:
        told = await read_context(self._store, claim.thread_id, claim.upto_seq)
        turn = read_turn(told.messages, self._site, claim.id, told.before)
        if turn is None:
            return ()
        outcome = await answer_of(self._agent, turn, tell)
        reply = NewMessage(
            new_id("msg", self._clock()),
            new_salt(),
            "assistant",
            self._actor.id,
            Origin.DESK,
            write_reply(outcome, self._site.url),
            metadata=reply_metadata(outcome),
        )
        return (reply,)

    async def _fail(self, claim: ClaimedRun, error: str) -> None:
        await self._store.run(fail_run, claim=claim, error=error, now=int(self._clock()))
