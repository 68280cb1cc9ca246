"""Describes each operation: purpose, body and response, one row an address.

An address without a row is in the document as well, with what its route says.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aitp_desk.protocols.openapi.operation_text import OperationText

_THREAD = "/v1/threads/{thread_id}"
_MESSAGE = f"{_THREAD}/messages/{{message_id}}"
_RUN = f"{_THREAD}/runs/{{run_id}}"
_OPEN = OperationText(
    "Open a thread", "Thread", "ThreadDraft", is_repeatable=True, waits=True, statuses=(404,)
)
_DECLARED = OperationText("The capabilities for agents (agents.txt 1.0)")
_CATALOG = OperationText("The site's APIs, and what describes each (RFC 9727)")
_PREFLIGHT = OperationText("The methods that pages of other origins may use", empty=(204,))
_CONSOLE = "/console/api/"
_CONSOLE_TICKET = f"{_CONSOLE}tickets/{{ticket_id}}"
_CONSOLE_THREAD = f"{_CONSOLE}threads/{{thread_id}}"
_METADATA = "The authorization servers of this resource (RFC 9728)"
_RESOURCE = "GET /.well-known/oauth-protected-resource"

_NLWEB_ANSWER = "NLWebResults | NLWebResponse"
_NLWEB_QUERY = (
    "query",
    "prev",
    "decontextualized_query",
    "site",
    "mode",
    "streaming",
    "query_id",
    "max_results",
    "min_score",
)
_A2A_RPC = OperationText(
    "Call a method of A2A by JSON-RPC", "JSONRPCAnswer", "JSONRPCRequest", streams=True
)
_A2A_JSON = ("application/a2a+json",)


def _a2a(path: str, card: str) -> dict[str, OperationText]:
    """Return the operations of A2A over plain HTTP below a path."""
    task = f"{path}/tasks/{{task_id}}"
    pushes = f"{task}/pushNotificationConfigs"
    followed = OperationText("Follow a task (A2A)", streams=True)
    return {
        f"POST {path}/message:send": OperationText(
            "Send a message (A2A)", is_repeatable=True, also=_A2A_JSON
        ),
        f"POST {path}/message:stream": OperationText(
            "Send a message and follow its task (A2A)",
            is_repeatable=True,
            streams=True,
        ),
        f"GET {task}": OperationText("Read a task (A2A)", also=_A2A_JSON),
        f"POST {task}:cancel": OperationText("Cancel a task (A2A)", also=_A2A_JSON),
        f"POST {task}:subscribe": followed,
        f"GET {task}:subscribe": followed,
        f"POST {pushes}": OperationText(
            "Configure push notifications of a task (A2A)", also=_A2A_JSON
        ),
        f"GET {pushes}": OperationText(
            "List the push notification configurations of a task (A2A)", also=_A2A_JSON
        ),
        f"GET {pushes}/{{push_id}}": OperationText(
            "Read a push notification configuration (A2A)", also=_A2A_JSON
        ),
        f"DELETE {pushes}/{{push_id}}": OperationText(
            "Delete a push notification configuration (A2A)", also=_A2A_JSON
        ),
        f"GET {path}/{card}": OperationText(
            "The extended A2A card, for authenticated callers", also=_A2A_JSON
        ),
    }


_OF_CAPABILITIES = MappingProxyType(
    {
        "hooks": OperationText("Deliver a webhook to a capability", "Taken"),
        "schemas": OperationText("Read a schema or a document of a capability"),
    }
)
"""By protocol: the paths depend on what the site has enabled."""


def find_operation(protocol: str, method: str, path: str) -> OperationText:
    """Return the description of an operation.

    Parameters:
        protocol: the name of its protocol.
        path: as the route has it; for a further agent without its name.
    """
    known = _OF_CAPABILITIES.get(protocol) or OPERATIONS.get(f"{method} {path}")
    return known or OperationText(f"{method} {path}")


OPERATIONS: Mapping[str, OperationText] = MappingProxyType(
    {
        "POST /v1/thread": _OPEN,
        "POST /v1/threads": _OPEN,
        f"GET {_THREAD}": OperationText("Read a thread", "Thread"),
        f"POST {_THREAD}": OperationText(
            "Change a thread's metadata, or read it", "Thread", "Update"
        ),
        f"DELETE {_THREAD}": OperationText("Delete a thread", "Deleted"),
        f"POST {_THREAD}/claim": OperationText(
            "Become the owner of a thread without an owner", "Thread"
        ),
        f"GET {_THREAD}/messages": OperationText(
            "List messages", "Message", is_list=True, query=("run_id",)
        ),
        f"POST {_THREAD}/messages": OperationText(
            "Post a message on a thread", "Message", "MessageDraft", is_repeatable=True, waits=True
        ),
        f"GET {_MESSAGE}": OperationText("Read a message", "Message"),
        f"POST {_MESSAGE}": OperationText(
            "Change a message's metadata, or read it", "Message", "Update"
        ),
        f"POST {_MESSAGE}/feedback": OperationText("Rate a message", "Feedback", "FeedbackDraft"),
        f"POST {_THREAD}/contact": OperationText(
            "Leave an email address for a person's answer", "Contact", "ContactDraft"
        ),
        f"DELETE {_MESSAGE}": OperationText("Delete a message", "Deleted", query=("with_replies",)),
        f"GET {_THREAD}/events": OperationText(
            "Follow the events of a thread", query=("after",), streams=True, statuses=(410,)
        ),
        f"GET {_THREAD}/threads": OperationText(
            "List the child threads: what partner sites were asked", "Thread", is_list=True
        ),
        f"GET {_THREAD}/actors": OperationText("List the participants", "Actor", is_list=True),
        f"POST {_THREAD}/actors": OperationText("Add an actor", "Actor", "ActorDraft"),
        f"DELETE {_THREAD}/actors/{{actor}}": OperationText("Remove an actor", "Deleted"),
        f"GET {_THREAD}/requests": OperationText(
            "List the open requests", "OpenRequest", is_list=True
        ),
        f"POST {_THREAD}/requests/{{capability}}/{{request_id}}": OperationText(
            "Answer an open request with its form", "Message", is_repeatable=True, waits=True
        ),
        f"GET {_THREAD}/transcript": OperationText(
            "Read the signed transcript of a thread",
            "Transcript",
            query=("seq",),
        ),
        f"POST {_THREAD}/transcript/signatures": OperationText(
            "Store a signature of a thread", "HeadSignature", "HeadSignatureDraft"
        ),
        f"GET {_THREAD}/grants": OperationText(
            "List the grants of a thread", "Grant", is_list=True
        ),
        f"POST {_THREAD}/grants": OperationText("Share a thread", "Grant", "GrantDraft"),
        f"DELETE {_THREAD}/grants/{{grant_id}}": OperationText("Revoke a grant", "Deleted"),
        "POST /v1/threads/runs": OperationText(
            "Open a thread and start a run on it",
            "Run",
            "ThreadRunDraft",
            is_repeatable=True,
            waits=True,
            streams=True,
            statuses=(404,),
        ),
        f"GET {_THREAD}/runs": OperationText("List runs", "Run", is_list=True),
        f"POST {_THREAD}/runs": OperationText(
            "Start a run", "Run", "RunDraft", is_repeatable=True, waits=True, streams=True
        ),
        f"GET {_RUN}": OperationText("Read a run", "Run"),
        f"POST {_RUN}": OperationText("Change a run's metadata, or read it", "Run", "Update"),
        f"POST {_RUN}/cancel": OperationText("Stop a run", "Run"),
        f"POST {_RUN}/submit_tool_outputs": OperationText(
            "Submit the tool outputs of a run", "Run", "ToolOutputs", waits=True, streams=True
        ),
        f"GET {_RUN}/steps": OperationText("List the steps of a run", "RunStep", is_list=True),
        f"GET {_RUN}/steps/{{step_id}}": OperationText("Read a step of a run", "RunStep"),
        "POST /v1/files": OperationText("Upload a file", "File"),
        "GET /v1/files": OperationText("List your files", "File", is_list=True),
        "GET /v1/files/{file_id}": OperationText("Read the metadata of a file", "File"),
        "GET /v1/files/{file_id}/content": OperationText("Download a file", gives_files=True),
        "DELETE /v1/files/{file_id}": OperationText("Delete a file", "Deleted"),
        "GET /v1/sealed/{ref}": OperationText(
            "Read a sealed value, with the scope sensitive", "Sealed"
        ),
        "GET /v1/assistants": OperationText("List the site's agents", "Assistant", is_list=True),
        "POST /v1/assistants": OperationText("Refused: assistants are the site's own"),
        "GET /v1/assistants/{assistant_id}": OperationText(
            "Read the metadata of an agent", "Assistant"
        ),
        "POST /v1/assistants/{assistant_id}": OperationText(
            "Refused: assistants are the site's own"
        ),
        "DELETE /v1/assistants/{assistant_id}": OperationText(
            "Refused: assistants are the site's own"
        ),
        "POST /v1/chat/completions": OperationText(
            "Answer a conversation that is sent whole (OpenAI Chat Completions)",
            "ChatCompletion",
            "ChatCompletionDraft",
            is_repeatable=True,
            streams=True,
        ),
        "POST /v1/responses": OperationText(
            "Answer a question (OpenAI Responses)",
            "Response",
            "ResponseDraft",
            is_repeatable=True,
            streams=True,
        ),
        "GET /v1/responses/{response_id}": OperationText("Read a response", "Response"),
        "DELETE /v1/responses/{response_id}": OperationText("Delete a response", "Deleted"),
        "GET /v1/responses/{response_id}/input_items": OperationText(
            "List what a response was asked", "InputMessage", is_list=True
        ),
        "POST /v1/responses/{response_id}/cancel": OperationText(
            "Cancel a response in the background", "Response"
        ),
        "GET /v1/models": OperationText("List the models of the site's agents"),
        "GET /v1/models/{model}": OperationText("Read the metadata of a model", "Model"),
        "GET /.well-known/agent.json": OperationText(
            "The AHP manifest: capabilities, limits and addresses",
            "AHPManifest",
            also=("application/agent+json",),
        ),
        "POST /agent/converse": OperationText(
            "Ask a question, or several in a session", "AHPResponse", "AHPRequest", statuses=(202,)
        ),
        "GET /agent/converse/status/{session_id}": OperationText(
            "The status of a call that was accepted in a session", "AHPResponse"
        ),
        "GET /ask": OperationText(
            "Ask a question (NLWeb)", _NLWEB_ANSWER, query=_NLWEB_QUERY, streams=True
        ),
        "POST /ask": OperationText(
            "Ask a question (NLWeb)", _NLWEB_ANSWER, "NLWebRequest", streams=True
        ),
        "GET /who": OperationText(
            "List the site agents that answer (NLWeb)",
            "NLWebAgents",
            query=("query", "max_results"),
        ),
        "POST /who": OperationText(
            "List the site agents that answer (NLWeb)", "NLWebAgents", "NLWebWhoRequest"
        ),
        "GET /agents.txt": _DECLARED,
        "GET /.well-known/agents.txt": _DECLARED,
        "GET /agents.json": _DECLARED,
        "GET /.well-known/agents.json": _DECLARED,
        "OPTIONS /agents.txt": _PREFLIGHT,
        "OPTIONS /.well-known/agents.txt": _PREFLIGHT,
        "OPTIONS /agents.json": _PREFLIGHT,
        "OPTIONS /.well-known/agents.json": _PREFLIGHT,
        "GET /llms.txt": OperationText("A line on each page of the site"),
        "GET /llms-full.txt": OperationText("All pages of the site in full"),
        "GET /robots.txt": OperationText("What crawlers may read (RFC 9309)"),
        "GET /sitemap.xml": OperationText("The addresses of the pages (sitemaps.org)"),
        "GET /.well-known/security.txt": OperationText(
            "How to report a vulnerability (RFC 9116)", statuses=(404,)
        ),
        "GET /.well-known/http-message-signatures-directory": OperationText(
            "The key that signs requests to partners (Web Bot Auth)", statuses=(404,)
        ),
        "POST /peers/callbacks/{call_id}/{proof}": OperationText(
            "Have a partner asked how a long call has ended", statuses=(204, 404)
        ),
        "GET /.well-known/api-catalog": _CATALOG,
        "GET /.well-known/": _CATALOG,
        "GET /health": OperationText("Whether the process responds", "Health"),
        "GET /ready": OperationText("Whether the desk can do its work", "Readiness"),
        "GET /metrics": OperationText("The desk's metrics, for operators"),
        "GET /.well-known/agent-card.json": OperationText("The A2A card: how to send tasks"),
        "POST /a2a": _A2A_RPC,
        "POST /a2a/": _A2A_RPC,
        **_a2a("/a2a", "extendedAgentCard"),
        **_a2a("/a2a/v1", "card"),
        "GET /a2a/tasks": OperationText("List your tasks (A2A)", also=_A2A_JSON),
        "POST /oauth/token": OperationText("Get an access token", "Token", "TokenRequest"),
        "POST /oauth/register": OperationText(
            "Register a client", "Client", "ClientDraft", statuses=(201,)
        ),
        "GET /oauth/authorize": OperationText("Refused: there is no sign-in for people"),
        "GET /.well-known/oauth-authorization-server": OperationText(
            "Describe the issuer (RFC 8414)"
        ),
        "GET /.well-known/aitp-transcript-keys.json": OperationText(
            "The public keys that sign transcripts (RFC 7517)"
        ),
        "GET /.well-known/jwks.json": OperationText("The issuer's public keys (RFC 7517)"),
        _RESOURCE: OperationText(_METADATA),
        f"{_RESOURCE}/v1": OperationText(_METADATA),
        f"{_RESOURCE}/mcp": OperationText(_METADATA),
        f"{_RESOURCE}/agent/converse": OperationText(_METADATA),
        "GET /openapi.json": OperationText("This document"),
        "GET /docs": OperationText("This document as a page, for people"),
        "GET /capabilities": OperationText("List the actions"),
        "GET /capabilities/{name}": OperationText("Describe an action"),
        "POST /capabilities/{name}": OperationText(
            "Call an action with its arguments",
            "CallStatus | AHPResponse",
            is_repeatable=True,
            statuses=(202,),
        ),
        "GET /capabilities/{name}/calls/{call_id}": OperationText(
            "The status of a call", "CallStatus"
        ),
        "POST /mcp": OperationText(
            "Call the actions as tools (MCP, JSON-RPC)",
            "JSONRPCAnswer",
            "JSONRPCRequest",
            streams=True,
            empty=(202,),
        ),
        "GET /": OperationText("The home page"),
        "GET /search": OperationText(
            "Search the titles and headings of the pages", "PageHits", query=("q", "lang")
        ),
        "GET /assets/desk/{name}": OperationText(
            "A file that the desk's own pages load", gives_files=True
        ),
        "GET /widget.js": OperationText("The chat component, as a script tag includes it"),
        "GET /widget.d.ts": OperationText("The chat component, for TypeScript"),
        "GET /widget/settings.json": OperationText(
            "Title, greeting and suggestions of the chat", query=("lang",)
        ),
        "GET /widget/logo": OperationText(
            "The picture in the heading of the chat", gives_files=True, statuses=(404,)
        ),
        "GET /widget/visitor": OperationText("Who the chat's visitor is, and their open chat"),
        "GET /widget": OperationText("A page with nothing but the chat, for frames"),
        "GET /widget/{version}/{name:.*}": OperationText(
            "A file that the chat component loads", gives_files=True
        ),
        "GET /{path:.*}": OperationText(
            "A page of the site, or a file that a page declares", gives_files=True
        ),
        "GET /console": OperationText("The operators' page"),
        "GET /console/": OperationText("The operators' page"),
        "GET /console/assets/{version}/{name:.*}": OperationText(
            "A file that the console's pages load", gives_files=True
        ),
        f"POST {_CONSOLE}session": OperationText(
            "Sign in to the console", "ConsoleSession", "ConsoleSignIn"
        ),
        f"GET {_CONSOLE}session": OperationText("The signed-in operator", "ConsoleSession"),
        f"DELETE {_CONSOLE}session": OperationText("Sign out"),
        f"GET {_CONSOLE}tickets": OperationText(
            "List tickets",
            "ConsoleTickets",
            query=("state", "kind", "agent", "mine", "q", "after", "limit"),
        ),
        f"GET {_CONSOLE_TICKET}": OperationText("Read a ticket", "ConsoleTicket"),
        f"GET {_CONSOLE_TICKET}/similar": OperationText(
            "List similar earlier tickets", "ConsoleTickets"
        ),
        f"POST {_CONSOLE_TICKET}/take": OperationText(
            "Take a ticket", "ConsoleTicket", "EmptyBody"
        ),
        f"POST {_CONSOLE_TICKET}/release": OperationText(
            "Release a ticket", "ConsoleTicket", "EmptyBody"
        ),
        f"POST {_CONSOLE_TICKET}/answer": OperationText(
            "Answer a ticket", "ConsoleTicket", "ConsoleWords"
        ),
        f"POST {_CONSOLE_TICKET}/close": OperationText(
            "Close a ticket", "ConsoleTicket", "ConsoleReason"
        ),
        f"POST {_CONSOLE_TICKET}/approve": OperationText(
            "Approve the waiting call", "ConsoleTicket", "EmptyBody"
        ),
        f"POST {_CONSOLE_TICKET}/decline": OperationText(
            "Decline the waiting call", "ConsoleTicket", "ConsoleReason"
        ),
        f"GET {_CONSOLE}threads": OperationText(
            "List threads",
            "ConsoleThreads",
            query=("owner", "waiting", "agent", "q", "after", "limit"),
        ),
        f"GET {_CONSOLE_THREAD}": OperationText("Read a thread, as an operator", "ConsoleThread"),
        f"GET {_CONSOLE_THREAD}/messages": OperationText(
            "The messages of a thread", "ConsoleMessages", query=("before", "limit")
        ),
        f"GET {_CONSOLE_THREAD}/events": OperationText(
            "Follow the events of a thread", streams=True
        ),
        f"POST {_CONSOLE_THREAD}/take": OperationText(
            "Take a thread over", "ConsoleThread", "EmptyBody"
        ),
        f"POST {_CONSOLE_THREAD}/release": OperationText(
            "Give a thread back", "ConsoleThread", "EmptyBody"
        ),
        f"POST {_CONSOLE_THREAD}/say": OperationText(
            "Send a message as an operator", "ConsoleThread", "ConsoleWords"
        ),
        f"POST {_CONSOLE_THREAD}/typing": OperationText(
            "Show the visitor that the operator is typing", "EmptyBody", "EmptyBody"
        ),
        f"POST {_CONSOLE_THREAD}/messages": OperationText(
            "Send a capability's message as an operator", "ConsoleThread", "ConsoleStructured"
        ),
        f"POST {_CONSOLE_THREAD}/resolve": OperationText(
            "Mark the conversation as settled", "ConsoleThread", "ConsoleClosing"
        ),
        f"POST {_CONSOLE_THREAD}/notes": OperationText(
            "Add a note to a thread", "ConsoleNote", "ConsoleWords"
        ),
        f"GET {_CONSOLE}live": OperationText("Follow the waiting tickets", streams=True),
        f"GET {_CONSOLE}unanswered": OperationText(
            "List the questions that the content did not answer", "ConsoleUnanswered"
        ),
        f"GET {_CONSOLE}insights": OperationText(
            "What visitors asked for, by the day", "ConsoleInsights", query=("days",)
        ),
        f"GET {_CONSOLE}insights/questions": OperationText(
            "The questions that wait for a page", "ConsoleOpenQuestions", query=("days",)
        ),
        f"POST {_CONSOLE}insights/answered": OperationText(
            "Mark questions as answered by a page", "EmptyBody", "ConsoleAnswered"
        ),
        f"GET {_CONSOLE}insights/export": OperationText(
            "A table of the insights as CSV", query=("days", "table")
        ),
        f"GET {_CONSOLE}load": OperationText(
            "The number of waiting tickets", "ConsoleLoad", query=("hours",)
        ),
        f"GET {_CONSOLE}health": OperationText("The health of the desk's parts", "ConsoleHealth"),
        f"POST {_CONSOLE}sealed/{{ref}}": OperationText(
            "Read a sealed value", "ConsoleSealed", "EmptyBody"
        ),
        f"POST {_CONSOLE}platforms/{{name}}/code": OperationText(
            "Get a code to work from a platform", "ConsoleBindingCode", "EmptyBody"
        ),
    }
)
"""By method and the route's path; a further agent's without its name."""
