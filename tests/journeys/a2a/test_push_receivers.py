"""Receivers of push notifications: told no more once their setter may not write to the thread."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aitp_desk.agent.base import Answer
from aitp_desk.store.units.keys.tokens import revoke_token, rotate_token
from tests.journeys.a2a.test_access import V1, principal_of, send_task, share
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import Clock, PacedAgent
from tests.support.doubles.callback_receiver import Receiver, receiving

EGRESS = "egress.allow_loopback=true"
SECRET = "the-marker-that-comes-later"
DAY = 24 * 60 * 60


class Ground(msgspec.Struct):
    """A shared thread on which another caller waits to be told of a task."""

    owner: Talker
    thread: str
    clock: Clock
    grant: Any = None
    other: Talker | None = None


Loses = Callable[[Ground], Awaitable[Any]]


def push(receiver: Receiver, id_: str, **members: Any) -> dict[str, Any]:
    """The configuration of a message whose sender is told at a receiver."""
    config = {"id": id_, "url": receiver.url, **members}
    return {"taskPushNotificationConfig": config, "returnImmediately": True}


async def revoke(ground: Ground) -> None:
    path = f"{THREADS}/{ground.thread}/grants/{ground.grant['id']}"
    assert (await ground.owner.send("DELETE", path)).ok


async def lower(ground: Ground) -> None:
    who = ground.grant["principal"]
    await share(ground.owner, ground.thread, principal=who, may="read")


async def expire(ground: Ground) -> None:
    ground.clock.advance(DAY)


async def remove(ground: Ground) -> None:
    path = f"{THREADS}/{ground.thread}/actors/dora"
    assert (await ground.owner.send("DELETE", path)).status == 200


async def leave(ground: Ground) -> None:
    assert ground.other is not None
    path = f"{THREADS}/{ground.thread}/actors/dora"
    assert (await ground.other.send("DELETE", path)).status == 200


async def revoke_key(ground: Ground) -> None:
    assert ground.other is not None
    id_ = principal_of(ground.other).removeprefix("key:")
    await ground.owner.desk.store.run(revoke_token, id_or_name=id_, now=int(ground.clock()))


async def rotate_key(ground: Ground) -> None:
    assert ground.other is not None
    id_ = principal_of(ground.other).removeprefix("key:")
    await ground.owner.desk.store.run(
        rotate_token,
        id=id_,
        version=1,
        hash=b"another",
        data_key=1,
        previous_until=int(ground.clock()),
        now=int(ground.clock()),
    )


async def rotate_key_later(ground: Ground) -> None:
    """Have the key's former secret work on for a while, until after the push."""
    assert ground.other is not None
    id_ = principal_of(ground.other).removeprefix("key:")
    now = int(ground.clock())
    await ground.owner.desk.store.run(
        rotate_token,
        id=id_,
        version=1,
        hash=b"another",
        data_key=1,
        previous_until=now + 60,
        now=now,
    )
    ground.clock.advance(61)


async def nothing(_ground: Ground) -> None:
    """The one who is told loses nothing."""


WAYS: dict[str, tuple[str, Loses]] = {
    "revoked grant": ("grant", revoke),
    "lowered grant": ("grant", lower),
    "expired grant": ("grant", expire),
    "revoked link": ("link", revoke),
    "expired link": ("link", expire),
    "removed actor": ("actor", remove),
    "actor who left": ("actor", leave),
    "revoked key": ("grant", revoke_key),
    "rotated key": ("grant", rotate_key),
    "rotated key after its overlap": ("grant", rotate_key_later),
    "nothing lost": ("grant", nothing),
}
AT_ONCE = set(WAYS) - {"expired grant", "expired link", "rotated key after its overlap"}


async def take_part(ground: Ground, how: str, talker: Talker) -> Talker:
    """Let another caller write to the thread."""
    ends = {"expires_in": DAY}
    if how == "link":
        ground.grant = await share(ground.owner, ground.thread, link=True, may="write", **ends)
        ground.other = talker.with_link(ground.grant["secret"])
        return ground.other
    ground.other = await talker.with_key()
    who = principal_of(ground.other)
    if how == "grant":
        ground.grant = await share(ground.owner, ground.thread, principal=who, may="write", **ends)
    else:
        actor = {"id": "dora", "principal": who}
        path = f"{THREADS}/{ground.thread}/actors"
        assert (await ground.owner.send("POST", path, actor)).ok
    return ground.other


