"""Steps on what is audited, sealed, signed, erased, and deleted when its time is over."""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, ObjectKind, Outcome
from aitp_desk.model.access.sealed_value import StoredSealed
from aitp_desk.store.reads.privacy.erasure import AttachedFile, Person
from aitp_desk.store.records.keys import WrappedKey
from aitp_desk.store.units.answered_questions import mark_answered
from aitp_desk.store.units.audit import keep_audit
from aitp_desk.store.units.content import raise_content_epoch
from aitp_desk.store.units.keys.data_keys import keep_first_data_key
from aitp_desk.store.units.privacy import erasure, retention
from aitp_desk.store.units.privacy.restoration import note_restored
from aitp_desk.store.units.privacy.retention import trim_audit
from aitp_desk.store.units.privacy.sealed_values import (
    drop_old_sealed,
    read_sealed,
    write_sealed,
)
from aitp_desk.store.units.privacy.transcripts import (
    countersign,
    keep_transcript_key,
    withdraw_transcript_key,
)
from aitp_desk.store.units.runs.token_usage import add_tokens_used
from aitp_desk.store.units.threads.sessions import delete_expired
from tests.support.access.audit_log import somebody
from tests.support.store.messages import NOW, new_name
from tests.unit.store.histories.history import LIMIT, PEOPLE, Draw, History, Step, pick


async def note(past: History, of: Draw) -> None:
    await past.store.run(
        keep_audit,
        by=somebody(),
        action=AuditAction.CREDENTIAL_REFUSED,
        kind=ObjectKind.ADDRESS,
        id_=of.text,
        outcome=Outcome.UNKNOWN,
        count=abs(of.number),
    )


async def trim(past: History, of: Draw) -> None:
    await past.store.run(trim_audit, by=somebody(), before=NOW + of.n, limit=LIMIT)


async def use_tokens(past: History, of: Draw) -> None:
    used_by = of.key.encode()
    await past.store.run(add_tokens_used, day=of.n % 3, used_by=used_by, tokens=of.number // 10_000)


async def mark_question(past: History, of: Draw) -> None:
    await past.store.run(
        mark_answered,
        desk="",
        digests=(of.key.encode(),),
        page=of.text if of.n % 2 else None,
        operator=of.key,
        old=NOW - of.n,
        by=somebody(),
    )


async def change_content(past: History, of: Draw) -> None:
    await past.store.run(raise_content_epoch)


async def seal(past: History, of: Draw) -> None:
    past.sealed.append(new_name("sealed"))
    thread_id, message_id = pick(past.messages, of.n)
    value = StoredSealed(
        ref=past.sealed[-1],
        desk="",
        sealed=of.text.encode(),
        thread_id=thread_id,
        message_id=message_id,
        call_id=pick(past.calls, of.n).id if past.calls else None,
        principal=PEOPLE[of.who].id,
        made_at=NOW + of.n,
    )
    await past.store.run(write_sealed, values=(value,))


async def unseal(past: History, of: Draw) -> None:
    desk = None if of.n % 2 else of.text
    await past.store.run(read_sealed, ref=pick(past.sealed, of.n), desk=desk, by=somebody())


async def sign(past: History, of: Draw) -> None:
    first = WrappedKey(1, "master", of.text.encode(), NOW)
    await past.store.run(keep_first_data_key, key=first)
    await past.store.run(keep_transcript_key, id_=of.key, public=of.text, now=NOW + of.n)


async def withdraw(past: History, of: Draw) -> None:
    await past.store.run(withdraw_transcript_key, id_=of.key.swapcase(), now=NOW, by=somebody())


async def sign_too(past: History, of: Draw) -> None:
    await past.store.run(
        countersign,
        thread_id=pick(past.threads, of.n),
        principal=PEOPLE[of.who],
        key=of.key,
        site=of.text,
        seq=1,
        jws=of.text,
        now=NOW,
        idle_before=0,
    )


async def erase(past: History, of: Draw) -> None:
    await past.store.run(
        erasure.erase_around,
        thread_id=pick(past.threads, of.n),
        since=NOW,
        is_opener=bool(of.n % 2),
        whose=PEOPLE[of.who].id,
        is_fork=False,
        now=NOW,
    )


async def erase_messages(past: History, of: Draw) -> None:
    thread_id, message_id = pick(past.messages, of.n)
    await past.store.run(
        erasure.erase_messages, thread_id=thread_id, message_ids=(message_id,), now=NOW
    )


async def erase_files(past: History, of: Draw) -> None:
    file = AttachedFile(pick(past.files, of.n).id, PEOPLE[of.who].id)
    await past.store.run(erasure.erase_files, files=(file,))


async def erase_runs(past: History, of: Draw) -> None:
    run, whose = pick(past.runs, of.n), PEOPLE[of.who].id
    await past.store.run(
        erasure.erase_runs, thread_id=run.thread_id, run_ids=(run.id,), whose=whose
    )


async def erase_apart(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n) if of.n % 2 else None
    person = Person(PEOPLE[of.who].id, thread_id)
    await past.store.run(erasure.erase_apart, person=person, by=somebody(), limit=LIMIT)
    await past.store.run(
        erasure.note_erasure, person=person, by=somebody(), outcome=Outcome.DONE, count=of.n
    )


async def restore(past: History, of: Draw) -> None:
    await past.store.run(note_restored, now=NOW, call_kinds=("call",), by=somebody())


async def retain(past: History, of: Draw) -> None:
    before, store = NOW - 1 + of.n % 3, past.store
    thread_id = pick(past.threads, of.n)
    await store.run(retention.drop_old_thread, thread_id=thread_id, before=before, now=NOW)
    await store.run(retention.drop_old_events, before=before, now=NOW, limit=LIMIT)
    await store.run(retention.drop_old_folded, before=before, limit=LIMIT)
    await store.run(retention.drop_old_files, before=before, limit=LIMIT)
    await store.run(retention.drop_old_calls, before=before, limit=LIMIT)
    await store.run(drop_old_sealed, before=before, limit=LIMIT)
    await store.run(retention.note_retention, by=somebody(), what=of.key, count=of.n)


async def dispose(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n)
    await past.store.run(retention.drop_unkept_thread, thread_id=thread_id, now=NOW)


async def expire(past: History, of: Draw) -> None:
    await past.store.run(
        delete_expired,
        once_before=NOW - 1 + of.n % 3,
        sessions_before=NOW - 1 + of.n % 3,
        files_until=NOW + of.n,
        limit=LIMIT,
        files=LIMIT,
    )


STEPS: tuple[Step, ...] = (
    note,
    use_tokens,
    mark_question,
    change_content,
    seal,
    unseal,
    sign,
    withdraw,
    sign_too,
    erase,
    erase_messages,
    erase_files,
    erase_runs,
    erase_apart,
    restore,
    retain,
    dispose,
    expire,
    trim,
)
