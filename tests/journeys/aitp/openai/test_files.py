"""Files: uploaded with the OpenAI SDK and plainly, attached to messages, read by the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest

from aitp_desk.agent.base import FileText
from aitp_desk.desk.threads.files import MAX_UPLOADS_OF_CALLER
from tests.support.clients.openai import DEPRECATED, exact, sdk
from tests.support.clients.threads import Talker, Told, talking
from tests.support.doubles.agent import Clock, ScriptedAgent
from tests.support.http import raw_client
from tests.support.http.connection import SECONDS, calling

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import FileObject

pytestmark = [pytest.mark.asyncio(loop_scope="module"), DEPRECATED]

FILES = "/v1/files"
NOT_FOUND = (404, "file_not_found", "file_id")
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
DAY = 24 * 60 * 60


async def upload(client: AsyncOpenAI, name: str, data: bytes = b"Notes.") -> FileObject:
    return exact(await client.files.create(file=(name, data), purpose="assistants"))


async def test_a_file_is_uploaded_retrieved_read_listed_and_deleted(client: AsyncOpenAI) -> None:
    import openai

    text = "Ünïcödé — 漢字\r\n--boundary--\r\n".encode()
    file = await upload(client, "Über uns.txt", text)
    assert (file.filename, file.bytes, file.purpose) == ("Über uns.txt", len(text), "assistants")
    assert (file.status, file.expires_at) == ("processed", None)
    assert exact(await client.files.retrieve(file.id)) == file
    assert (await client.files.content(file.id)).content == text
    assert file in [exact(listed) async for listed in client.files.list()]
    assert (await client.files.wait_for_processing(file.id)) == file

    gone = exact(await client.files.delete(file.id))
    assert (gone.id, gone.deleted) == (file.id, True)
    for again in (
        client.files.retrieve(file.id),
        client.files.content(file.id),
        client.files.delete(file.id),
    ):
        with pytest.raises(openai.NotFoundError) as refused:
            await again
        assert refused.value.code == "file_not_found"
    assert file not in [listed async for listed in client.files.list()]


async def test_the_sdk_walks_the_pages_of_a_list(talker: Talker) -> None:
    import openai

    async with sdk(await talker.with_key()) as client:
        made = [await upload(client, f"{n}.txt") for n in range(5)]
        newest_first = [file async for file in client.files.list(limit=2)]
        assert sorted(file.id for file in newest_first) == sorted(file.id for file in made)
        oldest_first = [file async for file in client.files.list(limit=2, order="asc")]
        assert oldest_first == newest_first[::-1]
        assert [file async for file in client.files.list(purpose="vision")] == []
        with pytest.raises(openai.BadRequestError) as refused:
            await client.files.list(after="file-elsewhere")
        assert refused.value.param == "after"


async def test_a_file_belongs_to_who_uploaded_it(talker: Talker, owner: Talker) -> None:
    file = (await owner.upload()).id
    path = f"{FILES}/{file}"
    others = (talker, await talker.with_key(), await talker.with_key("operator"))
    for who in others:
        for method, address in (("GET", path), ("GET", f"{path}/content"), ("DELETE", path)):
            assert (await who.send(method, address)).refusal == NOT_FOUND
        attached = [{"file_id": file}]
        at = "attachments[0].file_id"
        told = await who.post((await who.open()).id, "Look.", attachments=attached)
        assert told.refusal == (404, "file_not_found", at)
        told = await who.open("One.", {"content": "Look.", "attachments": attached})
        assert told.refusal == (404, "file_not_found", f"messages[1].{at}")
        message = {"role": "user", "content": "Look.", "attachments": attached}
        run = {"assistant_id": "desk", "additional_messages": [message]}
        thread = (await who.open()).id
        told = await who.send("POST", f"/v1/threads/{thread}/runs", run)
        assert told.refusal == (404, "file_not_found", f"additional_messages[0].{at}")
    assert (await owner.send("GET", path)).id == file


async def test_without_a_credential_nothing_is_uploaded_or_listed(talker: Talker) -> None:
    for told in (await talker.upload(), await talker.send("GET", FILES)):
        assert told.refusal == (401, "not_authenticated", None)
    other = await talker.with_key("actions")
    for told in (await other.upload(), await other.send("GET", FILES)):
        assert told.refusal[:2] == (403, "forbidden")
    unknown = await other.send("GET", f"{FILES}/file_x")
    assert unknown.refusal[:2] == (404, "file_not_found")


async def test_a_caller_who_may_not_upload_is_refused_before_the_body_is_read(
    talker: Talker,
) -> None:
    promised = [(b"Content-Length", b"9999999")]
    answer = await raw_client.send(talker.desk.url, b"POST", b"/v1/files", promised)
    assert answer.status == 401


async def test_so_many_files_of_one_caller_are_on_their_way_at_once(talker: Talker) -> None:
    who, other = await talker.with_key("threads"), await talker.with_key("threads")
    head = [
        "POST /v1/files HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {who.key}",
        "Content-Type: multipart/form-data; boundary=x",
        "Expect: 100-continue",
        "Content-Length: 9999",
    ]
    async with AsyncExitStack() as stack:
        for _ in range(MAX_UPLOADS_OF_CALLER):
            line = await stack.enter_async_context(calling(talker.desk))
            line.writer.write("\r\n".join([*head, "", ""]).encode())
            async with asyncio.timeout(SECONDS):
                assert b" 100 " in await line.reader.readuntil(b"\r\n\r\n")
        told = await who.upload()
        assert told.status == 429
        assert told.headers["Retry-After"] == "10"
        assert (await other.upload()).ok
    async with asyncio.timeout(SECONDS):  # who hangs up makes room
        while (await who.upload()).status == 429:
            pass
    assert (await who.upload()).ok


@pytest.mark.parametrize(
    ("name", "data", "content_type"),
    [
        ("page.html", b"<!DOCTYPE html><script>alert(1)</script>", "application/octet-stream"),
        ("pic.svg", b"<svg onload=alert(1)>", "application/octet-stream"),
        ("paper.pdf", b"%PDF-1.7", "application/octet-stream"),
        ("pic.html", PNG, "image/png"),
        ("pic.png", b"Words.", "text/plain; charset=utf-8"),
    ],
)
async def test_what_a_browser_could_run_is_served_as_bytes(
    owner: Talker, name: str, data: bytes, content_type: str
) -> None:
    file = (await owner.upload(name, data)).id
    headers = {"Authorization": f"Bearer {owner.key}"}
    async with owner.http.get(f"{FILES}/{file}/content", headers=headers) as response:
        assert await response.read() == data
        assert response.headers["Content-Type"] == content_type
        assert response.headers["Content-Disposition"].startswith("attachment; ")
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"] == (
            "default-src 'none'; frame-ancestors 'none'; sandbox"
        )
        # of two lines browsers read none (Fetch, "cross-origin resource policy internal check")
        assert response.headers.getall("Cross-Origin-Resource-Policy") == ["same-origin"]


async def test_a_name_is_cleaned_and_served_in_both_forms(owner: Talker) -> None:
    told = await owner.upload('../../\u202eÜber "uns"%0d%0aX: y.txt')
    assert told.ok["filename"] == "Über _uns_%0d%0aX_ y.txt"
    headers = {"Authorization": f"Bearer {owner.key}"}
    async with owner.http.get(f"{FILES}/{told.id}/content", headers=headers) as response:
        assert response.headers["Content-Disposition"] == (
            'attachment; filename="_ber _uns__0d_0aX_ y.txt";'
            " filename*=UTF-8''%C3%9Cber%20_uns_%250d%250aX_%20y.txt"
        )


def forms() -> Iterator[tuple[dict[str, object], tuple[int, str, str | None]]]:
    """Fields of forms that are refused, and how."""
    file = ("a.txt", b"a")
    yield {"purpose": "assistants"}, (400, "missing_field", "file")
    yield {"file": "no name", "purpose": "assistants"}, (400, "missing_field", "file")
    yield {"file": file}, (400, "missing_field", "purpose")
    yield {"file": file, "purpose": "fine-tune"}, (400, "invalid_request", "purpose")
    yield {"file": ("a.txt", b""), "purpose": "vision"}, (400, "invalid_request", "file")
    yield {"file": ("a.txt", b"MZ\0"), "purpose": "vision"}, (400, "invalid_request", "file")
    for anchor, seconds, at in (
        ("last_active_at", "3600", "anchor"),
        ("created_at", "3599", "seconds"),
        ("created_at", "2592001", "seconds"),
        ("created_at", "soon", "seconds"),
    ):
        fields = {"expires_after[anchor]": anchor, "expires_after[seconds]": seconds}
        yield (
            {"file": file, "purpose": "vision", **fields},
            (400, "invalid_request", f"expires_after[{at}]"),
        )


@pytest.mark.parametrize(("fields", "refusal"), list(forms()))
async def test_an_upload_that_is_not_right_is_refused_and_keeps_nothing(
    owner: Talker, fields: dict[str, object], refusal: tuple[int, str, str | None]
) -> None:
    form = aiohttp.FormData(default_to_multipart=True)
    for name, value in fields.items():
        if isinstance(value, tuple):
            form.add_field(name, value[1], filename=value[0])
        else:
            form.add_field(name, value)
    before = owner.counts()
    headers = {"Authorization": f"Bearer {owner.key}"}
    async with owner.http.post(FILES, data=form, headers=headers) as response:
        told = Told(response.status, response.headers, await response.json())
    assert told.refusal == refusal
    assert owner.counts() == before


FORM = b"multipart/form-data; boundary=xyz"
DATA = b'--xyz\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\ndata\r\n'
PURPOSE = b'--xyz\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n'


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        (FORM, DATA % b"a.txt" + PURPOSE + b"--xyz--\r\n", 200),
        (FORM, DATA % b"../../\xff\x01.txt" + PURPOSE + b"--xyz--", 200),
        (FORM, DATA % b"" + PURPOSE + b"--xyz--\r\n", 200),
        (FORM, DATA % b"a.txt" + PURPOSE, 400),
        (FORM, DATA % b"a.txt" + DATA % b"b.txt" + PURPOSE + b"--xyz--\r\n", 400),
        (FORM, b"--xyz\r\n" * 1000, 413),
        (FORM, DATA % b"a.txt" + b"--xyzY\r\n" * 100_000 + PURPOSE + b"--xyz--\r\n", 413),
        (FORM, b"--xyz" * 100_000, 400),
        (FORM, b"", 400),
        (b"multipart/form-data; boundary=\xff", b"--\xff--\r\n", 415),
        (b"multipart/form-data", DATA % b"a.txt" + b"--xyz--\r\n", 400),
        (b"multipart/mixed; boundary=xyz", DATA % b"a.txt" + b"--xyz--\r\n", 415),
        (FORM, b"x" * (11 * 1024 * 1024), 413),
    ],
)
@pytest.mark.parametrize("chunks", [0, 7])
async def test_hostile_forms_are_refused_and_others_kept(
    owner: Talker, content_type: bytes, body: bytes, status: int, chunks: int
) -> None:
    headers = [
        (b"Content-Type", content_type),
        (b"Authorization", f"Bearer {owner.key}".encode()),
    ]
    before = owner.counts()["files"]
    url = owner.desk.url
    answer = await raw_client.send(url, b"POST", b"/v1/files", headers, body, chunks=chunks)
    assert answer.status == status
    assert owner.counts()["files"] - before == (status == 200)


async def test_only_a_form_is_an_upload_and_only_json_is_a_message(owner: Talker) -> None:
    told = await owner.send("POST", FILES, {"purpose": "assistants"})
    assert told.refusal == (415, "unsupported_media", "Content-Type")
    form = [("Content-Type", "multipart/form-data; boundary=x")]
    told = await owner.send("POST", "/v1/threads", b"--x--\r\n", headers=form)
    assert told.refusal == (415, "unsupported_media", "Content-Type")


async def test_files_have_limits(tmp_path: Path) -> None:
    settings = ("files.max_bytes=2000", "files.max_files=3", "files.max_total_bytes=4000")
    async with talking(tmp_path, *settings, 'files.types=["image/png"]') as talker:
        who = await talker.with_key()
        assert (await who.upload(data=PNG + b"x" * 2000)).refusal == (
            413,
            "request_too_large",
            "file",
        )
        assert (await who.upload(data=PNG + b"x" * 2000 * 100)).status == 413
        assert (await who.upload(data=b"Words.")).refusal == (400, "invalid_request", "file")
        kept = [await who.upload(data=PNG + b"x" * 1500) for _ in range(2)]
        assert (await who.upload(data=PNG + b"x" * 1500)).refusal == (403, "forbidden", "file")
        assert (await who.upload(data=PNG)).ok
        assert (await who.upload(data=PNG)).refusal == (403, "forbidden", "file")
        await who.send("DELETE", f"{FILES}/{kept[0].id}")
        assert (await who.upload(data=PNG)).ok
        assert (await (await talker.with_key()).upload(data=PNG)).ok


async def test_a_file_may_expire(tmp_path: Path) -> None:
    import openai

    clock = Clock()
    async with talking(tmp_path, clock=clock) as talker, sdk(await talker.with_key()) as client:
        file = exact(
            await client.files.create(
                file=("a.txt", b"a"),
                purpose="user_data",
                expires_after={"anchor": "created_at", "seconds": 3600},
            )
        )
        assert file.expires_at == file.created_at + 3600
        clock.advance(3599)
        assert await client.files.retrieve(file.id) == file
        clock.advance(1)
        with pytest.raises(openai.NotFoundError):
            await client.files.retrieve(file.id)
        assert [found async for found in client.files.list()] == []


async def test_where_the_site_allows_it_anyone_uploads_and_the_id_opens_the_file(
    tmp_path: Path,
) -> None:
    clock = Clock()
    settings = ("files.anonymous=true", "files.max_files=1", "threads.anonymous_ttl=3")
    async with talking(tmp_path, *settings, clock=clock) as talker:
        file = await talker.upload()
        assert file.ok["expires_at"] == file.ok["created_at"] + 3 * DAY
        assert (await talker.upload()).refusal == (403, "forbidden", "file")
        assert (await talker.open({"content": "Look.", "attachments": [{"file_id": file.id}]})).ok
        assert (await talker.send("GET", FILES)).status == 401
        assert "127.0.0.1" not in str(talker.rows("SELECT * FROM files"))
        clock.advance(3 * DAY)
        assert (await talker.send("GET", f"{FILES}/{file.id}")).refusal == NOT_FOUND


async def test_the_agent_is_given_the_text_of_what_the_visitor_attached(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        who = await talker.with_key()
        long, notes, page, picture, gone = [
            (await who.upload(name, data)).id
            for name, data in (
                ("long.txt", "é".encode() * 40_000),
                ("notes.txt", "\ufeffThe order is A-17.".encode()),
                ("page.html", b"<p>Hello.</p>"),
                ("pic.png", PNG),
                ("gone.txt", b"Deleted."),
            )
        ]
        attach = [{"file_id": file} for file in (picture, notes, page, gone)]
        await who.send("DELETE", f"{FILES}/{gone}")
        thread = (await who.open()).id
        told = await who.post(thread, "Look.", attachments=attach)
        assert told.refusal == (404, "file_not_found", "attachments[3].file_id")

        posted = await who.post(thread, "Which order?", attachments=attach[:3], wait=SECONDS)
        assert posted.ok["replies"]
        words = FileText("notes.txt", "The order is A-17.")
        assert list(agent.turns[-1].files) == [words, FileText("page.html", "<p>Hello.</p>")]

        await who.post(thread, "And this?", attachments=[{"file_id": long}], wait=SECONDS)
        (cut,) = list(agent.turns[-1].files)
        assert (cut.name, cut.is_cut) == ("long.txt", True)
        assert cut.text == "é" * (32 * 1024 // 2)

        for file in (long, page):
            await who.send("DELETE", f"{FILES}/{file}")
        await who.post(thread, "Still?", wait=SECONDS)
        assert list(agent.turns[-1].files) == [words]
        listed = (await who.messages(thread, "?order=asc")).ok["data"]
        assert [file["file_id"] for file in listed[0]["attachments"]] == [picture, notes, page]


async def test_a_repeat_gets_its_answer_whatever_became_of_its_file(owner: Talker) -> None:
    thread, file = (await owner.open()).id, (await owner.upload()).id
    key = [("Idempotency-Key", f"with {file}")]
    attached = [{"file_id": file}]
    posted = await owner.post(thread, "Look.", attachments=attached, headers=key)
    await owner.send("DELETE", f"{FILES}/{file}")
    again = await owner.post(thread, "Look.", attachments=attached, headers=key)
    assert again.id == posted.id
    assert (await owner.post(thread, "Look.", attachments=attached)).status == 404


async def test_a_file_that_was_acknowledged_survives_a_restart(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        who = await talker.with_key()
        file, key = (await who.upload(data=b"Kept.")).id, who.key
    async with talking(tmp_path) as talker:
        headers = {"Authorization": f"Bearer {key}"}
        async with talker.http.get(f"{FILES}/{file}/content", headers=headers) as response:
            assert await response.read() == b"Kept."
