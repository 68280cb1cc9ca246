"""Pages with the forms of messages, for platforms that show no forms themselves.

Opening a link changes nothing, since programs that scan messages open every link. The page asks for
what is open at that moment, so one that was answered is over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, Forbidden, RequestNotFound, ThreadNotFound
from aitp_desk.protocols.base.protocol import ANY_TYPE, HTML, Call, Reply, Route
from aitp_desk.store.base import Store
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.transports import Control, Conversation
from aitp_desk.store.units.transports import hear_person
from aitp_desk.transports.host.answer_limits import AnswerLimits
from aitp_desk.transports.host.controls import make_form
from aitp_desk.transports.host.people import (
    HashPerson,
    find_resumed,
    is_blocked,
    principal_of,
)
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say as say_of_host
from aitp_desk.transports.messages import Form
from aitp_desk.transports.pages.form_links import PATH, FormLinks
from aitp_desk.transports.pages.html import ON_PAGES
from aitp_desk.transports.pages.questionnaire import (
    NOTHING_GIVEN,
    Given,
    read_fields,
    read_values,
    render_fields,
)
from aitp_desk.transports.pages.texts import say, supported

MOST_BYTES = 256 * 1024
OVER = 410


class _Asked(msgspec.Struct, frozen=True):
    """What a link asks, and whom.

    Parameters:
        language: of the page (BCP 47).
    """

    control: Control
    conversation: Conversation
    form: Form
    language: str


class FormPages:
    """Serves the pages of forms.

    Parameters:
        transports: those of the site, by name.
        desks: of the site's agents, by name.
        links: lead to the pages.
        render: renders a page, as :func:`.html.render_action_page` for the site.
        hash_person: hashes the callers that people are.
        limits: of answers.
        clock: Unix seconds.
    """

    def __init__(
        self,
        transports: Mapping[str, EnabledTransport],
        desks: Mapping[str, Desk],
        *,
        store: Store,
        links: FormLinks,
        render: Callable[..., bytes],
        hash_person: HashPerson,
        limits: AnswerLimits,
        clock: Callable[[], float],
    ) -> None:
        self._transports = transports
        self._desks = desks
        self._store = store
        self._links = links
        self._render_page = render
        self._hash_person = hash_person
        self._limits = limits
        self._clock = clock

    def make_routes(self) -> tuple[Route, ...]:
        """Return the routes of the page. The link is the proof, so the caller is anonymous."""
        return (
            Route("GET", PATH, self._show, None, identifies=False),
            Route(
                "POST", PATH, self._take, None, MOST_BYTES, media_type=ANY_TYPE, identifies=False
            ),
        )

    async def _show(self, _desk: Desk, call: Call) -> Reply:
        """``/transports/form``: the form."""
        asked = await self._find(call)
        return self._ask(asked) if asked is not None else self._say_over(call)

    async def _take(self, _desk: Desk, call: Call) -> Reply:
        """``/transports/form``: what was filled in."""
        asked = await self._find(call)
        if asked is None:
            return self._say_over(call)
        given = read_fields(call.body)
        values, wrong = read_values(asked.form, given)
        if wrong:
            return self._ask(asked, say("wrong", asked.language, name=wrong), given)
        conversation = asked.conversation
        limiter = self._desks[conversation.desk].limiter
        enabled = self._transports[conversation.transport]
        refused = self._limits.count(limiter, principal_of(conversation), enabled)
        if refused is not None:
            raise refused
        try:
            await self._answer(asked, values)
        except (RequestNotFound, ThreadNotFound, Forbidden):
            return self._say_over(call, asked.language)
        except DeskError as error:
            return self._ask(asked, str(error), given)
        lead = f"{say('done', asked.language)} {say('leave', asked.language)}"
        return self._render(asked.language, asked.form.title, lead)

    async def _find(self, call: Call) -> _Asked | None:
        """Return what a link asks now; None for nothing."""
        token = self._links.read(call.query.get("link", ""))
        if token is None:
            return None
        control = await transport_reads.control(self._store, token)
        if control is None or control.expires_at < self._clock():
            return None
        conversation = await transport_reads.conversation(self._store, control.conversation)
        if conversation is None:
            return None
        enabled = self._transports.get(conversation.transport)
        desk = self._desks.get(conversation.desk)
        if enabled is None or desk is None:
            return None
        if is_blocked(conversation.person, enabled.common.blocked):
            return None
        language = conversation.language or desk.site.language
        try:
            requests = await desk.open_requests.list_for_thread(
                principal_of(conversation), conversation.thread_id
            )
        except (ThreadNotFound, Forbidden):
            return None
        named = (control.capability, control.request)
        form = next(
            (
                make_form(one, token, language)
                for one in requests
                if (one.capability, one.id) == named and one.answers_as is not None
            ),
            None,
        )
        return None if form is None else _Asked(control, conversation, form, language)

    async def _answer(self, asked: _Asked, values: Mapping[str, object]) -> None:
        """Post the answer, as the person of the conversation.

        Raises:
            DeskError: it is refused.
        """
        control, conversation = asked.control, asked.conversation
        # who sends the same twice gives one answer
        digest = hashlib.sha256(msgspec.json.encode(values)).hexdigest()[:32]
        request = RequestInfo("POST", PATH, b"", f"form {control.token} {digest}")
        also = partial(
            hear_person,
            conversation.id,
            "",
            "",
            now=int(self._clock()),
            resumed=find_resumed(conversation, self._hash_person),
        )
        await self._desks[conversation.desk].open_requests.answer_request(
            principal_of(conversation, self._transports[conversation.transport].common.actions),
            conversation.thread_id,
            (control.capability, control.request),
            values,
            request,
            also,
        )

    def _ask(self, asked: _Asked, lead: str = "", given: Given = NOTHING_GIVEN) -> Reply:
        fields = render_fields(asked.form, given)
        return self._render(
            asked.language, asked.form.title, lead, action=asked.form.submit, fields=fields
        )

    def _say_over(self, call: Call, language: str = "") -> Reply:
        """Say that nothing is asked: it was answered or replaced, has expired, or never was."""
        chosen = language or call.headers.get("Accept-Language", "")[:2]
        title = say_of_host("choice_over", chosen)
        return self._render(chosen, title, say("leave", chosen), status=OVER)

    def _render(
        self,
        language: str,
        title: str,
        lead: str,
        *,
        action: str = "",
        fields: str = "",
        status: int = 200,
    ) -> Reply:
        body = self._render_page(
            language=supported(language),
            title=title,
            lead=lead,
            action=action,
            fields=fields,
        )
        return Reply(status, body, HTML, ON_PAGES)
