"""Who may see what, by docs/build/access.md alone: nothing of the desk's code is used here.

Everything that is said in a history carries its own marker. A marker is *placed* on a thread
at the step at which it was said there; one that stands nowhere is its owner's. :meth:`may_see`
decides whether a caller may be sent it now.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

MARKER = re.compile(r"m[kr][0-9a-z]{12}q")
"""A marker: ``mk…`` is said by callers, ``mr…`` by the actions that they call.

A random id may look like one, so a marker is only what whoever made it has recorded.
"""
ID = re.compile(r"(?:thread|session|task|call|run|file|msg)_[0-9a-z]{16,}")
"""An id by which something is reached."""
ALWAYS = 10**9
Kind = Literal["key", "operator", "anonymous", "link"]


@dataclass(eq=False)
class Party:
    """A caller: a key's owner, an anonymous visitor, or who holds a link.

    Parameters:
        principal: the id under which the desk knows them; empty for nobody known.
        knows: the anonymous threads whose id they were given.
    """

    name: str
    kind: Kind
    principal: str = ""
    knows: set[Thread] = field(default_factory=set)


@dataclass(eq=False)
class Credential:
    """What a party presents.

    Parameters:
        is_live: false once it was revoked, rotated, or the link was taken back.
    """

    party: Party
    headers: tuple[tuple[str, str], ...] = ()
    is_live: bool = True


@dataclass(eq=False)
class Grant:
    """A thread that is shared with a party, or by a link."""

    id: str
    party: Party
    may: str
    expires_at: float | None = None
    is_revoked: bool = False

    def holds(self, now: float) -> bool:
        """Whether the thread is shared by it now."""
        return not self.is_revoked and (self.expires_at is None or now < self.expires_at)


@dataclass(eq=False)
class Thread:
    """A thread as the rule sees it.

    Parameters:
        owner: None for an anonymous visitor's.
        parent: what it was forked off, and the last step of that which it knows of.
        left: of parties all whose actors have left, the step at which the last did.
        ids: all ids that lead to it, or to what belongs to it.
        told: everybody who could ever read it.
    """

    name: str
    id: str
    owner: Party | None
    parent: tuple[Thread, int] | None = None
    bound: dict[Party, str] = field(default_factory=dict)
    left: dict[Party, int] = field(default_factory=dict)
    grants: list[Grant] = field(default_factory=list)
    files: list[tuple[int, File]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    told: set[Party] = field(default_factory=set)
    sessions: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)


@dataclass(eq=False)
class File:
    """An uploaded file; ``owner`` None is one that its id opens."""

    id: str
    owner: Party | None
    uploader: Party
    marker: str


@dataclass(eq=False)
class Marker:
    """What was said once.

    Parameters:
        said: how it came to be, in words.
        owner: who may see it wherever it is; None for nobody in particular.
        places: the threads on which it stands, each with the step at which it came there.
        is_of_call: whether it was told to a call that is no message: its readers there are the
            thread's owner, and who called as long as they may read it.
    """

    text: str
    said: str
    owner: Party | None
    places: list[tuple[Thread, int]] = field(default_factory=list)
    is_of_call: bool = False
    file: File | None = None


class Model:
    """Everything that a history has made.

    Attributes:
        now: the desk's time in Unix seconds.
        step: the number of the present step.
    """

    def __init__(self, seed: int, now: float) -> None:
        self.random = random.Random(seed)
        self.now = now
        self.step = 0
        self.threads: list[Thread] = []
        self.markers: dict[str, Marker] = {}
        self.files: list[File] = []
        self.by_id: dict[str, Thread] = {}

    def mark(self, said: str, owner: Party | None, thread: Thread | None = None) -> Marker:
        """A new marker, placed on a thread if one is given."""
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"
        text = f"mk{''.join(self.random.choices(digits, k=12))}q"
        marker = self.markers[text] = Marker(text, said, owner)
        if thread is not None:
            marker.places.append((thread, self.step))
        return marker

    def mark_result(self, text: str, asked: Marker) -> None:
        """Note the marker of a result: it stands where its call was made, from now on.

        Parameters:
            asked: the marker of the call.
        """
        result = Marker(text, f"a result after {asked.said}", asked.owner)
        result.is_of_call = asked.is_of_call
        result.places = [(where, self.step) for where, _ in asked.places]
        self.markers[text] = result

    def learn(self, thread: Thread, *ids: str) -> None:
        """Note ids that lead to a thread, or to what belongs to it."""
        for id_ in ids:
            thread.ids.add(id_)
            self.by_id.setdefault(id_, thread)

    def tell(self) -> None:
        """Note who can read what now."""
        for thread in self.threads:
            for party in self.parties_of(thread):
                if self.reads_until(party, thread):
                    thread.told.add(party)

    def parties_of(self, thread: Thread) -> Iterator[Party]:
        """Those who may have to do with a thread, as far as it knows them."""
        if thread.owner is not None:
            yield thread.owner
        yield from thread.bound
        yield from thread.left
        for grant in thread.grants:
            yield grant.party

    def reads_until(self, party: Party, thread: Thread) -> int:
        """Up to which step a party may read a thread now; 0 for not at all."""
        if party is thread.owner or party.kind == "operator":
            return ALWAYS
        if party in thread.bound:
            return ALWAYS
        if thread.owner is None:
            if party.kind in {"anonymous", "link"} or party not in thread.left:
                return ALWAYS if thread in party.knows else 0
            return thread.left[party]
        if any(grant.party is party and grant.holds(self.now) for grant in thread.grants):
            return ALWAYS
        return thread.left.get(party, 0)

    def may_write(self, party: Party, thread: Thread) -> bool:
        """Whether a party may post to a thread now."""
        if self.manages(party, thread) or party in thread.bound:
            return True
        return thread.owner is not None and any(
            grant.party is party and grant.holds(self.now) and grant.may == "write"
            for grant in thread.grants
        )

    def manages(self, party: Party, thread: Thread) -> bool:
        """Whether a party may change a thread now."""
        if party is thread.owner or party.kind == "operator":
            return True
        return thread.owner is None and self.reads_until(party, thread) == ALWAYS

    def may_see(self, credential: Credential, marker: Marker) -> bool:
        """Whether a caller may be sent a marker now."""
        party = credential.party
        if not credential.is_live:
            return False
        if marker.owner is not None and party is marker.owner and self._is_its_own(marker):
            return True
        if marker.file is not None and self._may_open(party, marker.file):
            return True
        for thread in self.threads:
            if marker.is_of_call and not self._may_see_calls(party, thread, marker):
                continue
            until = self.reads_until(party, thread)
            if until and self._knows_of(thread, until, marker):
                return True
        return False

    def _may_see_calls(self, party: Party, thread: Thread, marker: Marker) -> bool:
        is_caller = party is marker.owner and self.reads_until(party, thread) == ALWAYS
        return is_caller or self.manages(party, thread)

    def _is_its_own(self, marker: Marker) -> bool:
        """Whether what a party owns is theirs wherever they ask; on threads, access decides."""
        return not marker.places

    def _may_open(self, party: Party, file: File) -> bool:
        if file.owner is not None:
            return party is file.owner
        return party is file.uploader or any(
            held is file and self.reads_until(party, thread) >= at
            for thread in self.threads
            for at, held in thread.files
        )

    def _knows_of(self, thread: Thread, until: int, marker: Marker) -> bool:
        at: tuple[Thread, int] | None = (thread, until)
        while at is not None:
            where, upto = at
            if any(place is where and step <= upto for place, step in marker.places):
                return True
            at = where.parent
        return False
