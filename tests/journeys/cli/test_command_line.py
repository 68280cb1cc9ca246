"""The command aitp-desk, as a user at a terminal sees it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from aitp_desk.auth.keys.master_key import KEY_FILE, open_master_key
from aitp_desk.config import load_config
from aitp_desk.config.catalogue import sections
from tests.support.desk.command import SECONDS, run_here
from tests.support.desk.first_start import begin_database


def succeed(*arguments: object) -> list[str]:
    """Run what must work; the lines it wrote."""
    done = run_here(*arguments)
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def fail(*arguments: object) -> list[str]:
    """Run what must fail because of the user; the lines it wrote to stderr."""
    done = run_here(*arguments)
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    return done.err.splitlines()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder as a desk leaves it that was served once."""
    folder = tmp_path / "data"
    open_master_key(folder)
    begin_database(folder / "desk.db")
    return folder


@pytest.mark.slow
def test_help_is_there_for_every_command_and_imports_nothing_heavy() -> None:
    program = """
import sys
import click
from aitp_desk.cli import main

def walk(command, *names):
    yield names
    context = click.Context(command)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        yield from walk(command.get_command(context, name), *names, name)

for names in walk(main):
    main([*names, "--help"], "aitp-desk", standalone_mode=False)
heavy = ["aiohttp", "anthropic", "cryptography", "uvloop", "yaml", "msgspec"]
print("HEAVY", [name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    for command in ("", " serve", " token", " token create", " audit verify"):
        assert f"Usage: aitp-desk{command} [" in done.stdout
    assert "\\b" not in done.stdout, "the mark of a paragraph that keeps its lines is no raw text"
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_the_version_is_printed() -> None:
    assert re.fullmatch(r"aitp-desk, version \d+\.\d+\.\d+", succeed("--version")[0])


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aitp_desk", "--version"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout.startswith("aitp-desk, version ")


def test_a_site_that_init_began_passes_check(tmp_path: Path) -> None:
    site = tmp_path / "my-shop"
    assert succeed("init", site) == [
        f"wrote  {site}/desk.toml",
        f"wrote  {site}/content/welcome.md",
        f"state  {site}/.desk: the master key and the database (store.data)",
        f"Next: aitp-desk serve {site}",
    ]
    begun = load_config(site)
    assert begun.site.name == "My shop"
    assert (begun.tickets.people, load_config(tmp_path).tickets.people) == ("offered", "off")
    assert succeed("check", site) == [f"{site} is ready to serve: 1 page."]


def test_the_file_that_init_writes_shows_every_setting(tmp_path: Path) -> None:
    succeed("init", tmp_path / "shop")
    lines = (tmp_path / "shop" / "desk.toml").read_text("utf-8").splitlines()
    for section in sections():
        begin = lines.index(f"# {section.heading}" if section.repeats else section.heading)
        shown = [line.lstrip("# ").partition(" = ")[0] for line in lines[begin + 1 :]]
        keys = [setting.key.removeprefix(f"{section.name}.") for setting in section.settings]
        assert [line for line in shown if line in keys][: len(keys)] == keys, section.name


def test_check_names_the_extras_that_settings_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nWe open at nine.\n", encoding="utf-8")
    needing = ("store.url=postgresql://desk@db.example/desk", "valkey.url=redis://127.0.0.1:6379/0")
    given = [argument for one in needing for argument in ("--set", one)]
    succeed("check", tmp_path, *given)
    for package in ("asyncpg", "valkey"):
        monkeypatch.setitem(sys.modules, package, None)
    succeed("check", tmp_path)
    assert fail("check", tmp_path, *given) == [
        "store.url needs the extra postgres: pip install 'aitp-desk[postgres]'.",
        "valkey.url needs the extra redis: pip install 'aitp-desk[redis]'.",
    ]


def test_a_wrong_database_is_said_of_the_option_or_argument_that_names_it(tmp_path: Path) -> None:
    unusable = "mysql://x"
    for argument, command in (
        ("FROM", ("copy", "--data", tmp_path, unusable, "sqlite:desk.db")),
        ("--store", ("check", "--data", tmp_path, "--store", unusable)),
        ("--store", ("check", "--data", tmp_path, "--store", "postgresql://127.0.0.1:99999/d")),
    ):
        (line,) = fail("store", *command)
        assert line.startswith(f"{argument}: "), line
    (tmp_path / "desk.db").touch()
    (line,) = fail("store", "copy", "--data", tmp_path, "sqlite:desk.db", unusable)
    assert line.startswith("TO: is not a supported kind of database")


def test_a_bucket_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nWe open at nine.\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "obstore", None)
    assert fail("check", tmp_path, "--set", "files.store=s3://shop-files") == [
        "files.store needs the extra s3: pip install 'aitp-desk[s3]'."
    ]


@pytest.mark.parametrize(
    ("provider", "absent", "wanted"),
    [
        ("endpoint", "numpy", "'aitp-desk[embeddings]'"),
        ("fastembed", "fastembed", "'aitp-desk[embeddings]' fastembed"),
    ],
)
def test_a_model_of_meaning_needs_its_extra(
    provider: str, absent: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AITP_DESK_MEANING")
    monkeypatch.setitem(sys.modules, absent, None)
    (tmp_path / "page.md").write_text("# Page\n\nWe open at nine.\n", encoding="utf-8")
    chosen = ["--set", f"content.meaning.provider={provider}"]
    chosen += ["--set", "content.meaning.url=http://127.0.0.1:9/v1"]
    assert fail("check", tmp_path, *chosen, "--set", "content.meaning.model=small") == [
        f"content.meaning: needs an extra: pip install {wanted}"
    ]


def test_check_names_the_extra_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n")
    monkeypatch.setitem(sys.modules, "openai", None)
    local = ("model.provider=openai", "model.name=local", "model.url=http://127.0.0.1:9/v1")
    chosen = [word for setting in local for word in ("--set", setting)]
    prices = ("--set", "model.price_in=0")
    assert fail("check", tmp_path, *chosen, *prices) == [
        "model: It needs an extra: pip install 'aitp-desk[openai]'. local is not used."
    ]


def test_check_asks_once_for_the_name_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n")
    assert fail("check", tmp_path, "--set", "model.provider=openai") == [
        "model.name: name a model of this server."
    ]


def test_check_counts_the_files_that_are_not_read(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "guides").mkdir(parents=True)
    (site / "page.md").write_text("# Page\n\nA page.\n", "utf-8")
    for name in (
        "a.org",
        "b.ORG",
        "guides/c.adoc",
        "guides/d.docx",
        ".hidden.org",
        "x.css",
        "y.png",
    ):
        (site / name).write_text("text", "utf-8")
    ready = f"{site} is ready to serve: 1 page."
    assert succeed("check", site) == ["4 files are not read: 2 .org, 1 .adoc, 1 .docx.", ready]
    for name in ("a.org", "guides/c.adoc", "guides/d.docx"):
        (site / name).unlink()
    assert succeed("check", site) == ["1 file is not read: 1 .org.", ready]


def test_check_reads_the_content_of_every_agent(tmp_path: Path) -> None:
    for name in ("main", "books"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"# Page\n\nOf {name}.\n", "utf-8")
    (tmp_path / "desk.toml").write_text(
        '[content]\nfolder = "main"\n[[agents]]\nname = "books"\n'
        '[agents.content]\nfolder = "books"\n',
        "utf-8",
    )
    assert succeed("check", tmp_path) == [f"{tmp_path} is ready to serve: 2 pages."]
    (tmp_path / "books" / "torn.md").write_bytes(b"# Torn\n\n\xff\n")
    assert fail("check", tmp_path) == [
        "agents, 'books': torn.md:3: The file is not UTF-8 here; save it as UTF-8."
    ]


def test_check_tells_of_pages_at_addresses_of_the_desk_s_own(tmp_path: Path) -> None:
    for folder in ("main", "books"):
        for page in ("health", "health/food", "v1/threads"):
            file = tmp_path / folder / f"{page}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Page\n\nOn {page}.\n", "utf-8")
    (tmp_path / "desk.toml").write_text(
        '[content]\nfolder = "main"\n[[agents]]\nname = "books"\n'
        '[agents.content]\nfolder = "books"\n',
        "utf-8",
    )
    told = "is reserved for an address of the desk; rename the file."
    assert fail("check", tmp_path) == [
        f"health.md: /health {told}",
        f"v1/threads.md: /v1/threads {told}",
        f"agents, 'books': v1/threads.md: /books/v1/threads {told}",
    ]


def test_init_overwrites_nothing_and_says_what_it_kept(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").write_text("[site]\nname = 'Mine'\n")
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "mine.md").write_text("# Mine\n\nText.\n")
    assert succeed("init", tmp_path)[:2] == [
        f"kept   {tmp_path}/desk.toml (it already exists)",
        f"kept   {tmp_path}/content (it already has files)",
    ]
    assert (tmp_path / "desk.toml").read_text() == "[site]\nname = 'Mine'\n"
    assert [path.name for path in (tmp_path / "content").iterdir()] == ["mine.md"]


@pytest.mark.parametrize("page", ["index.html", "docs/returns.md"])
def test_init_takes_pages_that_are_there_for_the_content(tmp_path: Path, page: str) -> None:
    site = tmp_path / "tea"
    (site / page).parent.mkdir(parents=True)
    (site / page).write_text("<h1>Kettle Lane Tea</h1>\n<p>Tea.</p>\n", "utf-8")
    for _ in range(2):
        assert f"kept   {site} (it already has pages)" in succeed("init", site)
        assert succeed("check", site) == [f"{site} is ready to serve: 1 page."]
    assert {path.name for path in site.iterdir()} == {"desk.toml", Path(page).parts[0]}
    assert load_config(site) == load_config(site, ["tickets.people=offered"])


def test_the_next_command_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    site = tmp_path / "sp ace; $HOME"
    assert shlex.split(succeed("init", site)[-1]) == ["Next:", "aitp-desk", "serve", str(site)]


def test_init_in_an_unwritable_place_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert len(fail("init", tmp_path / "file" / "site")) == 1


def test_every_setting_of_the_starter_file_shows_its_default(tmp_path: Path) -> None:
    succeed("init", tmp_path)
    file = tmp_path / "desk.toml"
    before = load_config(tmp_path)
    text, shown = re.subn(r"(?m)^#(?=\w+ = )", "", file.read_text())
    file.write_text(text)
    assert shown > 30
    assert load_config(tmp_path) == before


def test_check_tells_every_mistake_in_settings_and_content_at_once(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").write_text("[server]\nprot = 1\n[limits]\nenabled = 1\n")
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    lines = fail("check", tmp_path)
    assert [line.split(": ")[0] for line in lines[:2]] == ["server.prot", "limits.enabled"]
    assert lines[2].startswith("bad.txt")
    assert len(lines) == 3


def test_check_demands_encryption_of_a_public_address(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n")
    assert fail("check", tmp_path, "--set", "site.url=http://shop.example")[0].startswith(
        "site.url: http://shop.example is not encrypted"
    )
    assert succeed("check", tmp_path, "--set", "site.url=https://shop.example")


def test_check_reports_content_in_the_data_folder_with_other_errors(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n")
    port, content = fail("check", tmp_path, "--data", tmp_path, "--set", "server.port=x")
    assert port.startswith("server.port: ")
    assert "Move one of them" in content


def test_check_tells_of_a_folder_without_content(tmp_path: Path) -> None:
    assert "has no content" in fail("check", tmp_path)[0]


def test_serve_tells_mistakes_a_line_each_and_does_not_start(tmp_path: Path) -> None:
    lines = fail("serve", tmp_path, "--port", 99999, "--set", "log.format=xml", "--set", "x.y=1")
    assert sorted(line.split(": ")[0] for line in lines) == ["log.format", "server.port", "x"]
    assert not (tmp_path / ".desk").exists()


def test_a_folder_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    done = run_here("serve", tmp_path / "nowhere")
    assert done.code == 2
    assert "does not exist" in done.err


def test_a_damaged_master_key_is_reported_without_its_content(data: Path) -> None:
    (data / "master.key").write_text("deadbeef")
    (line,) = fail("token", "create", "--data", data, "--name", "b", "--scope", "threads")
    assert "master.key must contain the key as 64 hexadecimal digits" in line
    assert "deadbeef" not in line


def test_a_key_is_made_only_in_the_data_folder_of_a_desk(data: Path, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{data}/desk.db")
    (tmp_path / "other").mkdir()
    (line,) = fail(
        *("token", "create", "--data", tmp_path / "other", *store),
        *("--name", "a", "--scope", "threads"),
    )
    assert f"there is no {tmp_path}/other/{KEY_FILE}" in line
    assert not list((tmp_path / "other").iterdir())


def test_a_missing_or_wrong_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".desk").mkdir(parents=True)
    told = run_here("token", "list").err.splitlines()
    assert told[-1] == (
        "Error: Missing option '--data'. Name the desk's data folder, such as FOLDER/.desk."
    )
    (line,) = fail("token", "list", "--data", tmp_path / "shop")
    assert line == (
        f"--data: there is no {tmp_path}/shop/desk.db; did you mean {tmp_path}/shop/.desk?"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["create", "--name", "a", "--scope", "everything"], "There is no scope 'everything'"),
        (["create", "--name", " ", "--scope", "threads"], "--name must be one line"),
        (["create", "--name", "a\nb", "--scope", "threads"], "--name must be one line"),
        (["create", "--name", "a", "--scope", "threads"], "serve the site once first"),
        (["list"], "serve the site once first"),
        (["revoke", "a"], "serve the site once first"),
        (["rotate", "a"], "serve the site once first"),
        (["list", "--store", "postgresql://desk:hunter2@db/desk"], "a password"),
    ],
)
def test_an_error_with_tokens_is_reported_and_leaves_nothing_behind(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    (line,) = fail("token", *arguments, "--data", tmp_path / "data")
    assert told in line
    assert "hunter2" not in line
    assert not (tmp_path / "data").exists()
