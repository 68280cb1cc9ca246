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
    ConsoleHealth,
    ConsoleLine,
    ConsoleLoad,
    ConsoleMessages,
    ConsoleNote,
    ConsoleReason,
    ConsoleSealed,
    ConsoleSession,
    ConsoleSignIn,
    ConsoleStructured,
    ConsoleThread,
    ConsoleThreads,
    ConsoleTicket,
    ConsoleTickets,
    ConsoleUnanswered,
    ConsoleWords,
    Nothing,
)
from aitp_desk.protocols.openapi.shapes.health import Health, Readiness, Taken
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
from aitp_desk.protocols.openapi.shapes.sealed_values import Sealed
from aitp_desk.protocols.openapi.shapes.threads import (
    Actor,
    ActorDraft,
    Deleted,
    File,
    Grant,
    GrantDraft,
    Message,
    MessageDraft,
    OpenRequest,
    Thread,
    ThreadDraft,
    Update,
)
from aitp_desk.protocols.openapi.shapes.transcripts import (
    HeadSignature,
    HeadSignatureDraft,
    Transcript,
)

SHAPES: tuple[type[msgspec.Struct], ...] = (
    Health,
    Readiness,
    Taken,
    Message,
    MessageDraft,
    Actor,
    ActorDraft,
    OpenRequest,
    Thread,
    ThreadDraft,
    Update,
    Transcript,
    HeadSignature,
    HeadSignatureDraft,
    Run,
    RunDraft,
    ThreadRunDraft,
    ToolOutputs,
    RunStep,
    Grant,
    GrantDraft,
    File,
    Sealed,
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
    ConsoleStructured,
    ConsoleSession,
    ConsoleTicket,
    ConsoleTickets,
    ConsoleUnanswered,
    ConsoleLine,
    ConsoleThread,
    ConsoleThreads,
    ConsoleMessages,
    ConsoleNote,
    ConsoleLoad,
    ConsoleWords,
    ConsoleClosing,
    ConsoleHealth,
    ConsoleReason,
    ConsoleSealed,
    Nothing,
    Problem,
    Error,
    AHPError,
    OAuthError,
    ConsoleError,
)
"""Everything that operations name."""
