"""Calls or proposes the action that a message of a run asks for.

This serves agents that call no tools: others choose an action themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.agent.base import Answer, Said, Turn
from aitp_desk.agent.history.message_codec import is_from_person
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Invocation,
    write_no_messages,
)
from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.prompts import describe_accepted
from aitp_desk.desk.dialogue.statements import Ask
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.plugins.messages.parts import may_have_structure
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import RunOptions
from aitp_desk.model.conversation.thread import Message
from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    NotAuthenticated,
    StoreBusy,
    UnknownAction,
)
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads


class ActionRequests:
    """Calls queries at once, and proposes what changes something or costs.

    Parameters:
        matcher: finds the action that a message names, or that its words ask for.

    Attributes:
        agent_tools: calls the site's actions for the run's caller.
    """

    def __init__(self, store: Store, matcher: ActionMatcher, agent_tools: AgentTools) -> None:
        self._store = store
        self._matcher = matcher
        self.agent_tools = agent_tools

    async def answer(
        self,
        asker: Principal,
        turn: Turn,
        options: RunOptions,
        conversation: Conversation,
        due: Sequence[Message],
    ) -> Said | None:
        """Return the outcome of the action that words ask for, or what it needs; or None.

        A question of the agent's own is answered by the words, not by an action. The text of a
        structured message asks for none: a quote of another party names what it sells.

        Parameters:
            due: the messages to answer.
        """
        answers_agent = turn.pending is not None and conversation.answers is None
        if answers_agent or options.tools or options.tool_choice == "none":
            return None
        ask = AskRequest(
            turn.action or CONTENT_SEARCH,
            turn.question,
            locale=turn.locale,
            is_from_person=all(map(is_from_person, due)),
        )
        action = await self._matcher.match(asker, ask)
        if action is None or await self._has_structure(conversation.thread_id, due):
            return None
        if isinstance(action, Answer):
            return action
        invoker, dialogues = self.agent_tools.invoker, self.agent_tools.dialogues
        try:
            offered = invoker.find(asker, action.name)
            if action.kind != "query":
                self.agent_tools.limiter.count_call(asker)
            base = Invocation(
                action.name,
                {},
                "text",
                thread_id=conversation.thread_id,
                run_id=conversation.run_id,
            )
            stated = await dialogues.hold(
                asker,
                offered,
                dialogues.begin(offered, base).read(
                    turn.question, None, only_asks=action.kind != "query", asks_again=True
                ),
                conversation.note_begun,
                conversation.note_ended,
            )
        except (UnknownAction, Forbidden, NotAuthenticated):
            return None
        except StoreBusy:
            raise
        except DeskError as error:
            return Answer(error.message, tools_used=(action.name,))
        match stated:
            case CompletedCall(call):
                return invoker.offer_result(call)
            case AcceptedCall(call):
                return describe_accepted(call)
            case Ask(needed, words, _, memory):
                waiting = await invoker.pending_calls.write_pending(
                    asker, needed, memory, write_no_messages
                )
                return msgspec.structs.replace(words, waits=waiting.id)
            case _:
                return None

    async def _has_structure(self, thread_id: str | None, due: Sequence[Message]) -> bool:
        """Return whether a message was structured before it became text for the agent."""
        if thread_id is None:
            return False
        stored = [await reads.message(self._store, thread_id, message.id) for message in due]
        return any(one is not None and may_have_structure(one.content) for one in stored)
