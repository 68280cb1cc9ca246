"""What is left to a caller whose access to a thread has ended, over every protocol.

What is right stands in docs/build/access.md, under "After access has ended".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from tests.access_walk import addresses
from tests.access_walk.conversation import V1, Speaking
from tests.access_walk.grants import Sharing
from tests.access_walk.history import open_world
from tests.access_walk.model import Credential, Thread
from tests.access_walk.world import World
from tests.docs.tables import access

REFUSED = 400
SECONDS = 10


class Scene(msgspec.Struct):
    """A thread, its owner, and a caller who is about to lose it."""

    world: World
    owner: Credential
    caller: Credential
    thread: Thread
    is_lost: bool = False

    @property
    def sharing(self) -> Sharing:
        """Steps that change access."""
        return Sharing(self.world)


Begin = Callable[[World, Credential, Credential], Awaitable[tuple[Credential, Thread]]]
"""Has a caller get access to a thread of the owner's, or open one."""


async def shared(world: World, owner: Credential, caller: Credential) -> tuple[Credential, Thread]:
    thread = await opened(world, owner)
    await Sharing(world).share(owner, thread, caller.party, "write", lasts=True)
    return caller, thread


async def shared_for_a_while(
    world: World, owner: Credential, caller: Credential
) -> tuple[Credential, Thread]:
    thread = await opened(world, owner)
    await Sharing(world).share(owner, thread, caller.party, "write", lasts=False)
    return caller, thread


async def linked(world: World, owner: Credential, _: Credential) -> tuple[Credential, Thread]:
    thread = await opened(world, owner)
    await Sharing(world).link(owner, thread, "write", lasts=True)
    return world.credentials[-1], thread


async def taking_part(
    world: World, owner: Credential, caller: Credential
) -> tuple[Credential, Thread]:
    thread = await opened(world, owner)
    await Sharing(world).join(owner, thread, caller.party)
    return caller, thread


async def owning(world: World, _: Credential, caller: Credential) -> tuple[Credential, Thread]:
    return caller, await opened(world, caller)


async def anonymous(world: World, _: Credential, __: Credential) -> tuple[Credential, Thread]:
    visitor = await world.make_party("A", "anonymous")
    return visitor, await opened(world, visitor)


async def opened(world: World, who: Credential) -> Thread:
    """A thread that a caller opens."""
    assert await Speaking(world).open(who)
    return world.model.threads[-1]


async def take_back(scene: Scene) -> None:
    (grant,) = scene.thread.grants
    assert await scene.sharing.unshare(scene.owner, scene.thread, grant)


async def let_expire(scene: Scene) -> None:
    await scene.sharing.wait()


async def send_away(scene: Scene) -> None:
    assert await scene.sharing.leave(scene.owner, scene.thread, scene.caller.party)


async def leave(scene: Scene) -> None:
    assert await scene.sharing.leave(scene.caller, scene.thread, scene.caller.party)


async def claim(scene: Scene) -> None:
    await scene.sharing.hand_id(scene.thread, scene.owner.party)
    assert await scene.sharing.claim(scene.owner, scene.thread)


async def rotate(scene: Scene) -> None:
    renewed = await scene.world.rotate(scene.caller)
    scene.owner = renewed


async def revoke(scene: Scene) -> None:
    await scene.world.revoke(scene.caller)
    scene.owner = await scene.world.make_party("Olga", "operator", "operator", "actions")


LOSSES: dict[str, tuple[Begin, Callable[[Scene], Awaitable[None]]]] = {
    "a key it is shared with: taken back": (shared, take_back),
    "a key it is shared with: its time ends": (shared_for_a_while, let_expire),
    "a link: taken back": (linked, take_back),
    "who takes part: sent away": (taking_part, send_away),
    "who takes part: leaves": (taking_part, leave),
    "who opened it without a credential: it is claimed": (anonymous, claim),
    "a key's former secret: rotated without overlap": (owning, rotate),
    "a key: revoked": (owning, revoke),
}


def test_every_loss_of_the_table_is_tried() -> None:
    assert access.losses().keys() == LOSSES.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
async def test_what_is_left_after_access_has_ended_is_what_the_table_says(
    tmp_path: Path, name: str
) -> None:
    begin, lose = LOSSES[name]
    async with open_world(tmp_path) as world:
        scene = await make_scene(world, begin)
        assert await seen_by_lists(scene) == "it"
        await lose(scene)
        world.model.step += 1
        pushes = world.pushes
        await go_on(scene)
        found = {
            "reads and polls": await seen_by_reads(scene),
            "lists": await seen_by_lists(scene),
            "repeats": await seen_by_repeats(scene),
            "receivers": "nothing more" if world.pushes == pushes else "what follows",
            "streams": await end_of_stream(scene),
        }
        row = dict(access.losses()[name])
        assert found == {column: row[column] for column in found}
        assert world.leaks == []


