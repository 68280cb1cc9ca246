"""Every content type of AHP 0.1, appendix C, from pages that declare it, over HTTP."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.clients.ahp import MANIFEST, Said, Visitor, visiting
from tests.support.sites.content_types import GUIDE, SIZES, make_site
from tests.support.specs.ahp_payloads import AhpPayloads

pytestmark = pytest.mark.asyncio(loop_scope="module")

CDN = "https://cdn.example"
SHAPE = "duration: 5, width: 640, height: 360"
CORE = (
    ("get_video", "media/video", "fitting a helmet"),
    ("get_audio", "media/audio", "the talk with the fitter"),
    ("get_image", "media/image", "a helmet that sits level"),
    ("get_download", "file/download", "the printed guide"),
    ("get_data", "application/data", "helmet sizes"),
    ("list_pages", "application/feed", "guides"),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fitter(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    """A visitor of a site that offers one thing of each type."""
    folder = tmp_path_factory.mktemp("fitter")
    async with visiting(folder / "data", folder=make_site(folder / "site")) as visitor:
        assert visitor.desk.desk.knowledge.library.problems == ()
        yield visitor


def payload_of(said: Said, kind: str) -> dict[str, Any]:
    assert said.body["status"] == "success", said.body
    response = said.body["response"]
    assert response["content_type"] == said.body["meta"]["content_type"] == kind
    assert response["answer"]
    assert response["sources"]
    payload: dict[str, Any] = response["payload"]
    return payload


@pytest.mark.requirement("AHP-C.2-1", "AHP-6.6-1", "AHP-6.6-6", "AHP-6.6-9", "AHP-6.6-10")
@pytest.mark.parametrize(("capability", "kind", "query"), CORE)
async def test_each_core_type_has_the_form_that_the_specification_prints(
    fitter: Visitor, shared_folder: Path, capability: str, kind: str, query: str
) -> None:
    payloads = AhpPayloads(shared_folder)
    assert {"text/answer", "application/action-result", *(kind for _, kind, _ in CORE)} == set(
        payloads.forms
    )
    topic = "helmet sizes" if kind == "application/feed" else query
    for name, asked in ((capability, query), ("content_search", topic)):
        said = await fitter.ask(asked, name, accept_types=[kind])
        payloads.check(kind, payload_of(said, kind))


async def test_the_manifest_declares_what_the_content_holds(fitter: Visitor) -> None:
    async with fitter.http.get(MANIFEST) as response:
        declared = {c["name"]: c for c in (await response.json())["capabilities"]}
    assert declared["content_search"]["response_types"] == [
        "text/answer", "application/feed", "media/video", "media/audio", "media/image",
        "file/download", "application/data", "x-acme/recipe",
    ]  # fmt: skip
    for capability, kind, _ in CORE:
        assert declared[capability]["response_types"] == [kind, "text/answer"]
        assert declared[capability]["accept_fallback"] is True


async def test_a_site_that_offers_nothing_declares_nothing(visitor: Visitor) -> None:
    async with visitor.http.get(MANIFEST) as response:
        names = [c["name"] for c in (await response.json())["capabilities"]]
    assert not any(name.startswith("get_") for name in names)
    said = await visitor.ask("a video", "get_video")
    assert said.refusal == (400, "unknown_capability", None)


@pytest.mark.requirement("AHP-C.2-9", "AHP-6.6-7")
async def test_a_video_has_its_length_its_subtitles_and_its_chapters(fitter: Visitor) -> None:
    url = fitter.desk.url
    said = await fitter.ask("How do I fit a helmet?", "get_video", accept_types=["media/video"])
    assert payload_of(said, "media/video") == {
        "stream_url": f"{url}/guides/clips/helmet.mp4",
        "format": "mp4",
        "duration_seconds": 847,
        "width": 1280,
        "height": 720,
        "thumbnail_url": f"{url}/guides/clips/level.png",
        "title": "Fitting a helmet",
        "description": "How a helmet has to sit, step by step.",
        "published_at": "2026-02-03T00:00:00Z",
        "subtitles": [{"lang": "en", "url": f"{url}/guides/clips/helmet.en.vtt"}],
        "chapters": [
            {"title": "Size", "start_seconds": 0},
            {"title": "Straps", "start_seconds": 130},
        ],
        "alternate_formats": [
            {"format": "hls", "url": f"{CDN}/helmet.m3u8", "quality": "adaptive"}
        ],
    }
    assert "14 min" in said.answer
    assert "2:10 Straps" in said.answer


@pytest.mark.requirement("AHP-C.2-10")
async def test_a_recording_elsewhere_is_named_by_its_own_address(fitter: Visitor) -> None:
    said = await fitter.ask("a talk", "get_audio", accept_types=["media/audio"])
    payload = payload_of(said, "media/audio")
    assert payload["stream_url"] == f"{CDN}/talk.mp3"
    assert (payload["format"], payload["duration_seconds"]) == ("mp3", 3750)
    assert payload["transcript_url"] == f"{fitter.desk.url}/guides/talk.vtt"


@pytest.mark.requirement("AHP-C.2-11", "AHP-C.2-12")
async def test_pictures_have_words_and_the_size_that_their_header_says(fitter: Visitor) -> None:
    said = await fitter.ask("pictures of a helmet", "get_image", accept_types=["media/image"])
    payload = payload_of(said, "media/image")
    assert payload["layout"] == "gallery"
    assert payload["images"] == [
        {
            "url": f"{fitter.desk.url}/guides/clips/level.png",
            "alt": "A helmet that sits level",
            "width": 8, "height": 6, "format": "png", "title": None,
        },
        {
            "url": f"{CDN}/tilted.jpg",
            "alt": "A tilted helmet",
            "width": 640, "height": 480, "format": "jpeg", "title": None,
        },
    ]  # fmt: skip


@pytest.mark.requirement("AHP-C.2-13", "AHP-C.2-14")
async def test_a_download_has_its_size_its_type_and_its_digest(fitter: Visitor) -> None:
    said = await fitter.ask("guide.epub", "get_download", accept_types=["file/download"])
    assert payload_of(said, "file/download") == {
        "url": f"{fitter.desk.url}/guides/guide.epub",
        "filename": "guide.epub",
        "mime_type": "application/epub+zip",
        "size_bytes": len(GUIDE),
        "checksum": hashlib.sha256(GUIDE).hexdigest(),
        "description": "All of this on paper.",
        "expires_at": None,
    }
    said = await fitter.ask("sizes.csv", "get_download", accept_types=["file/download"])
    payload = payload_of(said, "file/download")
    assert payload["mime_type"] == "text/csv"
    assert payload["checksum"] == hashlib.sha256(SIZES.encode()).hexdigest()
    said = await fitter.ask("all.zip", "get_download", accept_types=["file/download"])
    payload = payload_of(said, "file/download")
    assert (payload["url"], payload["size_bytes"]) == (f"{CDN}/all.zip", 9_000_000)
    assert payload["checksum"] is None


@pytest.mark.requirement("AHP-C.2-6", "AHP-C.2-7")
async def test_records_next_to_a_page_are_given_as_data_with_the_name_of_their_form(
    fitter: Visitor,
) -> None:
    said = await fitter.ask("helmet sizes", "get_data", accept_types=["application/data"])
    assert payload_of(said, "application/data") == {
        "schema": "helmet-sizes",
        "data": {"records": [{"size": "S", "girth_cm": "52"}, {"size": "M", "girth_cm": "55"}]},
    }
    assert "2 records" in said.answer


@pytest.mark.requirement("AHP-C.3-1", "AHP-C.3-2", "AHP-C.3-3")
async def test_a_type_of_the_site_s_own_is_given_as_it_was_written(fitter: Visitor) -> None:
    said = await fitter.ask("pumpkin soup", accept_types=["x-acme/recipe", "text/answer"])
    assert payload_of(said, "x-acme/recipe") == {
        "serves": 4,
        "ingredients": ["pumpkin", "salt"],
        "url": "/not-completed",
    }


@pytest.mark.requirement("AHP-6.6-4", "AHP-6.6-11", "AHP-C.2-1")
@pytest.mark.parametrize("accepted", [None, ["text/answer"], ["x-shop/cart"], []])
async def test_a_client_without_video_gets_words_and_the_type_it_missed(
    fitter: Visitor, accepted: list[str] | None
) -> None:
    context: dict[str, Any] = {} if accepted is None else {"accept_types": accepted}
    said = await fitter.ask("fitting a helmet", "get_video", **context)
    assert said.body["response"]["content_type"] == "text/answer"
    assert "payload" not in said.body["response"]
    assert said.body["meta"]["fallback_from"] == "media/video"
    assert f"{fitter.desk.url}/guides/clips/helmet.mp4" in said.answer


@pytest.mark.requirement("AHP-6.6-3")
async def test_the_order_of_what_is_accepted_decides_and_what_does_not_fit_is_passed_over(
    fitter: Visitor,
) -> None:
    async def given(query: str, *accepted: str) -> str:
        said = await fitter.ask(query, accept_types=list(accepted))
        kind: str = said.body["response"]["content_type"]
        return kind

    helmet = "How should a helmet sit?"
    assert await given(helmet, "media/video", "media/image") == "media/video"
    assert await given(helmet, "media/image", "media/video") == "media/image"
    assert await given(helmet, "text/answer", "media/video") == "text/answer"
    since = "Since when do you sell helmets, 1990?"
    assert await given(since, "x-acme/recipe", "text/answer") == "text/answer"


@pytest.mark.requirement("AHP-6.6-5")
async def test_a_single_type_that_nothing_fits_is_answered_with_what_else_there_is(
    fitter: Visitor,
) -> None:
    said = await fitter.ask("What do you cook on Fridays?", accept_types=["media/video"])
    assert said.refusal == (400, "unsupported_type", None)
    assert "x-acme/recipe" in said.body["available_types"]
    assert "media/video" not in said.body["available_types"]


async def test_what_no_video_shows_is_not_answered_with_one(fitter: Visitor) -> None:
    said = await fitter.ask("a video on repairing bicycles", "get_video")
    assert "fallback_from" not in said.body["meta"]
    assert "nothing of this kind that matches" in said.answer
    assert "Fitting a helmet" in said.answer
    assert said.body["response"]["sources"] == []


async def test_where_several_things_fit_equally_the_desk_asks_which_is_meant(
    fitter: Visitor,
) -> None:
    asked = await fitter.ask("a download", "get_download", accept_types=["file/download"])
    assert asked.body["status"] == "clarification_needed"
    options = asked.body["clarification"]["options"]
    assert options == ["Helmet sizes (sizes.csv)", "Printed guide", "Helmet sizes (all.zip)"]
    chosen = (
        ("Printed guide", "guide.epub"),
        ("2", "guide.epub"),
        ("the second one", "guide.epub"),
        ("not the first, not the last", "guide.epub"),
        (options[2], "all.zip"),
    )
    for answer, filename in chosen:
        again = await fitter.ask("a download", "get_download", accept_types=["file/download"])
        said = await fitter.ask(
            "a download",
            "get_download",
            session_id=again.body["session_id"],
            clarification=answer,
            accept_types=["file/download"],
        )
        assert payload_of(said, "file/download")["filename"] == filename


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("yes", [0, 1, 2]),
        ("not the second", [0, 2]),
        ("1 and 2", [0, 1]),
    ],
)
async def test_which_of_several_things_is_meant_is_asked_until_a_reply_says_it(
    fitter: Visitor, reply: str, left: list[int]
) -> None:
    files: dict[str, Any] = {"accept_types": ["file/download"]}
    asked = await fitter.ask("a download", "get_download", **files)
    id_, options = asked.body["session_id"], asked.body["clarification"]["options"]
    again = await fitter.ask(reply, "get_download", session_id=id_, **files)
    assert again.body["clarification"]["options"] == [options[place] for place in left]
    said = await fitter.ask("1", "get_download", session_id=id_, **files)
    assert payload_of(said, "file/download")["filename"] == "sizes.csv"


async def test_a_choice_of_none_of_several_things_is_answered_with_what_there_is(
    fitter: Visitor,
) -> None:
    files: dict[str, Any] = {"accept_types": ["file/download", "text/answer"]}
    asked = await fitter.ask("a download", "get_download", **files)
    id_, options = asked.body["session_id"], asked.body["clarification"]["options"]
    said = await fitter.ask("neither", "get_download", session_id=id_, **files)
    assert said.answer.startswith("My site has nothing of this kind that matches. It has: ")
    assert "Printed guide" in said.answer
    assert len(options) == 3


async def test_a_follow_up_asks_for_the_video_of_the_page_that_was_talked_about(
    fitter: Visitor,
) -> None:
    said = await fitter.ask("How should a helmet sit on the head?")
    again = await fitter.ask(
        "And is there a video of it?", session_id=said.session_id, accept_types=["media/video"]
    )
    assert payload_of(again, "media/video")["title"] == "Fitting a helmet"


@pytest.mark.requirement("AHP-6.6-7", "AHP-6.6-8")
async def test_nothing_binary_stands_in_an_answer_but_the_addresses_of_it(fitter: Visitor) -> None:
    for capability, kind, query in CORE:
        said = await fitter.ask(query, capability, accept_types=[kind])
        for address in addresses(said.body["response"]["payload"]):
            assert address.startswith(("http://", "https://"))
            if address.startswith(CDN):
                continue
            async with fitter.http.get(address) as response:
                assert response.status == 200, address


def addresses(value: Any) -> list[str]:
    """All addresses in a payload."""
    if isinstance(value, list):
        return [found for item in value for found in addresses(item)]
    if not isinstance(value, dict):
        return []
    own = [item for name, item in value.items() if name.endswith("url") and isinstance(item, str)]
    return own + [found for item in value.values() for found in addresses(item)]


async def test_a_list_of_pages_shows_the_picture_that_stands_for_each(fitter: Visitor) -> None:
    said = await fitter.ask("guides", "list_pages", accept_types=["application/feed"])
    items = {item["title"]: item for item in said.body["response"]["payload"]["items"]}
    thumbnail = f"{fitter.desk.url}/guides/clips/level.png"
    assert items["Fitting a helmet"]["thumbnail_url"] == thumbnail
    assert items["Helmet sizes"]["thumbnail_url"] is None


async def test_what_a_page_declares_while_the_desk_serves_is_offered_at_once(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    page = folder / "notes.md"
    page.write_text("# Notes\n\nNotes on paper.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        knowledge = visitor.desk.desk.knowledge
        page.write_text("---\ndownloads: notes.zip\n---\n# Notes\n\nNotes on paper.\n")
        await knowledge.refresh()
        [problem] = knowledge.library.problems
        assert str(problem).startswith("notes.md:2: The file notes.zip cannot be read")
        said = await visitor.ask("notes", "get_download")
        assert said.refusal == (400, "unknown_capability", None)
        (folder / "notes.zip").write_bytes(b"PK one")
        await knowledge.refresh()
        assert knowledge.library.problems == ()
        async with visitor.http.get(MANIFEST) as response:
            names = [c["name"] for c in (await response.json())["capabilities"]]
        assert names[-1] == "get_download"
        one = await visitor.ask("notes", "get_download", accept_types=["file/download"])
        (folder / "notes.zip").write_bytes(b"PK another")
        await knowledge.refresh()
        two = await visitor.ask("notes", "get_download", accept_types=["file/download"])
        sizes = [said.body["response"]["payload"]["size_bytes"] for said in (one, two)]
        assert sizes == [6, 10]
        assert not await knowledge.refresh()


async def test_a_title_that_several_things_have_is_asked_about(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    for name in ("boat", "tent"):
        video = f"{{url: 'https://cdn.example/{name}.mp4', title: Start, {SHAPE}}}"
        page = f"---\ntitle: The {name}\nvideo: {video}\n---\nAll on the {name}.\n"
        (folder / f"{name}.md").write_text(page)
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        asked = await visitor.ask("Start", "get_video", accept_types=["media/video"])
        options = asked.body["clarification"]["options"]
        assert options == ["Start (The boat)", "Start (The tent)"]
        said = await visitor.ask(
            "Start",
            "get_video",
            session_id=asked.session_id,
            clarification=options[1],
            accept_types=["media/video"],
        )
        assert payload_of(said, "media/video")["stream_url"] == "https://cdn.example/tent.mp4"
        named = await visitor.ask("the start of the boat", accept_types=["media/video"])
        assert payload_of(named, "media/video")["stream_url"] == "https://cdn.example/boat.mp4"


async def test_what_only_a_version_in_another_language_offers_is_a_capability_too(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "boat.md").write_text("# The boat\n\nA boat of oak.\n")
    (folder / "son.mp3").write_bytes(b"ID3")
    front = "title: Le bateau\naudio: {file: son.mp3, duration: 3}"
    (folder / "boat.fr.md").write_text(f"---\n{front}\n---\nUn bateau de chêne.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        context: dict[str, Any] = {"accept_types": ["media/audio"]}
        said = await visitor.ask("le bateau", "get_audio", locale="fr", **context)
        assert payload_of(said, "media/audio")["title"] == "Le bateau"
        other = await visitor.ask("the boat", "get_audio", **context)
        assert other.answer == "My site has nothing of this kind that matches."


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (999_400, "999 kB"),
        (999_999, "1 MB"),
        (34 * 10**9, "34 GB"),
    ],
)
async def test_a_size_is_written_in_a_number_that_people_read(
    tmp_path: Path, size: int, said: str
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    front = f"downloads: {{url: 'https://cdn.example/a.zip', size_bytes: {size}}}"
    (folder / "page.md").write_text(f"---\n{front}\n---\nSomething to take home.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        answer = (await visitor.ask("page", "get_download")).answer
    assert f", {said})" in answer


@pytest.mark.parametrize(
    "front",
    [
        "price: 99999999999999999999999",
        'title: "half \\ud800"',
        "payload: {a: 99999999999999999999999}\ncontent_type: x-acme/thing",
        f"video: {{url: 'https://[::1/a.mp4', {SHAPE}}}",
        f"video: {{url: 'https://', format: mp4, {SHAPE}}}",
        "data: deep.json",
        "data: infinite.toml",
        "content_type: x-acme/thing\npayload: {a: .inf}",
        "content_type: x-acme/thing\npayload: {a: !!binary aGVsbG8=}",
        "content_type: x-acme/thing\npayload: {a: ['data:image/png;base64,iVBORw0KGgo=']}",
        "data: inline.json",
        "content_type: acme/thing\npayload: {a: 1}",
        "content_type: [x-acme/thing]\npayload: {a: 1}",
        "downloads: {file: deep.json, filename: ../up.json}",
    ],
)
async def test_nothing_that_a_page_says_keeps_the_desk_from_serving_it(
    tmp_path: Path, front: str
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "deep.json").write_text('{"a":' * 400 + "1" + "}" * 400)
    (folder / "infinite.toml").write_text("a = inf")
    (folder / "inline.json").write_text('{"logo": "DATA:image/png;charset=x;base64,iVBORw0KGgo="}')
    (folder / "page.md").write_text(f"---\n{front}\n---\nSomething on geese.\n")
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        [problem] = visitor.desk.desk.knowledge.library.problems
        assert str(problem).startswith("page.md:")
        kinds = ["application/data", "media/video", "x-acme/thing", "file/download", "text/answer"]
        said = await visitor.ask("What is said on geese?", accept_types=kinds)
        assert said.body["response"]["content_type"] == "text/answer"
        assert "geese" in said.answer
