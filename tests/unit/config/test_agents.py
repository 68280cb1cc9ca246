"""Further site agents in desk.toml: `[[agents]]`."""

from pathlib import Path

import pytest

from aitp_desk.config import Config, ConfigError, load_config


def load(folder: Path, toml: str) -> Config:
    for name in ("main", "books", "tools"):
        (folder / name).mkdir(exist_ok=True)
    text = f'{toml}\n[content]\nfolder = "main"\n' if "[content]" not in toml else toml
    (folder / "desk.toml").write_text(text, encoding="utf-8")
    return load_config(folder)


def told(folder: Path, toml: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, toml)
    return {problem.key: problem.message for problem in caught.value.problems}


def agent(name: str, folder: str) -> str:
    return f'[[agents]]\nname = "{name}"\n[agents.content]\nfolder = "{folder}"\n'


def test_each_table_is_an_agent_with_separate_content_and_limits(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        [site]
        name = "Shop"
        contact = { email = "hello@shop.example" }
        [[agents]]
        name = "books"
        title = "The bookshelf"
        [agents.content]
        folder = "books"
        [agents.limits]
        converse_per_minute = 3
        """
        + agent("tools", "tools"),
    )
    books, tools = (config.of_agent(further) for further in config.agents)
    assert (books.site.name, tools.site.name) == ("The bookshelf", "tools")
    assert books.site.contact.email == "hello@shop.example"
    assert books.content_folder == tmp_path.resolve() / "books"
    assert (books.limits.converse_per_minute, tools.limits.converse_per_minute) == (3, 30)
    assert config.content_folder == tmp_path.resolve() / "main"
    assert books.agents == ()


@pytest.mark.parametrize("name", ["", "v1", "agent", "assets"])
def test_an_agent_needs_a_name_that_the_desk_does_not_use_itself(tmp_path: Path, name: str) -> None:
    assert "agents.name" in told(tmp_path, agent(name, "books"))


@pytest.mark.parametrize("name", ["Books", "1a", "a/b", "a b", "x" * 33])
def test_a_name_that_cannot_stand_in_an_address_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="it takes a name of small letters"):
        load(tmp_path, agent(name, "books"))


def test_two_agents_never_share_a_name(tmp_path: Path) -> None:
    twice = agent("books", "books") + agent("books", "tools")
    assert told(tmp_path, twice) == {"agents.name": "'books' is used twice."}


@pytest.mark.parametrize("folder", ["main", ".", "main/sub"])
def test_no_agent_reads_what_another_answers_from(tmp_path: Path, folder: str) -> None:
    (tmp_path / "main" / "sub").mkdir(parents=True)
    message = told(tmp_path, agent("books", folder))["agents.content.folder"]
    assert "each agent needs a separate folder" in message


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    message = told(tmp_path, agent("books", "nowhere"))["agents.content.folder"]
    assert message == "there is no folder 'nowhere'; 'books' needs one."


def test_a_setting_that_no_agent_has_is_reported_with_its_name(tmp_path: Path) -> None:
    problems = told(tmp_path, '[[agents]]\nname = "books"\nport = 1\ncontent.folder = "books"')
    assert list(problems) == ["agents.port"]
    assert "tables, each with the header [[agents]]" in told(tmp_path, "agents = 3")["agents"]


@pytest.mark.parametrize("page", ["books.md", "books/facts.md", "books.html"])
def test_an_agent_does_not_stand_before_the_sites_own_pages(tmp_path: Path, page: str) -> None:
    path = tmp_path / "main" / page
    path.parent.mkdir(parents=True)
    path.write_text("# Books\n", encoding="utf-8")
    message = told(tmp_path, agent("books", "books"))["agents.name"]
    assert message.startswith("the agent would hide the site's own pages at /books.")
    assert load(tmp_path, agent("book", "books")).agents
