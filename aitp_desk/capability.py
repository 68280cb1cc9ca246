"""The interface of capabilities: families of structured messages on a thread, as plug-ins.

A capability is a class below :class:`Capability`. A package names it in the entry point group
:data:`GROUP`; a site enables it with a section ``[capabilities.NAME]`` in ``desk.toml``, whose
settings are those of its :attr:`Capability.settings`. This module is all that such a package
imports of the desk.

The promises:

Judging
    :meth:`Capability.judge` is asked for each structured part of a message that is of this
    capability, in the order of the parts, before anything is stored. It is pure: it reads the part
    and the context, does nothing elsewhere, and may be asked again for the same part. What it wants
    done it returns as effects.
Effects
    All effects of a message are applied in the commit of the message, or none is, and the message
    is not stored either. Later parts see the effects of earlier ones. One :class:`Refuse` refuses
    the message.
Races
    Records and counters that were read are as they were when the effects are applied. Where
    somebody else was faster the parts are judged anew, three times at most; then the sender is told
    to try again (409). A counter that is only added to need not be read: who was faster does not
    matter then, only the least that may be left.
Apart
    A capability sees its own records and counters and nobody else's, by exact keys.
Outside
    What takes long or happens elsewhere is a job (:class:`Start`), carried out after the commit,
    and again after a crash: its ``ref`` tells what was done before.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, ClassVar

import msgspec

from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    InvalidRequest,
    MissingField,
    PreconditionFailed,
    Unavailable,
)

__all__ = [
    "GROUP",
    "Add",
    "Audit",
    "Capability",
    "Context",
    "DeskError",
    "Effect",
    "Forbidden",
    "InvalidRequest",
    "Job",
    "Keep",
    "Leave",
    "MissingField",
    "NoSettings",
    "Part",
    "Party",
    "PreconditionFailed",
    "Record",
    "Refuse",
    "Replace",
    "Retry",
    "Say",
    "Schema",
    "Start",
    "Take",
    "Then",
    "Unavailable",
    "Verdict",
    "Work",
    "document_of",
]

GROUP = "aitp_desk.capabilities"
"""The entry point group in which packages name their capabilities."""
MAX_KEY = 200
"""How many characters a key of a record or counter has at most."""
_SLUG = re.compile(r"[a-z][a-z0-9-]{0,31}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,31}")


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """One major version of a capability's messages.

    Parameters:
        version: the major version, from 1.
        messages: what a message may hold besides ``$schema``: exactly one of these keys, whose
            value is of that type. Fields that a type does not know are kept as they came.
        document: the JSON Schema, as the desk serves it below ``/capabilities``;
            :func:`document_of` makes one.
        url: what stands in ``$schema`` of messages that the desk sends; empty for the address at
            which the desk serves the document.
    """

    version: int
    messages: Mapping[str, type[msgspec.Struct]]
    document: Mapping[str, Any]
    url: str = ""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A structured part of a message, read by its schema.

    Parameters:
        version: the major version that it is of.
        key: which message it is: the one key of :attr:`Schema.messages` that is there.
        content: what stands below that key, as its type.
        given: all of it as it came, unknown fields too.
    """

    version: int
    key: str
    content: Any
    given: Mapping[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a capability keeps.

    Parameters:
        version: how often it was written, from 1.
        value: what JSON can hold; None once it was erased.
        thread_id: the thread on which it was written last; None for one that outlives threads. It
            is erased with what was said there.
        open_until: Unix seconds until when it waits for an answer on that thread; None for nothing.
    """

    key: str
    version: int
    value: Any
    thread_id: str | None = None
    open_until: int | None = None


class Party(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes part in a thread, besides the desk.

    Parameters:
        id: of the actor.
        version: the highest version that the actor has declared and the desk knows; None for one
            that is told words.
    """

    id: str
    version: int | None = None


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a part is judged by. In tests it is made of plain values.

    Parameters:
        now: Unix seconds.
        thread_id: where the message is to stand.
        message_id: the message's id: the same each time that it is judged, and nobody else's.
        actor: id of the actor that speaks.
        principal: id of the caller; None for an anonymous one.
        parties: who takes part, besides the desk.
        records: the capability's own, by key; read them with :meth:`record`.
        counters: the same for :meth:`counter`.
    """

    now: int
    thread_id: str = ""
    message_id: str = ""
    actor: str = ""
    principal: str | None = None
    parties: tuple[Party, ...] = ()
    records: Mapping[str, Record] = _NOTHING
    counters: Mapping[str, int] = _NOTHING

    @property
    def version(self) -> int | None:
        """The highest version that all who take part know; None where somebody is told words."""
        known = [party.version for party in self.parties]
        if not known or None in known:
            return None
        return min(version for version in known if version is not None)

    def record(self, key: str) -> Record | None:
        """Return a record as it is once the effects of the parts before are applied."""
        return self.records.get(key)

    def counter(self, key: str) -> int:
        """Return what a counter holds after the parts before, 0 where nothing was added."""
        return self.counters.get(key, 0)


class Keep(msgspec.Struct, frozen=True):
    """Write a record.

    Parameters:
        key: the capability's own name for it, of 1 to 200 characters.
        value: what JSON can hold.
        expected_version: the version that is replaced; 0 where there must be none.
        open_until: as of :class:`Record`: a request that waits for an answer says until when, and
            its answer writes it again without.
        outlives: whether it stays when what was said on the thread is erased: a balance, what was
            used up. It then holds nothing of a person, nor do keys ever.
    """

    key: str
    value: Any
    expected_version: int
    open_until: int | None = None
    outlives: bool = False


class Add(msgspec.Struct, frozen=True):
    """Add to a counter: a balance, a stock, what was spent.

    Parameters:
        delta: may be below 0.
        minimum: what must be left; None for any.
    """

    counter: str
    delta: int
    minimum: int | None = 0


class Say(msgspec.Struct, frozen=True):
    """Have the desk say something on the thread, after the message.

    Parameters:
        content: text; or a message of this capability, such as ``{"decision": {…}}``, to which the
            desk adds ``$schema``. Whoever has not declared the capability is told it in words
            (:meth:`Capability.as_text`).
        version: the version of such a message; None for the highest that all understand who have
            declared the capability.
    """

    content: str | Mapping[str, Any]
    version: int | None = None


class Start(msgspec.Struct, frozen=True):
    """Have a job done after the commit.

    Parameters:
        job: its name in :meth:`Capability.jobs`.
        ref: id of what it is about: of one name there is one job for it, ever.
        payload: what JSON can hold and the job needs besides.
        after: seconds that pass first.
    """

    job: str
    ref: str
    payload: Any = None
    after: int = 0


class Replace(msgspec.Struct, frozen=True):
    """Store something else in place of the part that is judged: what is sealed, for instance.

    Parameters:
        given: the whole part; ``$schema`` is kept where it has none.
    """

    given: Mapping[str, Any]


class Audit(msgspec.Struct, frozen=True):
    """Note something in the audit log, in the name of whoever speaks.

    Parameters:
        event: what happened, as a word of small letters, digits and ``_``; never what was said.
    """

    event: str


Effect = Keep | Add | Say | Start | Replace | Audit
"""All that a capability can have done."""


class Then(Enum):
    """Who speaks next."""

    AGENT = "agent"
    NOBODY = "nobody"


class Leave(msgspec.Struct, frozen=True):
    """The message is stored as it came, and whoever answers here answers it."""


class Take(msgspec.Struct, frozen=True):
    """The message is stored and these effects with it.

    Parameters:
        then: who speaks next; the agent where a part of the message wants that.
    """

    effects: tuple[Effect, ...] = ()
    then: Then = Then.NOBODY


class Refuse(msgspec.Struct, frozen=True):
    """The message is not stored; its sender is told why, in the form of the door.

    For what is well-formed and fails, rather take the message and say so in a message of the
    capability's own.
    """

    error: DeskError


Verdict = Leave | Take | Refuse


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job at work.

    Parameters:
        ref, payload: as of :class:`Start`.
        now: Unix seconds.
        thread_id: the thread of the message that started it.
        read: reads one of the capability's records.
    """

    ref: str
    payload: Any
    now: int
    thread_id: str | None
    read: Callable[[str], Awaitable[Record | None]]


class Retry(Exception):
    """A job has failed; another attempt may succeed.

    Parameters:
        reason: a sentence for the site's operators, without what callers said.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Work(msgspec.Struct, frozen=True):
    """How jobs of one name are done.

    Parameters:
        do: does one, and returns what is to become of it: effects but for :class:`Replace`, applied
            in the commit of the job's end. It raises :class:`Retry` where it may succeed later.
        deadline: seconds that an attempt may take.
        delays: seconds to wait after the first failure, the second and so on; then it is given up.
    """

    do: Callable[[Job], Awaitable[Sequence[Effect]]]
    deadline: float = 30.0
    delays: tuple[int, ...] = (5, 60, 600)


class NoSettings(msgspec.Struct, frozen=True):
    """The settings of a capability that has none."""


class Capability:
    """A family of structured messages. All but :meth:`schemas` may be left as it is.

    Attributes:
        slug: its name in addresses, of small letters, digits and ``-``.
        names: what it is called elsewhere, without a version: ``aitp.dev/requests``, or the address
            of a published schema without the part that is its version.
        settings: the type of its section in ``desk.toml``.
    """

    slug: ClassVar[str]
    names: ClassVar[tuple[str, ...]] = ()
    settings: ClassVar[type[msgspec.Struct]] = NoSettings

    def __init_subclass__(cls) -> None:
        """Refuse a class that the desk could not serve.

        Raises:
            TypeError: which attribute is wrong, and what it takes.
        """
        super().__init_subclass__()
        slug = getattr(cls, "slug", "")
        if not _SLUG.fullmatch(slug):
            raise TypeError(
                f"{cls.__name__}.slug is {slug!r}; it takes a name of at most 32 small letters,"
                " digits and -."
            )
        if not issubclass(cls.settings, msgspec.Struct):
            raise TypeError(f"{cls.__name__}.settings is no msgspec.Struct.")

    def __init__(self, chosen: Any) -> None:
        """Make the capability as a site has set it.

        Parameters:
            chosen: an instance of :attr:`settings`.

        Raises:
            ValueError: the settings do not go together; the desk does not start, and its owner is
                told the message.
        """
        self.chosen = chosen

    def schemas(self) -> Sequence[Schema]:
        """All versions of its messages."""
        raise NotImplementedError(f"{type(self).__name__}.schemas gives no versions.")

    def judge(self, part: Part, context: Context) -> Verdict:
        """Decide what becomes of a message that holds this part. See the module for the promises.

        Raises:
            DeskError: as by :class:`Refuse`. Whatever else it raises is a fault: the message is not
                stored and its sender learns nothing but an id.
        """
        del part, context
        return Leave()

    def as_text(self, part: Part) -> str:
        """Tell a message in words, so that a person can answer it: ``Reply 1 or 2``."""
        told = {name: value for name, value in part.given.items() if name != "$schema"}
        return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Understand words as the answer to one of the requests that wait on a thread.

        It is asked where something is said in words on a thread on which records of this capability
        are open. It is pure, as :meth:`judge` is, which is asked next about the message that it
        gives, of the highest version. The words are kept beside that.

        Parameters:
            waiting: the open records, the newest first.

        Returns:
            The message that these words mean, such as ``{"decision": {…}}``; None where they mean
            none, or could mean several. Where two capabilities claim the same words neither gets
            them.
        """
        del text, waiting
        return None

    def jobs(self) -> Mapping[str, Work]:
        """What is done after a commit, by names of small letters, digits and ``_``."""
        return {}


def document_of(messages: Mapping[str, type[msgspec.Struct]], title: str) -> dict[str, Any]:
    """Make the JSON Schema of messages from their types: exactly one of the keys, and ``$schema``.

    Parameters:
        messages: as of :class:`Schema`.
        title: what the messages are, in a few words.
    """
    shapes, definitions = msgspec.json.schema_components(
        list(messages.values()), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {"$schema": {"type": "string", "format": "uri"}}
        | dict(zip(messages, shapes, strict=True)),
        "required": ["$schema"],
        "oneOf": [{"required": [key]} for key in messages],
        "$defs": definitions,
    }


def check_word(word: str) -> bool:
    """Whether a text can name a job, or an event of the audit log."""
    return bool(_WORD.fullmatch(word))
