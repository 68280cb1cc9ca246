"""The steps of a history: what a caller may do next, as the rule has it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.access_walk.conversation import Speaking
from tests.access_walk.grants import Sharing
from tests.access_walk.model import ALWAYS, Credential, Party, Thread
from tests.access_walk.world import Call, World

RECENT = 5
"""Steps are about the newest threads, so that much happens on each."""
BY_CALL_SHARE = 0.5
"""Of payments, the share that comes with the call again; others are said on its thread."""

Step = Callable[[], Awaitable[str | None]]


class Moves:
    """Chooses steps."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.model = world.model
        self.random = world.model.random
        self.speaking = Speaking(world)
        self.sharing = Sharing(world)

    def choose(self) -> Step:
        """A step that a caller may make, as the rule has it."""
        while True:
            make, weight = self.random.choice(self._kinds())
            if self.random.random() < weight and (step := make()) is not None:
                return step

    def _kinds(self) -> list[tuple[Callable[[], Step | None], float]]:
        return [
            (self._open, 0.4),
            (self._fork, 0.4),
            (self._speak, 1.0),
            (self._speak, 1.0),
            (self._attach, 0.6),
            (self._call, 0.5),
            (self._call_in, 1.0),
            (self._call_in, 1.0),
            (self._pay, 0.6),
            (self._share, 1.0),
            (self._link, 0.5),
            (self._unshare, 0.7),
            (lambda: self.sharing.wait, 0.1),
            (self._join, 0.7),
            (self._leave, 0.5),
            (self._claim, 0.4),
            (self._hand_id, 0.4),
            (self._rotate, 0.1),
            (self._revoke, 0.04),
            (self._follow_task, 1.0),
            (self._wait_for_more, 0.5),
            (self._go_on, 0.5),
            (self._follow, 0.3),
        ]

    def _thread(self, wanted: Callable[[Thread], bool] = lambda _: True) -> Thread | None:
        found = [thread for thread in self.model.threads[-RECENT:] if wanted(thread)]
        return self.random.choice(found) if found else None

    def _who(self, may: Callable[[Party], bool], *kinds: str) -> Credential | None:
        found = [one for one in self.world.live(*kinds) if may(one.party)]
        return self.random.choice(found) if found else None

    def _writer(self, thread: Thread) -> Credential | None:
        return self._who(lambda party: self.model.may_write(party, thread))

    def _manager(self, thread: Thread) -> Credential | None:
        return self._who(lambda party: self.model.manages(party, thread))

    def _open(self) -> Step | None:
        who = self._who(lambda _: True)
        assert who is not None
        speaking = self.speaking
        return self.random.choice(
            [
                lambda: speaking.open(who),
                lambda: speaking.converse(who, None),
                lambda: speaking.prompt(who, None),
                lambda: speaking.send(who, None),
            ]
        )

    def _fork(self) -> Step | None:
        thread = self._thread()
        who = thread and self._who(lambda party: self.model.reads_until(party, thread) > 0)
        return None if not who else lambda: self.speaking.open(who, thread)

    def _speak(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        if not who or not thread:
            return None
        speaking = self.speaking
        ways: list[Step] = [
            lambda: speaking.post(who, thread),
            lambda: speaking.send(who, thread),
        ]
        if self._has_session(who, thread):
            ways += [lambda: speaking.converse(who, thread), lambda: speaking.prompt(who, thread)]
        return self.random.choice(ways)

    def _has_session(self, who: Credential, thread: Thread) -> bool:
        """Whether a caller may go on with a thread over AHP and MCP: its owner, or nobody known."""
        is_unknown = who.party.kind in {"anonymous", "link"}
        return who.party is thread.owner or (thread.owner is None and is_unknown)

    def _attach(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        if not who or not thread:
            return None

        async def attach() -> str | None:
            uploaded = await self.speaking.upload(who)
            if uploaded is None:
                return None
            return await self.speaking.post(who, thread, self.model.files[-1])

        return attach

    def _action(self, who: Credential) -> str:
        is_open = who.party.kind in {"anonymous", "link"}
        return self.random.choice(["tell", "buy"] if is_open else ["tell", "buy", "work"])

    def _call(self) -> Step | None:
        who = self._who(lambda _: True)
        assert who is not None
        name = self._action(who)
        return lambda: self.speaking.call(who, name)

    def _call_in(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        if not who or not thread:
            return None
        protocols = ["A2A", "AHP", "MCP"] if self._has_session(who, thread) else ["A2A"]
        name, by = self._action(who), self.random.choice(protocols)
        return lambda: self.speaking.call_in(who, thread, name, by)

    def _unpaid(self) -> list[Call]:
        return [call for call in self.world.calls[-20:] if call.quote and not call.is_paid]

    def _pay(self) -> Step | None:
        unpaid = self._unpaid()
        if not unpaid:
            return None
        call = self.random.choice(unpaid)
        thread, own = call.thread, call.credential
        may_pay = thread is None or self.model.may_write(own.party, thread)
        if own.is_live and may_pay and self.random.random() < BY_CALL_SHARE:
            return lambda: self.speaking.pay(own, call, by_call=True)
        payer = thread and self._writer(thread)
        return None if not payer else lambda: self.speaking.pay(payer, call, by_call=False)

    def _share(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is not None)
        who = thread and self._manager(thread)
        other = self._who(lambda party: thread is not None and party is not thread.owner, "key")
        if not who or not thread or not other:
            return None
        may, lasts = self.random.choice(["read", "write"]), self.random.random() < 0.7
        return lambda: self.sharing.share(who, thread, other.party, may, lasts=lasts)

    def _link(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is not None)
        who = thread and self._manager(thread)
        if not who or not thread:
            return None
        may, lasts = self.random.choice(["read", "write"]), self.random.random() < 0.7
        return lambda: self.sharing.link(who, thread, may, lasts=lasts)

    def _unshare(self) -> Step | None:
        now = self.model.now
        thread = self._thread(lambda thread: any(grant.holds(now) for grant in thread.grants))
        who = thread and self._manager(thread)
        if not who or not thread:
            return None
        grant = self.random.choice([grant for grant in thread.grants if grant.holds(now)])
        return lambda: self.sharing.unshare(who, thread, grant)

    def _join(self) -> Step | None:
        thread = self._thread()
        who = thread and self._manager(thread)
        other = self._who(
            lambda party: (
                thread is not None and party is not thread.owner and party not in thread.bound
            ),
            "key",
        )
        if not who or not thread or not other:
            return None
        return lambda: self.sharing.join(who, thread, other.party)

    def _leave(self) -> Step | None:
        thread = self._thread(lambda thread: bool(thread.bound))
        if thread is None:
            return None
        party = self.random.choice(list(thread.bound))
        own = self.world.credential_of(party)
        who = own if own and self.random.random() < 0.5 else self._manager(thread)
        return None if not who else lambda: self.sharing.leave(who, thread, party)

    def _claim(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is None)
        who = thread and self._who(
            lambda party: self.model.reads_until(party, thread) == ALWAYS and thread in party.knows,
            "key",
        )
        if not who or not thread:
            return None
        return lambda: self.sharing.claim(who, thread)

    def _hand_id(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is None)
        who = thread and self._who(lambda party: thread not in party.knows, "key", "anonymous")
        if not who or not thread:
            return None
        return lambda: self.sharing.hand_id(thread, who.party)

    def _rotate(self) -> Step | None:
        who = self._who(lambda _: True, "key", "operator")
        return None if not who else lambda: self.sharing.rotate(who)

    def _revoke(self) -> Step | None:
        who = self._who(lambda _: True, "key")
        return None if not who else lambda: self.sharing.revoke(who)

    def _follow_task(self) -> Step | None:
        thread = self._thread(lambda thread: bool(thread.tasks))
        who = thread and self._who(lambda party: self.model.reads_until(party, thread) == ALWAYS)
        if not who or not thread:
            return None
        unpaid = [call.task for call in self._unpaid() if call.thread is thread and call.task]
        task = self.random.choice([*unpaid, *thread.waiting] or thread.tasks)
        return lambda: self.sharing.follow_task(who, thread, task)

    def _wait_for_more(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        return None if not who else lambda: self.speaking.send(who, thread, waits=True)

    def _go_on(self) -> Step | None:
        thread = self._thread(lambda thread: bool(thread.waiting))
        who = thread and self._writer(thread)
        if not who or not thread:
            return None
        task = self.random.choice(thread.waiting)

        async def go_on() -> str | None:
            thread.waiting.remove(task)
            return await self.speaking.send(who, thread, task)

        return go_on

    def _follow(self) -> Step | None:
        thread = self._thread()
        who = thread and self._who(lambda party: self.model.reads_until(party, thread) > 0)
        if not who or not thread:
            return None

        async def follow() -> str:
            self.world.follow(who, thread)
            return f"{who.party.name} follows {thread.name}"

        return follow