async def make_scene(world: World, begin: Begin) -> Scene:
    """Have a caller do by every protocol what can be asked for again."""
    world.model.step += 1
    owner = await world.make_party("Aya", "key", "threads", "actions")
    caller, thread = await begin(
        world, owner, await world.make_party("Ben", "key", "threads", "actions")
    )
    speaking, sharing = Speaking(world), Sharing(world)
    assert await speaking.post(caller, thread)
    assert await speaking.send(caller, thread)
    protocols = ["A2A"]
    if thread.owner in {None, caller.party}:  # a session is for its owner alone
        assert await speaking.converse(caller, thread)
        assert await speaking.prompt(caller, thread)
        protocols += ["AHP", "MCP"]
    for name in ("tell", "buy"):
        for by in protocols:
            assert await speaking.call_in(caller, thread, name, by)
    assert await speaking.send(caller, thread, waits=True)
    assert await sharing.follow_task(caller, thread, thread.waiting[-1])
    world.follow(caller, thread)
    await world.rest()
    return Scene(world, owner, caller, thread)


async def go_on(scene: Scene) -> None:
    """Have more said on the thread, a task go on, and a call be paid."""
    speaking = Speaking(scene.world)
    assert await speaking.post(scene.owner, scene.thread)
    assert await speaking.send(scene.owner, scene.thread, scene.thread.waiting[-1])
    for call in [call for call in scene.world.calls if call.quote and not call.is_paid]:
        assert await speaking.pay(scene.owner, call, by_call=False)
    await scene.world.rest()


async def seen_by_reads(scene: Scene) -> str:
    """How every address of the thread, its tasks and its calls answers."""
    statuses: dict[str, set[int]] = {"thread": set(), "else": set()}
    asked = [*addresses.of_thread(scene.world, scene.thread)]
    asked += [one for call in scene.world.calls for one in addresses.of_call(call)]
    for one in asked:
        answered = await scene.world.ask(
            scene.caller, one.method, one.target, one.body, headers=one.headers
        )
        kind = "thread" if one.template.endswith("/v1/threads/{thread_id}") else "else"
        statuses[kind].add(int(answered.status))
    if statuses["thread"] == {200}:
        return "up to leaving"
    assert len(statuses["thread"]) == 1
    return str(*statuses["thread"])


async def seen_by_lists(scene: Scene) -> str:
    """What lists of tasks and files have of the thread: ``it``, ``nothing``, or a refusal."""
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}
    context = scene.thread.id
    asked: list[tuple[str, str, object]] = [
        ("GET", f"/a2a/tasks?contextId={context}", None),
        ("POST", "/a2a", {**rpc, "params": {"contextId": context}}),
    ]
    if scene.caller.party.kind == "key":
        asked.append(("GET", "/a2a/tasks?pageSize=100", None))
    found = set()
    for method, target, body in asked:
        answered = await scene.world.ask(scene.caller, method, target, body, headers=V1)
        told = answered.body.decode()
        if answered.status >= REFUSED:
            found.add(str(int(answered.status)))
        else:
            found.add("it" if any(task in told for task in scene.thread.tasks) else "nothing")
    assert len(found) == 1
    return found.pop()


async def seen_by_repeats(scene: Scene) -> str:
    """How requests with an Idempotency-Key are answered when the caller sends them again."""
    mine = [one for one in scene.world.once if one[0] is scene.caller]
    assert len({target for _, _, target, *_ in mine}) > 1
    told = set()
    for _, method, target, headers, body in mine:
        once = [line for line in headers if line[0] != "Prefer"]
        answered = await scene.world.ask(scene.caller, method, target, body, headers=once)
        is_refused = answered.status >= REFUSED or is_error(answered.body)
        told.add("401" if answered.status == 401 else "refused" if is_refused else target)
    return ", ".join(sorted(told))


def is_error(body: bytes) -> bool:
    """Whether JSON-RPC says that something was refused."""
    said = json.loads(body)
    return "error" in said or bool(said.get("result", {}).get("isError"))


async def end_of_stream(scene: Scene) -> str:
    """Whether the caller's stream ends, once more was said on the thread."""
    (stream,) = [*scene.world.streams, *scene.world.ended]
    await asyncio.wait([stream.task], timeout=SECONDS)
    return "end" if stream.task.done() else "go on"


async def test_a_visitor_without_a_credential_learns_nothing_of_another(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        scene = await make_scene(world, anonymous)
        files = Speaking(world)
        assert await files.upload(scene.caller)
        b = await world.make_party("B", "anonymous")
        for asked in [
            *addresses.alone(world),
            *[one for call in world.calls if call.quote for one in addresses.with_quote(call)],
        ]:
            await world.ask(b, asked.method, asked.target, asked.body, headers=asked.headers)
        assert world.leaks == []
