"""What a capability is: the class below which every one stands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from aitp_desk.capability.effects import Leave, Verdict
from aitp_desk.capability.messages import Context, Part, Record, Schema
from aitp_desk.capability.outside import Health, Hook, Work

_SLUG = re.compile(r"[a-z][a-z0-9-]{0,31}")
_WORD = re.compile(r"[a-z][a-z0-9_]{0,31}")


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

    def hooks(self) -> Mapping[str, Hook]:
        """What other servers may send to, by names of small letters, digits and ``_``.

        The desk serves each at ``/hooks/{slug}/{name}``: JSON of at most 256 KiB by POST, from
        anybody. A hook that cannot tell who has sent something refuses it.
        """
        return {}

    def health(self) -> Health | None:
        """How it is, for whoever watches the desk (``/ready``); None where it is well.

        It is asked often and does nothing elsewhere: what a job has found out is remembered.
        """
        return None


def check_word(word: str) -> bool:
    """Whether a text can name a job, or an event of the audit log."""
    return bool(_WORD.fullmatch(word))
