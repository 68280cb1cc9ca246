"""What is said in a session while a person has its conversation: that person's words, and no other.

The agent is silent then. What the visitor says is kept for that person to read; what that person
has said since the visitor's last turn is the answer.
"""

from __future__ import annotations

from aitp_desk.agent.base import Answer
from aitp_desk.desk.recording import Recording
from aitp_desk.desk.sessions import Session, Sessions
from aitp_desk.model.principal import Principal
from aitp_desk.store import reads, ticket_reads
from aitp_desk.store.base import Store

NEWEST = 20
"""How many of a person's newest messages are told at once."""
HELD = (
    "A person has taken this conversation over and reads what you write."
    " Ask again for their answer."
)
"""What is said where that person has said nothing yet."""


class Holding:
    """Keeps the agent silent in sessions whose conversation a person has."""

    def __init__(self, store: Store, sessions: Sessions, recording: Recording) -> None:
        self._store = store
        self._sessions = sessions
        self._recording = recording

    async def hold(self, principal: Principal, session: Session, words: str) -> Answer | None:
        """Take note of a visitor's words in a session that a person has.

        Parameters:
            session: whose turn is the caller's.

        Returns:
            What that person has said; None where the agent is to answer.

        Raises:
            StoreBusy, UnknownSession: nothing was written.
        """
        operator = await ticket_reads.thread_operator(self._store, session.thread_id)
        if operator is None:
            return None
        said = await self._said_by(operator, session.thread_id)
        await self._recording.write(self._recording.turn(principal, session, question=words))
        self._sessions.forget(session)
        return Answer("\n\n".join(said) or HELD)

    async def _said_by(self, operator: str, thread_id: str) -> list[str]:
        """What an operator has said since the visitor spoke last, in order."""
        page = await reads.messages(self._store, thread_id, order="desc", limit=NEWEST)
        said: list[str] = []
        for message in page.messages:
            if message.role == "user":
                break
            if message.actor == operator:
                said[:0] = message.content
        return said
