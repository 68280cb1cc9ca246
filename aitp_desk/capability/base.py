"""The base class of capabilities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from aitp_desk.capability.background import Health, Hook, Job, Redirect, Round, Webhook, Work
from aitp_desk.capability.effects import Leave, Verdict
from aitp_desk.capability.messages import Asking, Context, Part, Record, Schema, Standing, Waiting
from aitp_desk.capability.namespace import Own
from aitp_desk.capability.queries import Query

_SLUG = re.compile(r"[a-z][a-z0-9-]{0,31}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,31}")
_DOCUMENT = re.compile(r"[a-z][a-z0-9_-]{0,31}\.json")
_INTERFACE = re.compile(r"(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})")
INTERFACE = "1.0"
"""The version of the interface: a minor one adds, a major one may change or remove."""
UNVERIFIED = "This payment is accepted only on the thread that requested it."


class NoSettings(msgspec.Struct, frozen=True):
    """The settings of a capability that has none."""


class Capability:
    """A family of structured messages. Only :meth:`schemas` has to be overridden.

    Attributes:
        slug: its name in URLs, of lowercase letters, digits and ``-``.
        family: the name under which capabilities of one package share state. Records and counters
            whose keys begin with ``family:`` belong to the family, such as what must happen once
            among all of them. Empty for none.
        names: its names in messages, without a version: ``aitp.dev/requests``, or the URL of a
            published schema without its version.
        settings: the type of its section in ``desk.toml``.
        interface: the version of this interface that it was written for, as ``1.0``. A desk refuses
            another major version and a newer minor one. Empty to have nothing checked.
    """

    slug: ClassVar[str]
    interface: ClassVar[str] = ""
    family: ClassVar[str] = ""
    names: ClassVar[tuple[str, ...]] = ()
    settings: ClassVar[type[msgspec.Struct]] = NoSettings

    def __init_subclass__(cls) -> None:
        """Reject a class that the desk cannot serve.

        Raises:
            TypeError: an attribute is wrong; the message says what it takes.
        """
        super().__init_subclass__()
        slug = getattr(cls, "slug", "")
        if not _SLUG.fullmatch(slug):
            raise TypeError(
                f"{cls.__name__}.slug is {slug!r}; it must be a name of at most 32"
                " lowercase letters, digits and '-'."
            )
        if cls.family and not _SLUG.fullmatch(cls.family):
            raise TypeError(
                f"{cls.__name__}.family is {cls.family!r}; it must follow the rules of a slug."
            )
        if cls.interface and not _INTERFACE.fullmatch(cls.interface):
            raise TypeError(
                f"{cls.__name__}.interface is {cls.interface!r}; it must be a version such as"
                f" {INTERFACE!r}."
            )
        if not isinstance(cls.names, tuple):
            raise TypeError(f"{cls.__name__}.names is {cls.names!r}; it must be a tuple of names.")
        if not issubclass(cls.settings, msgspec.Struct):
            raise TypeError(f"{cls.__name__}.settings is not a msgspec.Struct.")

    def __init__(self, chosen: Any) -> None:
        """Create the capability with a site's settings.

        Parameters:
            chosen: an instance of :attr:`settings`.

        Raises:
            ValueError: the settings contradict each other; the desk does not start and prints the
                message.
        """
        self.chosen = chosen

    def schemas(self) -> Sequence[Schema]:
        """Return all versions of the capability's messages."""
        raise NotImplementedError(f"{type(self).__name__}.schemas returns no versions.")

    def judge(self, part: Part, context: Context) -> Verdict:
        """Decide what happens to a message with this part. The package lists the guarantees.

        Raises:
            DeskError: has the effect of :class:`Refuse`. Any other exception is a fault: the
                message is not stored and its sender receives only an id.
        """
        del part, context
        return Leave()

    def as_text(self, part: Part) -> str:
        """Render a message as text that a person can answer: ``Reply 1 or 2``."""
        told = {name: value for name, value in part.given.items() if name != "$schema"}
        return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()

    def as_version(self, part: Part, version: int) -> Mapping[str, Any] | None:
        """Convert a message to an older version, for readers who declared no newer one.

        Parameters:
            version: the highest version that a reader knows.

        Returns:
            The message without ``$schema``; None if that version cannot express it. Such readers
            receive it as text.
        """
        del part, version
        return None

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Parse text as the answer to one of the open requests on a thread.

        It is called for text on a thread with open records of this capability. It is pure, like
        :meth:`judge`, which then receives the returned message in the highest version. The text is
        stored together with that message.

        Parameters:
            waiting: the open records that wait for the sender, the newest first.

        Returns:
            The message that the text means, such as ``{"decision": {…}}``; None if it means none or
            is ambiguous. If two capabilities claim the same text, neither receives it.
        """
        del text, waiting
        return None

    def without_secrets(self, text: str) -> str:
        """Return a visitor's text as it may be stored and passed on. It is pure.

        It is called for every text of a visitor that is stored, understood or not. A text that is
        money itself, or that unlocks something, must reach neither the thread nor a prompt.
        """
        return text

    def awaits(self, record: Record, actor: str) -> bool:
        """Return whether an open record waits for this actor's answer. It is pure.

        An actor cannot answer its own request by text.
        """
        del record, actor
        return True

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Render a question of the desk as a message. It is pure.

        The message is judged like any other, with the question in its context, before it is sent.

        Returns:
            A message such as ``{"request_decision": {…}}``, without ``$schema``; None if the
            capability does not ask such questions. The first capability that returns a message asks
            it.

        Raises:
            Forbidden: the site allows such questions only through this capability, and it cannot
                ask this one. The call is then refused instead of asked as text. :meth:`judge` does
                the same by refusing the question.
        """
        del asking
        return None

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Return the state of the request that a message made. It is pure.

        Parameters:
            part: of a message on a thread.
            context: the thread, the message, its sender, and the records as they are now.

        Returns:
            None if the message asks nothing or was never judged.
        """
        del part, context
        return None

    def use(self, own: Own) -> None:
        """Receive the actor and the keys that belong to this capability alone.

        It is called once, before anything is judged, run or served.

        Raises:
            ValueError: as for :meth:`__init__`.
        """
        del own

    def ways_to_pay(self) -> Sequence[str]:
        """Return the payment methods it accepts, by their protocol names: ``x402``. It is pure."""
        return ()

    async def verify_payment(self, part: Part, job: Job) -> str | None:
        """Check whether a payment would settle, before its message is stored. It changes nothing.

        The desk calls it for a payment that :meth:`judge` would settle in a job, when the caller
        knows the quote's id but not its thread. Judging is pure; this method may call another
        server.

        Parameters:
            job: reads records and calls other servers; its ``ref`` is the id of the action's call.

        Returns:
            None if the payment would settle; else the reason, as a sentence.
        """
        del part, job
        return UNVERIFIED

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """Return public JSON documents by names such as ``jwks.json``.

        The desk serves each at ``/capabilities/{slug}/{name}``, unchanged while it runs. It calls
        this once, after :meth:`use`.
        """
        return {}

    def waiting(self, record: Record) -> Waiting | None:
        """Return what an open record waits for, for every protocol. It is pure.

        Returns:
            None if only the capability's own messages can answer it.
        """
        del record
        return None

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Build a message from a submitted form of :meth:`waiting`. It is pure.

        The message is judged like any other, in the name of the actor that submitted the form.

        Parameters:
            given: the submitted values, not yet validated.

        Returns:
            A message such as ``{"decision": {…}}``, without ``$schema``.

        Raises:
            InvalidRequest: the values do not fit the form; ``param`` names the wrong member.
        """
        del record, given
        raise NotImplementedError(
            f"{type(self).__name__} shows forms but does not implement answer()."
        )

    def jobs(self) -> Mapping[str, Work]:
        """Return the jobs that run after a commit, by names of ``[a-z0-9_]``."""
        return {}

    def rounds(self) -> Mapping[str, Round]:
        """Return the periodic work, by names like those of jobs. It is called once."""
        return {}

    def actions(self) -> Sequence[Query]:
        """Return the queries that callers can make wherever the site's actions are called.

        It is called once.
        """
        return ()

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        """Return the webhooks for other servers, by names like those of jobs.

        The desk serves each at ``/hooks/{slug}/{name}``: POST requests of at most 256 KiB, without
        authentication, of JSON or of the :class:`Webhook`'s media type. A hook that cannot verify
        the sender must refuse.
        """
        return {}

    def redirects(self) -> Mapping[str, Redirect]:
        """Return links that redirect people elsewhere, by names like those of hooks.

        It is called once. The desk serves each at ``/capabilities/{slug}/{name}/{ref}`` to
        everyone. A message can thus hold a permanent link to something that another server creates
        only when the link is followed. Programs follow links too, repeatedly: a second visit must
        have no further effect.
        """
        return {}

    def health(self) -> Health | None:
        """Return the capability's health for monitoring (``/ready``); None if it is well.

        It is called often and does no I/O: report what a job or a round has found out.
        """
        return None

    def watched(self) -> Mapping[str, Health | None]:
        """Return the health of what it monitors elsewhere, by display names; None for well.

        It is called like :meth:`health`. Only operators see the reasons. The desk is degraded by
        what is ``down`` there, not by what is ``degraded``.
        """
        return {}


def check_word(word: str) -> bool:
    """Return whether a text can name a job or an audit event."""
    return bool(_WORD.fullmatch(word))


def check_document(name: str) -> bool:
    """Return whether a text can name a document."""
    return bool(_DOCUMENT.fullmatch(name))


def refuse_interface(written_for: str) -> str | None:
    """Return why this desk cannot serve a capability; None if it can.

    Parameters:
        written_for: :attr:`Capability.interface`.
    """
    if not written_for:
        return None
    major, minor = map(int, written_for.split("."))
    own_major, own_minor = map(int, INTERFACE.split("."))
    if major == own_major and minor <= own_minor:
        return None
    cure = "Install a newer version of its package."
    if (major, minor) > (own_major, own_minor):
        cure = "Upgrade aitp-desk, or install an older version of its package."
    return (
        f"it was written for version {written_for} of the interface of capabilities, and this desk"
        f" has {INTERFACE}. {cure}"
    )
