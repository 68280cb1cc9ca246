"""What a capability is: the class below which every one stands."""

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
UNVERIFIED = "This payment is taken only on the thread where it was asked for."


class NoSettings(msgspec.Struct, frozen=True):
    """The settings of a capability that has none."""


class Capability:
    """A family of structured messages. All but :meth:`schemas` may be left as it is.

    Attributes:
        slug: its name in addresses, of small letters, digits and ``-``.
        family: by what name capabilities of one package keep together what is to be so once among
            all of them, as signatures count: records and counters whose keys begin with ``family:``
            are the family's. Empty for none.
        names: what it is called elsewhere, without a version: ``aitp.dev/requests``, or the address
            of a published schema without the part that is its version.
        settings: the type of its section in ``desk.toml``.
    """

    slug: ClassVar[str]
    family: ClassVar[str] = ""
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
        if cls.family and not _SLUG.fullmatch(cls.family):
            raise TypeError(f"{cls.__name__}.family is {cls.family!r}; it takes what a slug does.")
        if not isinstance(cls.names, tuple):
            raise TypeError(f"{cls.__name__}.names is {cls.names!r}; it takes a tuple of names.")
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

    def as_version(self, part: Part, version: int) -> Mapping[str, Any] | None:
        """Say a message in an older version, for readers who have declared no newer one.

        Parameters:
            version: the highest that a reader knows.

        Returns:
            The message without ``$schema``; None where that version cannot say it: such readers
            are told it in words.
        """
        del part, version
        return None

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Understand words as the answer to one of the requests that wait on a thread.

        It is asked where something is said in words on a thread on which records of this capability
        are open. It is pure, as :meth:`judge` is, which is asked next about the message that it
        gives, of the highest version. The words are kept beside that.

        Parameters:
            waiting: the open records that wait for who speaks, the newest first.

        Returns:
            The message that these words mean, such as ``{"decision": {…}}``; None where they mean
            none, or could mean several. Where two capabilities claim the same words neither gets
            them.
        """
        del text, waiting
        return None

    def without_secrets(self, text: str) -> str:
        """What is kept of a visitor's words, and told to whoever answers them. It is pure.

        It is asked of all words of visitors that are stored, understood or not: what is money by
        itself, or opens something, stands on no thread and in no prompt.
        """
        return text

    def awaits(self, record: Record, actor: str) -> bool:
        """Whether an open record waits for what this actor says. It is pure.

        What somebody has asked is not answered by their own words.
        """
        del record, actor
        return True

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Put a question of the desk's own into a message. It is pure.

        The message is judged as all are, with the question in its context, before it is said.

        Returns:
            Such as ``{"request_decision": {…}}``, without ``$schema``; None where it asks no such
            thing. The first capability that asks it does.

        Raises:
            Forbidden: the site has such questions asked by this alone, and this one cannot be:
                whatever it is about is refused, and not asked in words. So does :meth:`judge` by
                refusing a question in this way.
        """
        del asking
        return None

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Tell how a request stands that a message has made. It is pure.

        Parameters:
            part: of a message that stands on a thread.
            context: the thread, the message, who said it, and the records as they are now.

        Returns:
            None for what asks nothing, or was never judged.
        """
        del part, context
        return None

    def use(self, own: Own) -> None:
        """Take what the capability has for itself alone.

        It is called once, before anything is judged, done or served.

        Raises:
            ValueError: as of :meth:`__init__`.
        """
        del own

    def ways_to_pay(self) -> Sequence[str]:
        """By which ways it takes payments, as programs know them: ``x402``. It is pure."""
        return ()

    async def verify_payment(self, part: Part, job: Job) -> str | None:
        """Tell whether a payment would settle, before its message is written. It changes nothing.

        The desk calls it for a payment that :meth:`judge` would settle by a job, when the caller
        knows the quote's id but not its thread. Judging is pure; this may ask another server.

        Parameters:
            job: reads records and asks other servers; its ``ref`` is the id of the action's call.

        Returns:
            None if it would settle; else why not, in a sentence.
        """
        del part, job
        return UNVERIFIED

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """What everybody may read, by names such as ``jwks.json``: JSON, the same while it serves.

        The desk serves each at ``/capabilities/{slug}/{name}``. It is asked once, after
        :meth:`use`.
        """
        return {}

    def waiting(self, record: Record) -> Waiting | None:
        """Say what an open record waits for, so that every door can show it. It is pure.

        Returns:
            None where it is answered by the capability's own messages alone.
        """
        del record
        return None

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make a message of what was filled into the form of :meth:`waiting`. It is pure.

        The message is judged as all are, in the name of whoever has filled it in.

        Parameters:
            given: what came from outside, whether it fits the form or not.

        Returns:
            Such as ``{"decision": {…}}``, without ``$schema``.

        Raises:
            InvalidRequest: it does not fit the form; ``param`` is the member that is wrong.
        """
        del record, given
        raise NotImplementedError(f"{type(self).__name__} has forms that nothing answers.")

    def jobs(self) -> Mapping[str, Work]:
        """What is done after a commit, by names of small letters, digits and ``_``."""
        return {}

    def rounds(self) -> Mapping[str, Round]:
        """What is done again and again, by names as of jobs. It is asked once."""
        return {}

    def actions(self) -> Sequence[Query]:
        """What it tells whoever calls, at every door at which the site's actions are called.

        It is asked once.
        """
        return ()

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        """What other servers may send to, by names of small letters, digits and ``_``.

        The desk serves each at ``/hooks/{slug}/{name}``: at most 256 KiB by POST, from anybody, of
        JSON or of what the :class:`Webhook` names. A hook that cannot tell who has sent something
        refuses it.
        """
        return {}

    def redirects(self) -> Mapping[str, Redirect]:
        """Links that lead people elsewhere, by names as of hooks. It is asked once.

        The desk serves each at ``/capabilities/{slug}/{name}/{ref}`` to everybody: so that a
        message can hold a link that stays right, to what another server is asked for only when
        somebody follows it. Programs follow links too, again and again: doing it twice does no
        more than once.
        """
        return {}

    def health(self) -> Health | None:
        """How it is, for whoever watches the desk (``/ready``); None where it is well.

        It is asked often and does nothing elsewhere: what a job has found out is remembered.
        """
        return None

    def watched(self) -> Mapping[str, Health | None]:
        """How what it watches elsewhere is, by names for people; None for what is well.

        Asked as :meth:`health` is. Its reasons are told to operators alone, and the desk itself is
        degraded by what is ``down`` there, not by what is ``degraded``.
        """
        return {}


def check_word(word: str) -> bool:
    """Whether a text can name a job, or an event of the audit log."""
    return bool(_WORD.fullmatch(word))


def check_document(name: str) -> bool:
    """Whether a text can name a document."""
    return bool(_DOCUMENT.fullmatch(name))
