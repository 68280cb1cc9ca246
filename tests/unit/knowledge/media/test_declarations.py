"""What pages declare in their front matter: errors are reported with file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.knowledge.documents.dates import to_rfc3339
from aitp_desk.knowledge.media.declarations import DeclarationReader, DeclaredMedia
from aitp_desk.knowledge.media.payloads import with_absolute_urls
from aitp_desk.knowledge.sources.loader import load_content
from tests.support.sites.content_types import make_site, picture


def problems_of(folder: Path, front: str, body: str = "Some text.") -> list[str]:
    """What is wrong with a page of this front matter."""
    (folder / "page.md").write_text(f"---\n{front}\n---\n{body}\n")
    content = load_content(folder)
    assert [document.path for document in content.documents] == ["page"]
    return [str(problem) for problem in content.problems]


VIDEO = "video: {url: 'https://cdn.example/a.mp4', duration: 60, width: 640, height: 360"


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("video: true", r"page.md:2: video must be a mapping with .*duration.*"),
        ("title: A\nvideo:\n  url: https://a.example/a.mp4", r":3: video needs 'duration': .*"),
        (
            VIDEO.replace("duration: 60", "duration: soon") + "}",
            r":2: video.duration must be .*14:07\.",
        ),
        (VIDEO.replace("width: 640, ", "") + "}", r":2: video needs 'width': .*"),
        (VIDEO + ", subtitle: []}", r":2: video has no member 'subtitle'; it has .*subtitles.*"),
        (VIDEO + ", subtitles: [{url: 'https://a.example/x.vtt'}]}", r":2: .*needs 'lang'.*"),
        (
            VIDEO + ",\n  chapters: [{title: A, start: 0},\n    {title: B, start: 61}]}",
            r":4: Chapters must be in order and begin before the end of the recording\.",
        ),
        (
            "video: {url: 'ftp://a.example/a.mp4', duration: 1}",
            r":2: 'ftp://.* is not an address; .*",
        ),
        ("audio:\n  - {url: 'https://a.example/a.mp3'}", r":3: audio\[0\] needs 'duration': .*"),
        ("images:\n  - a.png", r":3: images\[0\] needs 'alt': a text for people who cannot see .*"),
        (
            "images: [{url: 'https://a.example/a.png', alt: A}]",
            r":2: .* needs 'width' and 'height'",
        ),
        ("images: [{file: text.png, alt: A}]", r":2: images\[0\] needs 'width' and 'height'.*"),
        ("downloads: none.zip", r":2: The file none.zip cannot be read \(No such file.*"),
        ("downloads: ../up.zip", r":2: ../up.zip is outside the content folder.*"),
        ("downloads: secrets.env", r":2: secrets.env .*never published.*"),
        ("downloads: .hidden/x.zip", r":2: .hidden/x.zip .*never published.*"),
        ("downloads: desk.toml", r":2: desk.toml .*never published.*"),
        ("downloads: tool.py", r":2: tool.py .*never published.*"),
        ("downloads: key.bin", r":2: key.bin contains a key and is never published.*"),
        ("downloads: out.bin", r":2: out.bin is a link that leaves the content folder.*"),
        ("downloads: data/x.bin", r":2: data/x.bin leads to a file that is never published.*"),
        ("downloads: folder", r":2: folder is not a regular file\."),
        ("downloads: {url: 'https://a.example/a.zip'}", r":2: downloads needs 'size_bytes'.*"),
        ("downloads: {file: a.zip, checksum: abc}", r":2: downloads.checksum must be a SHA-256.*"),
        ("downloads: {file: a.zip, size_bytes: 4000}", r":2: a.zip has another size or checksum.*"),
        (
            "downloads: {file: a.zip, mime_type: zip}",
            r":2: downloads.mime_type must be a media type.*",
        ),
        ("data: bad.json", r":2: bad.json cannot be read as json: .*"),
        ("data: one.json", r":2: one.json has a single value; .*"),
        ("data: alike.csv", r":2: .* two of its columns have the same name\."),
        ("data: empty.csv", r":2: .* its first line names no columns\."),
        ("downloads: desk.toml.bak", r":2: desk.toml.bak .*never published.*"),
        ("data: ragged.csv", r":2: ragged.csv cannot be read as csv: row 2 has 3 values.*"),
        ("data: large.json", r":2: large.json has 70002 bytes; .*Offer it under downloads\."),
        ("data: a.zip", r":2: a.zip is not a JSON, TOML or CSV file\."),
        ("data: https://a.example/x.json", r":2: Data must be a file next to the page; .*"),
        (
            "content_type: x-Acme/Thing\npayload: {}",
            r":2: content_type must have the form x-vendor/type.*",
        ),
        (
            f"content_type: x-acme/{'t' * 600}\npayload: {{}}",
            r":2: content_type must have the form .*",
        ),
        ("title: A\ndescribes: x-Acme/Thing", r":3: describes must have the form x-vendor/type.*"),
        ("describes:\n- x-acme/a\n- x-acme", r":2: describes must have the form x-vendor/type.*"),
        (
            "describes:\n  x-acme/a: Things.\n  x-acme/b: [1]",
            r":4: The description of x-acme/b must be .*",
        ),
        ("title: A\ncontent_type: x-acme/thing", r":2: x-acme/thing needs 'payload': .*"),
    ],
)
def test_errors_are_reported_with_the_line_and_the_page_is_served(
    tmp_path: Path, front: str, told: str
) -> None:
    folder = tmp_path / "site"
    (folder / "folder").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "data" / "master.key").write_text("k")
    (folder / "data" / "x.bin").write_text("x")
    outside = tmp_path / "outside.bin"
    outside.write_text("x")
    (folder / "out.bin").symlink_to(outside)
    (folder / "text.png").write_text("no picture")
    for name in ("a.zip", "secrets.env", "desk.toml", "tool.py"):
        (folder / name).write_text("x = 1")
    (folder / "key.bin").write_text("-----BEGIN PRIVATE KEY-----")
    (folder / "bad.json").write_text("{")
    (folder / "one.json").write_text("7")
    (folder / "ragged.csv").write_text("a,b\n1,2,3\n")
    (folder / "alike.csv").write_text("a,a\n1,2\n")
    (folder / "empty.csv").write_text("")
    (folder / "desk.toml.bak").write_text("x = 1")
    (folder / "large.json").write_text('"' + "x" * 70_000 + '"')
    [problem] = problems_of(folder, front)
    assert re.search(told, problem, re.DOTALL), problem
    assert str(tmp_path) not in problem


def test_a_picture_too_many_or_a_file_too_few_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(3, 2))
    (tmp_path / "a.zip").write_bytes(b"PK")
    front = (
        "images:\n  - {file: a.png, alt: A}\n  - a.png\n"
        "downloads:\n  - a.zip\n  - b.zip\nvideo: 7\n"
    )
    assert len(problems_of(tmp_path, front)) == 3


def test_a_site_that_declares_everything_rightly_has_no_problems(tmp_path: Path) -> None:
    content = load_content(make_site(tmp_path / "site"))
    assert content.problems == ()
    assert len(content.documents) == 5


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026-02-03", "2026-02-03T00:00:00Z"),
        ("2026-02-03T10:00:00+02:00", "2026-02-03T08:00:00Z"),
        ("2026-02-03 10:00:00", "2026-02-03T10:00:00Z"),
        ("0001-01-01T00:00:00+14:00", None),
        ("last Monday", None),
        (20260203, None),
    ],
)
def test_a_date_becomes_a_moment(said: object, moment: str | None) -> None:
    assert to_rfc3339(said) == moment


@given(st.text() | st.integers() | st.none() | st.dates().map(str) | st.datetimes().map(str))
def test_no_date_of_any_author_breaks_anything(said: object) -> None:
    moment = to_rfc3339(said)
    assert moment is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", moment)


@pytest.mark.parametrize(
    "written", ['name,of\r\n"a, b",c\r\n', "\ufeffname;of\na, b;c\n", "name\tof\na, b\tc\n"]
)
def test_a_table_is_read_however_its_columns_are_divided(tmp_path: Path, written: str) -> None:
    (tmp_path / "table.csv").write_text(written, newline="")
    [resource] = declared_by(tmp_path, "data: table.csv").resources
    assert resource.payload["data"] == {"records": [{"name": "a, b", "of": "c"}]}


@pytest.mark.parametrize("name", ["two  spaces.bin", "narrow\u202fspace.bin", " first.bin"])
def test_a_file_is_found_by_its_name_to_the_letter(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    declared = declared_by(
        tmp_path, f"downloads: ['{name}']\naudio: {{file: '{name}', duration: 1}}"
    )
    assert declared.problems == ()
    [file] = declared.files.values()
    assert file.file.name == name


def test_an_address_without_its_protocol_in_data_is_left_as_it_is() -> None:
    payload = {"data": {"icon_url": "//cdn.example/a.png", "url": "/a"}}
    assert with_absolute_urls(payload, "https://a.example") == {
        "data": {"icon_url": "//cdn.example/a.png", "url": "https://a.example/a"}
    }


def declared_by(folder: Path, front: str) -> DeclaredMedia:
    """What a page of this front matter offers."""
    (folder / "page.md").write_text(f"---\n{front}\n---\nSome text.\n")
    return DeclarationReader(folder).read(load_content(folder).documents)
