"""Threads, messages and actors, and the rules for them that need no store.

Source: AITP 0.1, Thread Specification; sizes and roles as in the desk's documentation
(``docs/protocols/threads.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal

import msgspec

from aitp_desk.model.access.actor_name import comparable_name, find_name_fault, folded_name
from aitp_desk.model.access.principal import GUEST_PREFIX, LINK_PREFIX, PREFIXES
from aitp_desk.model.errors import Forbidden, InvalidRequest, MissingField, RequestTooLarge

MAX_CONTENT_BYTES = 256 * 1024
"""Maximum size of one message, in bytes of UTF-8, all its parts together."""
MAX_PARTS = 100
MAX_ATTACHMENTS = 20
MAX_THREAD_MESSAGES = 100
"""How many messages one create-thread request may contain."""
MAX_ACTORS = 20
MAX_CAPABILITIES = 50
MAX_ID_LENGTH = 512
METADATA_KEYS = 16
METADATA_KEY_LENGTH = 64
METADATA_VALUE_LENGTH = 512

VISITOR = "visitor"
"""Actor of an anonymous visitor's messages that name none."""

Role = Literal["user", "assistant"]
ROLES: tuple[Role, ...] = ("user", "assistant")


class Origin(Enum):
    """Which side a message came from; the role alone does not tell."""

    VISITOR = "visitor"
    DESK = "desk"


class Actor(msgspec.Struct, frozen=True):
    """A user or agent that takes part in a thread.

    Parameters:
        id: global agent identifier (an URL) or user identifier.
        capabilities: schemas that the actor understands.
        principal: id of the caller that the actor is bound to: no other caller speaks as it. None
            if it is not given: then it is bound to the caller that adds it.
    """

    id: str
    capabilities: tuple[str, ...] = ()
    principal: str | None = None


class Attachment(msgspec.Struct, frozen=True):
    """A file attached to a message, and the tools that it was added to."""

    file_id: str
    tools: tuple[str, ...] = ()


class Draft(msgspec.Struct, frozen=True):
    """A message as its sender requests it, before it is placed on a thread.

    Parameters:
        role: ``user``, ``assistant`` or the id of an actor of the thread.
        content: parts of text; a structured part is a JSON object encoded as a string.
        attachments: files that belong to it.
        actor: the speaking actor, if the sender names it.
        metadata: the sender's own metadata, string to string.
    """

    role: str
    content: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()
    actor: str | None = None
    metadata: dict[str, str] = {}


class ThreadDraft(msgspec.Struct, frozen=True):
    """A thread as its creator requests it.

    Parameters:
        parent_id: the thread to fork, None for none.
    """

    messages: tuple[Draft, ...] = ()
    actors: tuple[Actor, ...] = ()
    metadata: dict[str, str] = {}
    parent_id: str | None = None


class ThreadUpdate(msgspec.Struct, frozen=True):
    """A change of a thread.

    Parameters:
        metadata: replaces the present metadata.
        actors: the new participants, in addition to the desk's own; None leaves them unchanged.
        parent_id: repeated, since it cannot change; None if not given.
    """

    metadata: dict[str, str]
    actors: tuple[Actor, ...] | None = None
    parent_id: str | None = None


class Message(msgspec.Struct, frozen=True):
    """A stored message of a thread.

    Parameters:
        seq: place in the thread, from 1, without gaps.
        created_at: Unix seconds.
        origin: which side sent it.
        run_id: for a reply the run that made it, for a visitor's message the run that answers it.
        principal: id of the sending principal; None for an anonymous one, or the desk.
    """

    id: str
    thread_id: str
    seq: int
    role: Role
    actor: str
    origin: Origin
    created_at: int
    content: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()
    metadata: dict[str, str] = {}
    run_id: str | None = None
    principal: str | None = None


class Thread(msgspec.Struct, frozen=True):
    """A conversation, without its messages.

    Parameters:
        owner: id of the principal that owns it; None for an anonymous visitor's.
        created_at: Unix seconds.
        actors: the participants, the desk's own agent first.
        parent_id: the thread that it was forked from, None for all others.
        desk: name of the further site agent that it talks with; empty for the site's own.
    """

    id: str
    owner: str | None
    created_at: int
    metadata: dict[str, str]
    actors: tuple[Actor, ...]
    parent_id: str | None = None
    desk: str = ""


def check_draft(draft: Draft, at: str = "") -> Draft:
    """Check a draft against the limits that need no thread.

    Parameters:
        at: path of the draft in its request, such as ``messages[0].``, for ``param``.

    Raises:
        MissingField: the content holds no text.
        InvalidRequest: too many parts or attachments, metadata that breaks its limits.
        RequestTooLarge: more content than one message may carry.
    """
    if not any(map(str.strip, draft.content)):
        raise MissingField(
            "A message needs `content`: a string or a list of strings.", param=f"{at}content"
        )
    if len(draft.content) > MAX_PARTS:
        raise InvalidRequest(f"`content` may have at most {MAX_PARTS} parts.", param=f"{at}content")
    size = sum(map(len, map(str.encode, draft.content)))
    if size > MAX_CONTENT_BYTES:
        raise RequestTooLarge(
            f"The content of one message may have at most {MAX_CONTENT_BYTES} bytes, not {size}.",
            param=f"{at}content",
        )
    if len(draft.attachments) > MAX_ATTACHMENTS:
        raise InvalidRequest(
            f"`attachments` may have at most {MAX_ATTACHMENTS} files.", param=f"{at}attachments"
        )
    if draft.metadata:
        check_metadata(draft.metadata, at)
    return draft


