"""Steps on files, and on the objects of a bucket that have their bytes."""

from __future__ import annotations

import msgspec

from aitp_desk.model.conversation.file import File
from aitp_desk.store.units.threads.files import (
    add_file,
    begin_object,
    delete_file,
    drop_object,
    forget_objects,
    move_file,
    release_abandoned,
)
from tests.support.store.messages import NOW, new_name
from tests.unit.store.histories.history import PEOPLE, Draw, History, Step, pick


async def add_one(past: History, of: Draw) -> None:
    data, owner = of.text.encode(), PEOPLE[of.who].id if of.n % 3 else None
    until = NOW + of.n if of.n % 2 else None
    key = pick(past.objects, of.n) if past.objects and of.number % 2 else None
    file = File(
        id=new_name("file"),
        owner=owner,
        created_at=NOW,
        expires_at=until,
        name=of.text,
        purpose=of.key,
        media_type="text/plain",
        size=len(data),
        sha256=b"digest",
        object_key=key,
    )
    await past.store.run(
        add_file,
        file=file,
        counted=of.key,
        parts=() if key else (data, data),
        max_files=4,
        max_bytes=1000,
    )
    past.files.append(file)


async def delete_one(past: History, of: Draw) -> None:
    file_id, owner = pick(past.files, of.n).id, PEOPLE[of.who].id
    await past.store.run(delete_file, file_id=file_id, owner=owner, desk="", now=NOW)


async def move_one(past: History, of: Draw) -> None:
    file = pick(past.files, of.n)
    key = pick(past.objects, of.n) if past.objects and of.number % 2 else None
    moved = await past.store.run(
        move_file,
        file=file,
        sha256=b"other",
        object_key=key,
        parts=() if key else (of.text.encode(),),
        forgets=bool(of.n % 2),
    )
    if moved:
        moved_to = msgspec.structs.replace(file, object_key=key)
        past.files[past.files.index(file)] = moved_to


async def begin_one(past: History, of: Draw) -> None:
    past.objects.append(new_name("object"))
    await past.store.run(begin_object, key=past.objects[-1], until=NOW + of.n)


async def release(past: History, of: Draw) -> None:
    await past.store.run(release_abandoned, now=NOW + of.n)


async def drop_one(past: History, of: Draw) -> None:
    await past.store.run(drop_object, key=pick(past.objects, of.n))


async def forget(past: History, of: Draw) -> None:
    await past.store.run(forget_objects, keys=past.objects[-1 - of.n :])


STEPS: tuple[Step, ...] = (
    begin_one,
    add_one,
    move_one,
    delete_one,
    release,
    drop_one,
    forget,
)
