"""The shapes of what is sent and answered, as an OpenAPI document has them.

They only describe: each door reads and writes its own format, and a test holds its answers against
these. Whatever further members an object has, its reader passes over. Their names stand in the
document and in the programs that are generated from it.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.model.money import Money


class Health(msgspec.Struct):
    """The process answers."""

    status: Literal["ok"]


class Readiness(msgspec.Struct):
    """Whether the desk can do its work, and with what."""

    ready: bool
    working: bool
    documents: int
    passages: int
    problems: int
    agent: str
    notes: list[str]


class Attachment(msgspec.Struct):
    """A file that is attached to a message."""

    file_id: str
    tools: list[dict[str, str]] = []


class Message(msgspec.Struct):
    """A message of a thread. With OpenAI-Beta, content holds objects."""

    id: str
    object: Literal["thread.message"]
    created_at: int
    thread_id: str
    role: str
    content: list[str | dict[str, Any]]
    metadata: dict[str, str]
    attachments: list[Attachment]
    run_id: str | None
    status: str = "completed"


class MessageDraft(msgspec.Struct):
    """What is said on a thread."""

    content: str | list[str | dict[str, Any]]
    role: str = "user"
    attachments: list[Attachment] | None = None
    metadata: dict[str, str] | None = None


class Capability(msgspec.Struct):
    """A family of structured messages that an actor understands."""

    schema: str


class Actor(msgspec.Struct):
    """Somebody who takes part in a thread."""

    id: str
    capabilities: list[Capability]


class ActorDraft(msgspec.Struct):
    """An actor that joins a thread."""

    id: str
    capabilities: list[str | dict[str, Any]] | None = None
    principal: str | None = None


class Thread(msgspec.Struct):
    """A thread with its newest messages. Those are left out with OpenAI-Beta."""

    id: str
    object: Literal["thread"]
    created_at: int
    metadata: dict[str, Any]
    messages: list[Message] = []


class ThreadDraft(msgspec.Struct):
    """A thread to be opened: what is said on it at once, and by whom."""

    messages: list[str | MessageDraft] | None = None
    metadata: dict[str, Any] | None = None


class Update(msgspec.Struct):
    """What changes; without metadata nothing does, and the object is read."""

    metadata: dict[str, Any] | None = None


class Run(msgspec.Struct):
    """An agent's work on a thread."""

    id: str
    object: Literal["thread.run"]
    thread_id: str
    status: str
    created_at: int
    assistant_id: str
    metadata: dict[str, str]


class RunDraft(msgspec.Struct):
    """A run to be started."""

    assistant_id: str
    instructions: str | None = None
    additional_instructions: str | None = None
    additional_messages: list[MessageDraft] | None = None
    tools: list[dict[str, Any]] | None = None
    stream: bool | None = None
    metadata: dict[str, str] | None = None


class ThreadRunDraft(msgspec.Struct):
    """A thread to be opened, and a run on it."""

    assistant_id: str
    thread: ThreadDraft | None = None
    stream: bool | None = None


class ToolOutput(msgspec.Struct):
    """What a caller's function gave."""

    tool_call_id: str
    output: str


class ToolOutputs(msgspec.Struct):
    """What a run has waited for."""

    tool_outputs: list[ToolOutput]
    stream: bool | None = None


class RunStep(msgspec.Struct):
    """A step of a run."""

    id: str
    object: Literal["thread.run.step"]
    run_id: str
    thread_id: str
    type: str
    status: str


class Grant(msgspec.Struct):
    """With whom a thread is shared. A new link's secret is told once."""

    id: str
    object: Literal["thread.grant"]
    thread_id: str
    created_at: int
    principal: str | None
    link: bool
    may: Literal["read", "write"]
    expires_at: int | None


class GrantDraft(msgspec.Struct):
    """With whom a thread is to be shared: a caller who is known, or by a link."""

    may: Literal["read", "write"]
    principal: str | None = None
    link: bool | None = None
    expires_at: int | None = None
    expires_in: int | None = None


class File(msgspec.Struct):
    """An uploaded file."""

    id: str
    object: Literal["file"]
    bytes: int
    created_at: int
    expires_at: int | None
    filename: str
    purpose: str