def check_thread_draft(draft: ThreadDraft) -> ThreadDraft:
    """Check a thread's draft against its limits, including its messages.

    Raises:
        InvalidRequest: too many messages or actors, an actor twice or without a valid id.
        as :func:`check_draft` for each message.
    """
    if len(draft.messages) > MAX_THREAD_MESSAGES:
        raise InvalidRequest(
            f"`messages` may have at most {MAX_THREAD_MESSAGES} entries.", param="messages"
        )
    for place, message in enumerate(draft.messages):
        check_draft(message, f"messages[{place}].")
    check_actors(draft.actors)
    check_metadata(draft.metadata)
    return draft


def check_actors(actors: Sequence[Actor]) -> None:
    """Check a list of participants against its limits.

    Raises:
        InvalidRequest: too many actors, one twice or without a valid id.
    """
    if len(actors) > MAX_ACTORS:
        raise InvalidRequest(
            f"A thread may have at most {MAX_ACTORS} actors.", param="metadata.actors"
        )
    seen: set[str] = set()
    for actor in actors:
        check_actor(actor)
        name = comparable_name(actor.id)
        if name in seen:
            raise InvalidRequest(f"The actor {actor.id!r} is named twice.", param="metadata.actors")
        seen.add(name)


def check_metadata(metadata: Mapping[str, str], at: str = "") -> None:
    """Check metadata against its limits: 16 keys of 64 characters with values of 512.

    Parameters:
        at: as in :func:`check_draft`.

    Raises:
        InvalidRequest: the first thing that breaks a limit, by its key.
    """
    if len(metadata) > METADATA_KEYS:
        raise InvalidRequest(
            f"`metadata` may have at most {METADATA_KEYS} keys.", param=f"{at}metadata"
        )
    for key, value in metadata.items():
        if not key or len(key) > METADATA_KEY_LENGTH:
            raise InvalidRequest(
                f"A metadata key must have 1 to {METADATA_KEY_LENGTH} characters.",
                param=f"{at}metadata",
            )
        if len(value) > METADATA_VALUE_LENGTH:
            raise InvalidRequest(
                f"A metadata value may have at most {METADATA_VALUE_LENGTH} characters.",
                param=f"{at}metadata.{key}",
            )


def resolve_speaker(
    draft: Draft, *, brought: Sequence[str], default: str, others: Sequence[str], at: str = ""
) -> tuple[Role, str]:
    """Decide the stored role and actor of a visitor's message.

    Parameters:
        brought: ids of the actors that are bound to this caller: by default those it added.
        default: the actor if none is named.
        others: ids of the thread's other actors, including the desk's own agent.
        at: as in :func:`check_draft`.

    Returns:
        The stored role and the actor's id. A role that is an actor's id becomes ``user``.

    Raises:
        InvalidRequest: the role or the actor is unknown.
        Forbidden: the actor is the desk's or another caller's.
    """
    named = draft.actor
    role: Role
    if draft.role in ROLES:
        role = "assistant" if draft.role == "assistant" else "user"
    elif draft.role in brought or draft.role in others:
        role, named = "user", named or draft.role
        if named != draft.role:
            raise InvalidRequest(
                "`role` and `metadata.actor` name different actors.", param=f"{at}role"
            )
    else:
        raise InvalidRequest(
            "`role` must be 'user', 'assistant' or the id of an actor of this thread.",
            param=f"{at}role",
        )
    if named is None or named == default or named in brought:
        return role, named or default
    if named in others:
        raise Forbidden(
            "`metadata.actor` must name an actor that is bound to you.",
            param=f"{at}metadata.actor",
        )
    raise InvalidRequest(
        f"`metadata.actor` names no actor of this thread: {named!r}.", param=f"{at}metadata.actor"
    )


def check_actor(actor: Actor, param: str = "metadata.actors") -> None:
    """Check an actor against the limits that need no thread.

    Parameters:
        param: the request member that holds it.

    Raises:
        InvalidRequest: its id, a capability or its principal is no valid text.
    """
    if not actor.id.strip() or len(actor.id) > MAX_ID_LENGTH:
        raise InvalidRequest(
            (f"An actor's id must have 1 to {MAX_ID_LENGTH} characters."), param=param
        )
    if (fault := find_name_fault(actor.id)) is not None:
        raise InvalidRequest(f"An actor's id {fault}", param=param)
    if len(actor.capabilities) > MAX_CAPABILITIES:
        raise InvalidRequest(
            (f"An actor may have at most {MAX_CAPABILITIES} capabilities."), param=param
        )
    if actor.principal is not None and not 1 <= len(actor.principal) <= MAX_ID_LENGTH:
        raise InvalidRequest(
            (f"A principal's id must have 1 to {MAX_ID_LENGTH} characters."), param=param
        )
    if any(not schema.strip() or len(schema) > MAX_ID_LENGTH for schema in actor.capabilities):
        raise InvalidRequest(
            f"A capability's schema must have 1 to {MAX_ID_LENGTH} characters.", param=param
        )


def check_actor_name(actor: Actor, bound_to: str | None, param: str = "metadata.actors") -> None:
    """Refuse an actor with another caller's name, or one that looks like it.

    Parameters:
        bound_to: id of the principal that the actor will be bound to, None for none.
        param: as in :func:`check_actor`.

    Raises:
        Forbidden: it has such a name.
    """
    if actor.id == bound_to:
        return
    if folded_name(actor.id).startswith((*PREFIXES, LINK_PREFIX, GUEST_PREFIX)):
        raise Forbidden("This name is reserved for another caller. Choose another.", param=param)