async def pushed(talker: Talker) -> None:
    """Wait until every notification is sent, or is not to be sent."""
    waiting = "SELECT count(*) FROM jobs WHERE kind = 'task_push' AND state != 'done'"
    while talker.rows(waiting) != [(0,)]:
        await talker.desk.store.settled()


@pytest.mark.parametrize("way", WAYS)
async def test_a_caller_who_loses_the_right_to_write_gets_no_more_notifications(
    tmp_path: Path, way: str
) -> None:
    how, lose = WAYS[way]
    agent, clock = PacedAgent(), Clock(time.time())
    async with (
        receiving() as theirs,
        receiving() as owners,
        talking(tmp_path, EGRESS, agent=agent, clock=clock) as talker,
    ):
        owner = await talker.with_key()
        agent.say(Answer("Hello."))
        ground = Ground(owner, (await owner.open("Hello.", wait=10)).id, clock)
        other = await take_part(ground, how, talker)
        sent = await send_task(
            other, "A lamp?", contextId=ground.thread, configuration=push(theirs, "theirs")
        )
        config = {"id": "owners", "url": owners.url}
        path = f"/a2a/tasks/{sent['id']}/pushNotificationConfigs"
        assert (await owner.send("POST", path, config, headers=V1)).status == 200
        await lose(ground)
        left = talker.rows("SELECT id FROM task_pushes ORDER BY id")
        if way in AT_ONCE:
            kept = [("owners",), ("theirs",)] if way == "nothing lost" else [("owners",)]
            assert left == kept
        agent.say(Answer(SECRET))
        await owners.told(1)
        await pushed(talker)
        assert SECRET in str(owners.got)
        assert bool(theirs.got) is (way == "nothing lost")
        left = talker.rows("SELECT id FROM task_pushes ORDER BY id")
        assert left == ([("owners",), ("theirs",)] if way == "nothing lost" else [("owners",)])


async def test_a_holder_of_the_id_alone_gets_no_notifications_after_the_claim(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with (
        receiving() as theirs,
        receiving() as owners,
        talking(tmp_path, EGRESS, agent=agent) as talker,
    ):
        owner = await talker.with_key()
        sent = await send_task(talker, "A lamp?", configuration=push(theirs, "theirs"))
        ((thread,),) = talker.rows("SELECT thread_id FROM tasks")
        assert (await owner.send("POST", f"{THREADS}/{thread}/claim", {})).status == 200
        path = f"/a2a/tasks/{sent['id']}/pushNotificationConfigs"
        assert (await owner.send("GET", path, headers=V1)).ok["configs"] == []
        config = {"id": "owners", "url": owners.url}
        assert (await owner.send("POST", path, config, headers=V1)).status == 200
        agent.say(Answer(SECRET))
        await owners.told(1)
        await pushed(talker)
        assert theirs.got == []


async def test_each_caller_sees_and_deletes_their_own_receivers(tmp_path: Path) -> None:
    async with talking(tmp_path, EGRESS) as talker:
        owner, ben, cleo = [await talker.with_key() for _ in range(3)]
        thread = (await owner.open("Hello.", wait=10)).id
        for who in (ben, cleo):
            await share(owner, thread, principal=principal_of(who), may="write")
        sent = await send_task(ben, "A lamp?", contextId=thread)
        path = f"/a2a/tasks/{sent['id']}/pushNotificationConfigs"
        config = {"id": "bens", "url": "https://told.example/", "token": "the-secret-of-ben"}
        assert (await ben.send("POST", path, config, headers=V1)).status == 200
        assert "the-secret-of-ben" in str((await ben.send("GET", path, headers=V1)).ok)
        assert (await cleo.send("GET", path, headers=V1)).ok["configs"] == []
        assert (await cleo.send("GET", f"{path}/bens", headers=V1)).status == 404
        taken = {"id": "bens", "url": "https://cleo.example/"}
        assert (await cleo.send("POST", path, taken, headers=V1)).status == 403
        await cleo.send("DELETE", f"{path}/bens", headers=V1)
        (listed,) = (await owner.send("GET", path, headers=V1)).ok["configs"]
        assert listed == {"id": "bens", "url": "https://told.example/", "taskId": sent["id"]}
        assert (await owner.send("DELETE", f"{path}/bens", headers=V1)).ok == {}
        assert (await ben.send("GET", path, headers=V1)).ok["configs"] == []
