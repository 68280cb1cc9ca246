"""What changes who may see what in a history: shares, claims, leavings, and credentials."""

from __future__ import annotations

from urllib.parse import quote

from tests.access_walk.model import Credential, Grant, Party, Thread
from tests.access_walk.world import Stream, World
from tests.support.clients.dispatcher import Answered

LINGER_SECONDS = 60


class Sharing:
    """Steps that change access. Each returns what was done, in words."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.model = world.model

    async def share(
        self, who: Credential, thread: Thread, party: Party, may: str, *, lasts: bool
    ) -> str | None:
        """Share a thread with a caller, or change what they may."""
        body: dict[str, object] = {"principal": party.principal, "may": may}
        sent = await self._grant(who, thread, body, lasts=lasts)
        if sent.status != 200:
            return self.world.refuse("share", sent)
        for grant in thread.grants:
            if grant.id == sent.ok["id"]:
                grant.is_revoked = True
        thread.grants.append(Grant(sent.ok["id"], party, may, sent.ok["expires_at"]))
        until = "" if lasts else " for a while"
        return f"{who.party.name} shares {thread.name} with {party.name} to {may}{until}"

    async def link(self, who: Credential, thread: Thread, may: str, *, lasts: bool) -> str | None:
        """Share a thread by a link."""
        sent = await self._grant(who, thread, {"link": True, "may": may}, lasts=lasts)
        if sent.status != 200:
            return self.world.refuse("link", sent)
        party = Party(f"link {len(self.world.credentials)}", "link", f"link:{sent.ok['id']}")
        guest = Credential(party, (("Desk-Grant", sent.ok["secret"]),))
        self.world.credentials.append(guest)
        thread.grants.append(Grant(sent.ok["id"], party, may, sent.ok["expires_at"]))
        until = "" if lasts else " for a while"
        return f"{who.party.name} shares {thread.name} by {party.name} to {may}{until}"

    async def unshare(self, who: Credential, thread: Thread, grant: Grant) -> str | None:
        """Take back what was shared."""
        self.world.note_sent(self._followers(thread))
        sent = await self.world.ask(who, "DELETE", f"/v1/threads/{thread.id}/grants/{grant.id}")
        if sent.status != 200:
            return self.world.refuse("unshare", sent)
        grant.is_revoked = True
        await self._end_links()
        return f"{who.party.name} takes {thread.name} back from {grant.party.name}"

    async def wait(self) -> str:
        """Let time pass until what was shared for a while has ended."""
        self.world.note_sent(self.world.streams)
        self.world.clock.advance(LINGER_SECONDS + 1)
        self.model.now = self.world.clock()
        await self._end_links()
        return "time passes"

    async def join(self, who: Credential, thread: Thread, party: Party) -> str | None:
        """Have a caller take part by an actor that is bound to them."""
        actor = f"actor-{party.principal[-6:]}-{self.model.step}"
        body = {"id": actor, "principal": party.principal}
        target = f"/v1/threads/{thread.id}/actors"
        sent = await self.world.ask(who, "POST", target, body)
        if sent.status != 200:
            return self.world.refuse("join", sent)
        thread.bound[party] = actor
        thread.left.pop(party, None)
        if thread.owner is None:
            party.knows.add(thread)
        return f"{who.party.name} has {party.name} take part in {thread.name}"

    async def leave(self, who: Credential, thread: Thread, party: Party) -> str | None:
        """Have a caller's actor leave."""
        self.world.note_sent(self._followers(thread))
        target = f"/v1/threads/{thread.id}/actors/{quote(thread.bound[party], safe='')}"
        sent = await self.world.ask(who, "DELETE", target)
        if sent.status != 200:
            return self.world.refuse("leave", sent)
        del thread.bound[party]
        thread.left[party] = self.model.step
        how = "leaves" if who.party is party else f"is sent away by {who.party.name} from"
        return f"{party.name} {how} {thread.name}"

    async def claim(self, who: Credential, thread: Thread) -> str | None:
        """Claim a thread without an owner, and the files that are attached there."""
        self.world.note_sent(self._followers(thread))
        sent = await self.world.ask(who, "POST", f"/v1/threads/{thread.id}/claim")
        if sent.status != 200:
            return self.world.refuse("claim", sent)
        thread.owner = who.party
        for _, file in thread.files:
            file.owner = file.owner or who.party
        for call in self.world.calls:
            if call.thread is thread and call.credential.party.kind in {"anonymous", "link"}:
                call.marker.owner = who.party
        return f"{who.party.name} claims {thread.name}"

    async def hand_id(self, thread: Thread, party: Party) -> str:
        """Give a caller the id of a thread without an owner."""
        party.knows.add(thread)
        return f"{party.name} is given the id of {thread.name}"

    async def rotate(self, who: Credential) -> str:
        """Give a key another secret, without an overlap."""
        await self.world.rotate(who)
        return f"{who.party.name}'s key is rotated"

    async def revoke(self, who: Credential) -> str:
        """Revoke a key; a new caller comes in its owner's place."""
        await self.world.revoke(who)
        name = who.party.name.partition(" ")[0]
        newcomer = await self.world.make_party(
            f"{name} {len(self.world.credentials)}", "key", "threads", "actions"
        )
        return f"{who.party.name}'s key is revoked; {newcomer.party.name} comes"

    async def follow_task(self, who: Credential, thread: Thread, task: str) -> str | None:
        """Set an address that receives the state of a task."""
        body = {"url": self.world.receiver(who, thread)}
        target = f"/a2a/tasks/{task}/pushNotificationConfigs"
        headers = (("A2A-Version", "1.0"),)
        sent = await self.world.ask(who, "POST", target, body, headers=headers)
        if sent.status != 200:
            return self.world.refuse("follow a task", sent)
        return f"{who.party.name} is told of a task on {thread.name}"

    def _followers(self, thread: Thread) -> list[Stream]:
        return [stream for stream in self.world.streams if stream.thread is thread]

    async def _grant(
        self, who: Credential, thread: Thread, body: dict[str, object], *, lasts: bool
    ) -> Answered:
        if not lasts:
            body = {**body, "expires_in": LINGER_SECONDS}
        return await self.world.ask(who, "POST", f"/v1/threads/{thread.id}/grants", body)

    async def _end_links(self) -> None:
        live = {
            grant.party
            for thread in self.model.threads
            for grant in thread.grants
            if grant.holds(self.model.now)
        }
        for credential in self.world.live("link"):
            if credential.party not in live:
                credential.is_live = False