class Assistant(msgspec.Struct):
    """An agent of the site."""

    id: str
    object: Literal["assistant"]
    created_at: int
    name: str | None
    description: str | None
    model: str


class Model(msgspec.Struct):
    """What an agent answers with."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class Deleted(msgspec.Struct):
    """What is no more."""

    id: str
    object: str
    deleted: Literal[True]


class AHPContext(msgspec.Struct, forbid_unknown_fields=True):
    """What is to be known of a question (AHP 0.1, section 6.1)."""

    requesting_agent: str | None = None
    user_intent: str | None = None
    max_tokens: int | None = None
    accept_types: list[str] | None = None
    callback_url: str | None = None
    locale: str | None = None


class AHPRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A question to a capability (AHP 0.1, section 6.1)."""

    capability: str
    query: str
    ahp: str | None = None
    session_id: str | None = None
    clarification: str | None = None
    context: AHPContext | None = None


class AHPAnswer(msgspec.Struct):
    """What is answered (AHP 0.1, section 6.2)."""

    content_type: str
    answer: str
    sources: list[dict[str, Any]] = []


class AHPResponse(msgspec.Struct):
    """What comes of a question or a call (AHP 0.1, sections 6.2 to 6.4 and 9.2)."""

    status: Literal["success", "clarification_needed", "accepted", "pending", "failed", "expired"]
    session_id: str | None = None
    response: AHPAnswer | None = None
    clarification: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None
    eta_seconds: int | None = None
    poll: str | None = None
    progress: str | None = None


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """A question that is answered from the site's content."""

    query: str
    locale: str | None = None
    max_tokens: int | None = None
    accept_types: list[str] | None = None


class CallStatus(msgspec.Struct):
    """How a call stands that goes on by itself."""

    id: str
    capability: str
    status: Literal["accepted", "pending", "success", "failed", "expired"]
    result: Any = None
    poll: str | None = None
    callback: dict[str, str] | None = None
    eta_seconds: int | None = None
    progress: str | None = None
    error: dict[str, str] | None = None
    effects: list[dict[str, str]] | None = None


class Problem(msgspec.Struct):
    """Why a call was refused (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    param: str | None = None
    retry_after: int | None = None
    price: Money | None = None


class ErrorDetail(msgspec.Struct):
    """What is wrong, in words and by its kind."""

    message: str
    type: str
    param: str | None
    code: str


class Error(msgspec.Struct):
    """A refusal in the OpenAI API's form."""

    error: ErrorDetail


class AHPError(msgspec.Struct):
    """A refusal in AHP's form (AHP 0.1, section 10)."""

    status: Literal["error"]
    code: str
    message: str


class OAuthError(msgspec.Struct):
    """A refusal in OAuth's form (RFC 6749, section 5.2)."""

    error: str
    error_description: str


class TokenRequest(msgspec.Struct):
    """A token that is asked for (RFC 6749, section 4.4)."""

    grant_type: Literal["client_credentials"]
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    resource: str | None = None


class Token(msgspec.Struct):
    """An access token."""

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    scope: str


class ClientDraft(msgspec.Struct):
    """What a program says of itself (RFC 7591, section 2)."""

    client_name: str | None = None
    scope: str | None = None


class Client(msgspec.Struct):
    """A client that was registered (RFC 7591, section 3.2.1)."""

    client_id: str
    client_secret: str


SHAPES: tuple[type[msgspec.Struct], ...] = (
    Health,
    Readiness,
    Message,
    MessageDraft,
    Actor,
    ActorDraft,
    Thread,
    ThreadDraft,
    Update,
    Run,
    RunDraft,
    ThreadRunDraft,
    ToolOutputs,
    RunStep,
    Grant,
    GrantDraft,
    File,
    Assistant,
    Model,
    Deleted,
    AHPRequest,
    AHPResponse,
    Question,
    CallStatus,
    Problem,
    Error,
    AHPError,
    OAuthError,
    TokenRequest,
    Token,
    ClientDraft,
    Client,
)
"""Everything that operations name."""
