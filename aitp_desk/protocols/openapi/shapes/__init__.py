"""The shapes of what is sent and answered, as an OpenAPI document has them.

They only describe: each door reads and writes its own format, and a test holds its answers against
these. Whatever further members an object has, its reader passes over. Their names stand in the
document and in the programs that are generated from it.
"""

from __future__ import annotations

import msgspec

from aitp_desk.protocols.openapi.shapes.agents import Assistant, Model
from aitp_desk.protocols.openapi.shapes.ahp import AHPRequest, AHPResponse
from aitp_desk.protocols.openapi.shapes.calls import CallStatus, Question
from aitp_desk.protocols.openapi.shapes.console import (
    ConsoleClosing,
    ConsoleLine,
    ConsoleLoad,
    ConsoleMessages,
    ConsoleNote,
    ConsoleReason,
    ConsoleSession,
    ConsoleSignIn,
    ConsoleThread,
    ConsoleThreads,
    ConsoleTicket,
    ConsoleTickets,
    ConsoleWords,
    Nothing,
)
from aitp_desk.protocols.openapi.shapes.health import Health, Readiness
from aitp_desk.protocols.openapi.shapes.oauth import Client, ClientDraft, Token, TokenRequest
from aitp_desk.protocols.openapi.shapes.refusals import (
    AHPError,
    ConsoleError,
    Error,
    OAuthError,
    Problem,
)
from aitp_desk.protocols.openapi.shapes.rpc import JSONRPCAnswer, JSONRPCRequest
from aitp_desk.protocols.openapi.shapes.runs import (
    Run,
    RunDraft,
    RunStep,
    ThreadRunDraft,
    ToolOutputs,
)
from aitp_desk.protocols.openapi.shapes.threads import (
    Actor,
    ActorDraft,
    Deleted,
    File,
    Grant,
    GrantDraft,
    Message,
    MessageDraft,
    Thread,
    ThreadDraft,
    Update,
)

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
    JSONRPCRequest,
    JSONRPCAnswer,
    TokenRequest,
    Token,
    ClientDraft,
    Client,
    ConsoleSignIn,
    ConsoleSession,
    ConsoleTicket,
    ConsoleTickets,
    ConsoleLine,
    ConsoleThread,
    ConsoleThreads,
    ConsoleMessages,
    ConsoleNote,
    ConsoleLoad,
    ConsoleWords,
    ConsoleClosing,
    ConsoleReason,
    Nothing,
    Problem,
    Error,
    AHPError,
    OAuthError,
    ConsoleError,
)
"""Everything that operations name."""
