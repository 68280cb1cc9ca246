"""A visitor of MCP servers over streamable HTTP: their tools, and the one that answers questions.

The client declares no capabilities, so a server asks it for no form, no sampling and no
roots: what a person has to decide comes back as a result, to the visit's policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from yarl import URL

from aitp_desk import own_version
from aitp_desk.egress import Fetched
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.visitor.base import Answer, Choice, Endpoint, Outcome, SiteAction
from aitp_desk.visitor.clients.aitp.wire import find_later
from aitp_desk.visitor.clients.mcp.wire import (
    HANDSHAKE,
    KNOWN,
    META,
    STATELESS,
    Envelope,
    Initialized,
    Result,
    Tool,
    ToolPage,
    find_asking_tool,
    list_sources,
    read_envelope,
    read_safety,
)
from aitp_desk.visitor.clients.prices import make_agreed
from aitp_desk.visitor.clients.responses import make_refusal, shorten
from aitp_desk.visitor.discovery.members import text_of
from aitp_desk.visitor.errors import (
    CallFailed,
    CredentialNeeded,
    NotOffered,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
)
from aitp_desk.visitor.fetcher import Fetcher
from aitp_desk.visitor.payments import read_asked_quote, read_quote

MAX_PAGES = 20
MAX_TOOLS = 1000
"""The most tools that are listed; a server with more is refused."""
POLL_SECONDS = 1.0
LONGEST_POLL_SECONDS = 30.0
STATUS_TOOL = "call_status"
"""The tool of a desk that says how a call goes."""

_T = TypeVar("_T")


class McpClient:
    """One session with a server."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._url = endpoint.url
        self._fetcher = fetcher
        self._version: str | None = None
        self._session: str | None = None
        self._tools: tuple[Tool, ...] | None = None
        self._conversation: str | None = None
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self._requests = 0

    async def ask(self, question: str) -> Answer:
        """Call the tool that answers questions, found by its schema."""
        found = find_asking_tool(await self._list_tools())
        if found is None:
            raise NotOffered("The server has no tool that answers questions.")
        tool, member = found
        arguments = {member: question}
        properties = tool.input_schema.get("properties")
        if self._conversation is not None and "session_id" in (properties or {}):
            arguments["session_id"] = self._conversation
        result = await self._call_tool(tool.name, arguments)
        if result.is_error:
            raise SiteRefused(f"The server refused: {shorten(result.text)}")
        data = result.structured_content or {}
        session = data.get("session_id")
        if isinstance(session, str):
            self._conversation = session
        text = data.get("answer")
        text = text if isinstance(text, str) else result.text
        options = data.get("options")
        choices = tuple(
            Choice(one, one)
            for one in (options if isinstance(options, list) else ())
            if isinstance(one, str)
        )
        is_question = data.get("status") == "clarification_needed"
        return Answer(
            text,
            "question" if is_question else "answer",
            list_sources(result),
            choices,
            data=data,
            quote=read_asked_quote(data, text) if is_question else None,
            later=find_later(self._conversation, text_of(data, "asked_person")),
            is_conclusive="call_id" in result.meta,
        )

    async def choose(self, choice: Choice) -> Answer:
        """Answer in words what the site asks."""
        return await self.ask(choice.value)

    async def actions(self) -> Sequence[SiteAction]:
        """Return the tools; their hints say what harm they may do."""
        origin = str(URL(self._url).origin())
        return [
            SiteAction(
                tool.name,
                tool.description or "",
                origin,
                input_schema=tool.input_schema,
                safety=read_safety(tool.annotations),
                idempotent=bool(tool.annotations and tool.annotations.idempotent_hint),
            )
            for tool in await self._list_tools()
        ]

    async def call(self, action: SiteAction, arguments: Mapping[str, Any], key: str) -> Outcome:
        """Call a tool."""
        self._calls[key] = (action.name, dict(arguments))
        return self._make_outcome(await self._call_tool(action.name, arguments, key), key)

    async def poll(self, outcome: Outcome) -> Outcome:
        """Ask the desk's own tool how a call goes, not at once again."""
        pause = outcome.retry_after or POLL_SECONDS
        await self._fetcher.wait(pause)
        named = msgspec.json.decode(outcome.reference, type=dict[str, str])
        polled = self._make_outcome(await self._call_tool(STATUS_TOOL, named), outcome.reference)
        if polled.kind == "waiting":
            return msgspec.structs.replace(polled, retry_after=min(pause * 2, LONGEST_POLL_SECONDS))
        return polled

    async def accept(self, outcome: Outcome) -> Outcome:
        """Call the tool again with its payment, or with agreement to exactly its price."""
        quote, payer = outcome.quote, self._fetcher.identity.payer
        known = self._calls.get(outcome.reference)
        if quote is None:
            raise NotOffered("Nothing is to be paid.")
        if known is None:
            answer = await self.ask(
                msgspec.json.encode(payer.pay(quote)).decode()
                if quote.prepaid and payer is not None
                else "yes"
            )
            return make_agreed(answer)
        name, arguments = known
        if not quote.prepaid:
            agreed: Any = {"amount": f"{quote.money.amount:f}", "currency": quote.money.currency}
            extra = {CONFIRMATION: agreed}
        elif payer is None:
            raise PolicyRefused("The visit has nothing to pay from.")
        else:
            extra = {PAYMENT: {"payment": payer.pay(quote)["payment"]}}
        key = outcome.reference
        result = await self._call_tool(name, {**arguments, **extra}, f"{key}-agreed")
        return self._make_outcome(result, key)

    def save(self) -> Mapping[str, Any]:
        """Return the conversation of the tool that answers."""
        return {"conversation": self._conversation}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on with a conversation, in another session of the protocol."""
        self._conversation = saved["conversation"]

    async def close(self) -> None:
        """End the session, if the server has given one."""
        if self._session is not None:
            with suppress(SiteFailed, PolicyRefused):  # else the server ends it later
                await self._fetcher.send(
                    self._url, method="DELETE", headers=self._headers(""), attempts=1
                )
            self._session = None

    def _make_outcome(self, result: Result, reference: str) -> Outcome:
        data = result.structured_content or {}
        if result.is_error:
            return self._make_refused(result, data, reference)
        if data.get("status") == "pending" and isinstance(data.get("call_id"), str):
            named = {name: data[name] for name in ("capability", "call_id") if name in data}
            return Outcome(
                "waiting",
                result.text,
                msgspec.json.encode(named).decode(),
                retry_after=POLL_SECONDS,
            )
        if data.get("status") == "clarification_needed":
            return Outcome("question", result.text, reference)
        is_polled = data.get("status") == "success" and "result" in data
        return Outcome(
            "done",
            result.text,
            reference,
            data["result"] if is_polled else result.structured_content,
        )

    def _make_refused(self, result: Result, data: Mapping[str, Any], reference: str) -> Outcome:
        """Return a price or missing arguments; raise any other refusal."""
        told = data.get("error")
        told = told if isinstance(told, Mapping) else data
        code = told.get("code")
        quote = read_quote(told, shorten(result.text))
        if quote is not None:
            return Outcome("payable", result.text, reference, quote=quote)
        if code == "missing_field" or "send" in told:
            return Outcome("question", result.text, reference)
        is_ended = data.get("status") in {"failed", "expired"}  # the status of a call that was made
        kind = CredentialNeeded if code == "not_authenticated" else SiteRefused
        kind = CallFailed if is_ended else kind
        raise kind(
            f"The server refused: {shorten(result.text)}",
            recovery=shorten(code) if isinstance(code, str) else "",
        )

    async def _list_tools(self) -> tuple[Tool, ...]:
        """Return all tools, page by page, within bounds."""
        if self._tools is not None:
            return self._tools
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = await self._request("tools/list", params, ToolPage)
            tools += page.tools
            if len(tools) > MAX_TOOLS:
                break
            if page.next_cursor is None or page.next_cursor == cursor:
                self._tools = tuple({tool.name: tool for tool in tools}.values())
                return self._tools
            cursor = page.next_cursor
        raise SiteFailed(f"The server lists more than {MAX_TOOLS} tools, or no end of pages.")

    async def _call_tool(self, name: str, arguments: Mapping[str, Any], key: str = "") -> Result:
        params = {"name": name, "arguments": dict(arguments)}
        return await self._request("tools/call", params, Result, key=key)

    async def _request(
        self, method: str, params: dict[str, Any], form: type[_T], *, key: str = ""
    ) -> _T:
        """Send a request in the session, which the first one opens."""
        try:
            return await self._request_once(method, params, form, key)
        except SiteRefused as refusal:
            if refusal.status != 404 or self._session is None:
                raise
        # the server has forgotten the session, so it has not done anything
        self._version = self._session = None
        return await self._request_once(method, params, form, key)

    async def _request_once(
        self, method: str, params: dict[str, Any], form: type[_T], key: str
    ) -> _T:
        if self._version is None:
            await self._open()
        if self._version == STATELESS:
            params = {**params, "_meta": make_meta()}
        headers = self._headers(method, params.get("name", ""))
        if key:
            headers["Idempotency-Key"] = key
        envelope, _ = await self._post(method, params, headers)
        try:
            return msgspec.json.decode(envelope.result, type=form)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SiteFailed(
                f"The server did not respond in the form of MCP: {shorten(str(error))}"
            ) from None

    async def _open(self) -> None:
        """Agree on a version: by the handshake, or without one where there is none."""
        params = {
            "protocolVersion": HANDSHAKE,
            "capabilities": {},
            "clientInfo": {"name": self._fetcher.identity.name, "version": own_version()},
        }
        try:
            envelope, found = await self._post("initialize", params, self._headers("initialize"))
        except CredentialNeeded:
            raise
        except SiteRefused as refusal:
            if refusal.recovery not in {"-32601", "-32022"}:
                raise
            self._version = STATELESS
            return
        try:
            version = msgspec.json.decode(envelope.result, type=Initialized).protocol_version
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SiteFailed(
                f"The server did not respond in the form of MCP: {shorten(str(error))}"
            ) from None
        if version not in KNOWN:
            raise SiteFailed(f"The server speaks MCP {shorten(version)}, which is unknown here.")
        session = found.headers.get("Mcp-Session-Id")
        if session is not None and not (session.isascii() and session.isprintable()):
            raise SiteFailed("The server's session id is not of visible ASCII characters.")
        self._version, self._session = version, session
        await self._fetcher.send(
            self._url,
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            method="POST",
            headers=self._headers("notifications/initialized"),
        )

    def _headers(self, method: str, name: str = "") -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream"}
        if self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        if self._session is not None:
            headers["Mcp-Session-Id"] = self._session
        if self._version == STATELESS:
            headers["Mcp-Method"] = method
            if name:
                headers["Mcp-Name"] = name
        return headers

    async def _post(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[Envelope, Fetched]:
        """Send a request, and return the response that has its id."""
        self._requests += 1
        body = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        found = await self._fetcher.send(self._url, body, method="POST", headers=headers)
        if found.status in {401, 403} or (
            found.status >= 400 and not found.body.lstrip().startswith(b"{")
        ):
            raise make_refusal(found, "")
        envelope = read_envelope(found, self._requests)
        if envelope.error is not None:
            raise make_refusal(found, envelope.error.message, recovery=str(envelope.error.code))
        return envelope, found


def make_meta() -> dict[str, Any]:
    """Return what each request says of its sender, in the version without sessions."""
    return {f"{META}protocolVersion": STATELESS, f"{META}clientCapabilities": {}}
