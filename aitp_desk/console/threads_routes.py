"""What operators do with conversations (``/console/api/threads``)."""

from __future__ import annotations

from aitp_desk.auth.console_sessions import Session
from aitp_desk.console.acting import MAX_BODY, Acting, LastWords, Nothing, Words
from aitp_desk.console.signing_in import SigningIn
from aitp_desk.console.threads_wire import (
    decode_thread_filter,
    line_body,
    note_body,
    said_body,
    thread_body,
)
from aitp_desk.console.wire import decode, decode_limit, encode
from aitp_desk.desk.overseeing import Overseeing
from aitp_desk.desk.stepping_in import SteppingIn
from aitp_desk.protocols.reply import Call, Reply, Route


class ThreadsRoutes:
    """Lists conversations, shows them, and has operators speak there."""

    def __init__(self, overseeing: Overseeing, stepping_in: SteppingIn, acting: Acting) -> None:
        self._overseeing = overseeing
        self._stepping_in = stepping_in
        self._acting = acting

    async def list_all(self, session: Session, call: Call) -> Reply:
        """``GET threads``: those in which something was said last first."""
        asked = decode_thread_filter(call.query, session.operator, self._overseeing.agents)
        page = await self._overseeing.threads(
            asked, call.query.get("after") or None, decode_limit(call.query)
        )
        data = [line_body(line) for line in page.lines]
        return Reply(200, encode({"data": data, "next": page.next}))

    async def show(self, _session: Session, call: Call) -> Reply:
        """``GET threads/{thread_id}``: who takes part, what is asked for and noted."""
        return Reply(200, encode(thread_body(await self._overseeing.thread(_id(call)))))

    async def messages(self, _session: Session, call: Call) -> Reply:
        """``GET threads/{thread_id}/messages``: what was said, the newest page of it first."""
        before = call.query.get("before") or None
        page = await self._overseeing.messages(_id(call), before, decode_limit(call.query))
        data = [said_body(said) for said in page.messages]
        return Reply(200, encode({"data": data, "before": page.before}))

    async def take(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/take``: the agent is silent from now on."""
        decode(call.body, Nothing)
        await self._stepping_in.take(_id(call), session.operator, self._acting.by(call))
        return await self._done(session, call)

    async def release(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/release``: the agent answers again."""
        decode(call.body, Nothing)
        await self._stepping_in.release(_id(call), self._acting.by(call))
        return await self._done(session, call)

    async def say(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/say``: the visitor reads these words."""
        words = decode(call.body, Words).words
        await self._stepping_in.say(_id(call), words, session.operator, self._acting.by(call))
        return await self._done(session, call)

    async def resolve(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/resolve``: nobody is waited for, the agent answers again."""
        words = decode(call.body, LastWords).words
        await self._stepping_in.resolve(_id(call), words, session.operator, self._acting.by(call))
        return await self._done(session, call)

    async def note(self, session: Session, call: Call) -> Reply:
        """``POST threads/{thread_id}/notes``: for operators alone."""
        words = decode(call.body, Words).words
        note = await self._stepping_in.note(
            _id(call), words, session.operator, self._acting.by(call)
        )
        self._acting.done(None)
        return Reply(200, encode(note_body(note)))

    def routes(self, signing_in: SigningIn) -> tuple[Route, ...]:
        """Their addresses, but for that of the events."""
        acts = {
            "take": self.take,
            "release": self.release,
            "say": self.say,
            "resolve": self.resolve,
            "notes": self.note,
        }
        return (
            signing_in.route("GET", "threads", self.list_all),
            signing_in.route("GET", "threads/{thread_id}", self.show),
            signing_in.route("GET", "threads/{thread_id}/messages", self.messages),
            *(
                signing_in.route("POST", f"threads/{{thread_id}}/{name}", act, MAX_BODY)
                for name, act in acts.items()
            ),
        )

    async def _done(self, session: Session, call: Call) -> Reply:
        """What stands there now."""
        self._acting.done(_id(call))
        return await self.show(session, call)


def _id(call: Call) -> str:
    return call.params["thread_id"]
