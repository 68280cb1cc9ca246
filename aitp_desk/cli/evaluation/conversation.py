"""A conversation with a site's agent, without a server and without a record."""

from __future__ import annotations

from aitp_desk.agent.base import (
    Agent,
    Clarification,
    PendingQuestion,
    Said,
    SiteFacts,
    Turn,
    Utterance,
    read_answer,
)
from aitp_desk.agent.history.message_codec import find_source, write_reply


class Conversation:
    """Asks one question after the other, as one visitor does.

    Parameters:
        site: the facts of the agent's site.
        locale: tag of the language that the visitor prefers; None for the site's own.
    """

    def __init__(self, agent: Agent, site: SiteFacts, locale: str | None = None) -> None:
        self._agent = agent
        self._site = site
        self._locale = locale
        self._transcript: tuple[Utterance, ...] = ()
        self._pending: PendingQuestion | None = None

    def turn(self, question: str) -> Turn:
        """Return the turn for the next question."""
        return Turn(
            question,
            self._site,
            transcript=self._transcript,
            pending=self._pending,
            locale=self._locale,
        )

    async def ask(self, question: str) -> Said:
        """Ask a question and return the agent's reply.

        Raises:
            Unavailable: the agent cannot answer now.
        """
        said = await read_answer(self._agent, self.turn(question))
        self.add(question, said)
        return said

    def add(self, question: str, said: Said) -> None:
        """Add a question and its reply to the transcript."""
        reply = write_reply(said, self._site.url)
        before = self._pending
        self._pending = None
        if isinstance(said, Clarification):
            is_again = before is not None and {*said.options} <= {*before.options}
            about = before.about if before is not None and is_again else question
            self._pending = PendingQuestion(about, said.question, said.options)
        self._transcript += (
            Utterance("visitor", question),
            Utterance("desk", reply[0], source=find_source(reply)),
        )
