"""Which files are content, and which never are, wherever they lie and however they are named."""

import os
from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.sources.admission import ContentUnreadable, find_content, is_never_content
from aitp_desk.knowledge.sources.loader import load_content, read_files

SECRET = "hunter2-is-the-secret"


def put(file: Path, text: str = f"# Page\n\nThe word is {SECRET}.\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def everything_of(library: Library) -> str:
    """All that a reader of the library can come to see."""
    return repr((library.documents, library.passages, library.search(SECRET, limit=50)))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    put(folder / "welcome.md", "# Welcome\n\nGood morning.\n")
    return folder


NEVER = [
    ".hidden.md",
    ".git/notes.md",
    ".desk/page.md",
    "desk.toml",
    "DESK.TOML",
    "tool.py",
    "tool.py.txt",
    "server.pem",
    "server.pem.md",
    "server.key",
    "master.key.txt",
    "store.p12.md",
    "store.pfx.txt",
    "id_rsa",
    "id_rsa.txt",
    "id_ed25519.pub.md",
    "production.env",
    "production.env.md",
    ".env",
    "desk.db",
    "desk.sqlite.txt",
    "desk.sqlite-wal",
    "robots.txt",
    "llms.txt",
    "node_modules/left-pad/readme.md",
    "_sources/library/os.rst.txt",
    "_static/help.html",
    "__pycache__/notes.md",
]


@pytest.mark.parametrize("name", NEVER)
def test_a_secret_in_a_place_that_is_never_content_is_nowhere_to_be_found(
    site: Path, tmp_path: Path, name: str
) -> None:
    put(site / name)
    put(site / "deep" / "down" / name)
    library = open_editions(read_files(site), tmp_path / "data", {}, Languages()).library
    assert SECRET not in everything_of(library)
    assert [document.path for document in library.documents] == ["welcome"]


@pytest.mark.parametrize(
    "name",
    "404.html 404.md 404.fr.md fr/404.html pt-BR/500.html 50x.html 5xx.htm 404/index.html"
    " de/404/index.md not-found.html 503.txt NOT_FOUND.md".split(),
)
def test_what_a_server_shows_in_place_of_a_page_is_no_content(site: Path, name: str) -> None:
    put(site / name)
    assert [document.path for document in load_content(site).documents] == ["welcome"]


@pytest.mark.parametrize(
    "name",
    ["http/404.md", "errors/404/index.md", "4041.md", "404-errors.md", "911.md", "404ing.md"],
)
def test_a_page_about_errors_is_content(site: Path, name: str) -> None:
    put(site / name)
    assert len(load_content(site).documents) == 2


@pytest.mark.parametrize("place", ["data", "shop/data", "data.md"])
def test_the_data_folder_is_never_content_wherever_it_lies(site: Path, place: str) -> None:
    data = site / place
    put(data / "notes.md")
    library = open_editions(read_files(site, data=data), data, {}, Languages()).library
    assert SECRET not in everything_of(library)


def test_the_data_folder_is_known_behind_a_link(site: Path, tmp_path: Path) -> None:
    put(site / "inside" / "notes.md")
    link = tmp_path / "data"
    link.symlink_to(site / "inside")
    assert [entry.source for entry in find_content(site, data=link)[0]] == ["welcome.md"]


def test_a_folder_that_a_desk_has_written_to_is_a_data_folder_in_use(site: Path) -> None:
    for folder, mark in (("old-data", "master.key"), ("other-data", "serving.lock")):
        put(site / folder / mark, "00")
        put(site / folder / "notes.md")
    assert SECRET not in repr(load_content(site))


def test_content_inside_the_data_folder_is_refused(site: Path) -> None:
    put(site / "sub" / "a.md")
    with pytest.raises(ContentUnreadable, match="is in the data folder"):
        find_content(site / "sub", data=site)


def test_a_link_that_leaves_the_folder_is_not_followed_but_reported(
    site: Path, tmp_path: Path
) -> None:
    outside = put(tmp_path / "outside.md")
    put(tmp_path / "elsewhere" / "notes.md")
    (site / "out.md").symlink_to(outside)
    (site / "folder").symlink_to(tmp_path / "elsewhere")
    content = load_content(site)
    assert SECRET not in repr(content.documents)
    assert {problem.source: problem.message for problem in content.problems} == {
        "out.md": "The link leaves the content folder; copy the file instead.",
        "folder": "A link to a folder is not followed; copy the folder.",
    }


def test_a_link_to_what_is_never_content_is_not_followed(site: Path) -> None:
    put(site / ".private" / "notes.md")
    (site / "notes.md").symlink_to(site / ".private" / "notes.md")
    content = load_content(site)
    assert SECRET not in repr(content.documents)
    assert [problem.source for problem in content.problems] == ["notes.md"]


def test_a_link_to_another_page_of_the_folder_is_content(site: Path) -> None:
    (site / "hello.md").symlink_to(site / "welcome.md")
    assert [document.path for document in load_content(site).documents] == ["hello", "welcome"]


def test_a_dangling_link_is_reported(site: Path) -> None:
    (site / "gone.md").symlink_to(site / "nowhere.md")
    assert [problem.source for problem in load_content(site).problems] == ["gone.md"]


def test_links_that_lead_round_in_a_circle_are_reported(site: Path) -> None:
    (site / "loop.md").symlink_to("loop.md")
    (site / "there.md").symlink_to("back.md")
    (site / "back.md").symlink_to("there.md")
    content = load_content(site)
    assert [document.path for document in content.documents] == ["welcome"]
    assert {problem.source: problem.message for problem in content.problems} == dict.fromkeys(
        ["back.md", "loop.md", "there.md"], "The link is part of a circle; remove it."
    )


def test_a_content_folder_that_is_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ContentUnreadable, match="Name an existing folder"):
        find_content(tmp_path / "loop")


def test_a_name_that_is_not_utf_8_is_reported_in_letters_that_print(site: Path) -> None:
    for name in (b"bad\xffname.md", b"photo\xff.jpg", b"caf\xe9/menu.md"):
        put(site / os.fsdecode(name))
    content = load_content(site)
    assert [document.path for document in content.documents] == ["welcome"]
    assert [str(problem) for problem in content.problems] == [
        r"bad\xffname.md: The name is not UTF-8; rename it.",
        r"caf\xe9: The name is not UTF-8; rename it.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n",
        "\n\n-----BEGIN PRIVATE KEY-----\nabc\n",
        "PuTTY-User-Key-File-3: ssh-ed25519\n",
    ],
)
def test_a_key_under_the_name_of_a_page_is_left_out_and_reported(site: Path, text: str) -> None:
    put(site / "notes.txt", text)
    content = load_content(site)
    assert [document.path for document in content.documents] == ["welcome"]
    assert "contains a key" in content.problems[0].message


def test_a_page_about_keys_may_show_one(site: Path) -> None:
    put(site / "keys.md", "# Keys\n\n```\n-----BEGIN PRIVATE KEY-----\n```\n")
    assert "keys" in [document.path for document in load_content(site).documents]


def test_a_pipe_is_reported_and_not_read(site: Path) -> None:
    os.mkfifo(site / "pipe.md")
    assert [problem.message for problem in load_content(site).problems] == [
        "It is not a regular file."
    ]


def test_a_file_past_the_size_limit_is_reported(site: Path) -> None:
    put(site / "big.txt", "x" * (4 * 1024 * 1024 + 1))
    problem = load_content(site).problems[0]
    assert problem.source == "big.txt"
    assert "at most 4194304 are read" in problem.message


@pytest.mark.parametrize("name", ["manual.html", "manual.md"])
def test_pictures_embedded_in_a_page_do_not_count(site: Path, name: str) -> None:
    picture = f'<img src="data:image/png;base64,{"iVBORw0KGgo" * 400_000}==">'
    put(site / name, f"<h1>Manual</h1>\n\n{picture}\n\n<p>Press the red button.</p>\n")
    content = load_content(site)
    assert not content.problems
    assert "Press the red button." in str(content.documents)


def test_a_page_that_is_large_without_its_pictures_is_reported(site: Path) -> None:
    put(site / "manual.html", "<p>Press the red button.</p>\n" * 170_000)
    content = load_content(site)
    assert [document.path for document in content.documents] == ["welcome"]
    assert "Without embedded pictures: It has 4930000 bytes" in content.problems[0].message


def test_folders_are_read_only_so_deep(site: Path) -> None:
    put(site.joinpath(*["a"] * 40) / "page.md")
    content = load_content(site)
    assert [document.path for document in content.documents] == ["welcome"]
    assert "deep" in content.problems[0].message


@pytest.mark.parametrize("name", ["page.md", "keys.md", "environment.md", "pythons.md", "a.b.md"])
def test_ordinary_names_may_be_content(name: str) -> None:
    assert not is_never_content(name)


def test_a_folder_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(ContentUnreadable, match="Name an existing folder"):
        find_content(tmp_path / "nowhere")


def test_a_file_is_no_content_folder(tmp_path: Path) -> None:
    with pytest.raises(ContentUnreadable, match="must be a folder"):
        find_content(put(tmp_path / "page.md"))


def test_indexes_and_tools_of_sphinx_are_left_out(tmp_path: Path) -> None:
    page = "<main><h1>A page</h1><p>It says something.</p></main>"
    for name in ("made/search.html", "made/genindex.html", "made/a.html", "own/search.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(page)
    (tmp_path / "made" / "objects.inv").touch()
    for name in ("docs/a.rst", "docs/_build/b.rst", "docs/_templates/c.rst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Title\n=====\n\nText.\n")
    (tmp_path / "docs" / "conf.py").touch()
    found, _ = find_content(tmp_path)
    assert [one.source for one in found] == ["docs/a.rst", "made/a.html", "own/search.html"]
