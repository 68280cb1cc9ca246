"""The section of the models, and the names that its settings had before."""

from pathlib import Path

import pytest

from aitp_desk.config import Config, ConfigError, Model, load_config


def load(folder: Path, toml: str, *overrides: str) -> Config:
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    return load_config(folder, overrides)


def problems(folder: Path, toml: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, toml)
    return {problem.key: problem.message for problem in caught.value.problems}


def test_settings_under_their_former_names_are_taken_with_a_note(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        [claude]
        model = "claude-sonnet-5-5"
        max_answer_tokens = 400
        day_tokens = 7000
        """,
    )
    assert (config.model.name, config.model.max_tokens) == ("claude-sonnet-5-5", 400)
    assert config.model.day_tokens == 7000
    assert config.notes == (
        "[claude] is now [model]; in it model is name, max_answer_tokens is max_tokens now.",
    )


def test_an_override_under_a_former_name_overrides_the_setting_of_today(tmp_path: Path) -> None:
    config = load(tmp_path, "[model]\nname = 'one'\n", "claude.model=two", "claude.day_tokens=5")
    assert (config.model.name, config.model.day_tokens) == ("two", 5)
    assert config.notes == ()


def test_of_two_names_of_a_setting_that_of_today_counts(tmp_path: Path) -> None:
    config = load(tmp_path, "[claude]\nday_tokens = 1\nreply_calls = 2\n[model]\nday_tokens = 3\n")
    assert (config.model.day_tokens, config.model.reply_calls) == (3, 2)
    assert len(config.notes) == 1


def test_a_mistake_under_a_former_name_is_reported_under_that_of_today(tmp_path: Path) -> None:
    assert (
        "it takes a whole number"
        in problems(tmp_path, "[claude]\nday_tokens = 'x'\n")["model.day_tokens"]
    )


def test_a_chain_begins_with_the_model_and_keeps_the_order(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        [model]
        name = "first"
        [[model.fallbacks]]
        name = "second"
        price_in = 3
        [[model.fallbacks]]
        name = "third"
        """,
    )
    assert [choice.name for choice in config.model.chain] == ["first", "second", "third"]
    assert config.model.fallbacks[0].price_in == 3


@pytest.mark.parametrize(
    ("url", "wrong"),
    [("nowhere", "is not a web address"), ("https://me:key@models.example/v1", "user name")],
)
def test_a_wrong_address_is_told_without_repeating_it(tmp_path: Path, url: str, wrong: str) -> None:
    message = problems(tmp_path, f"[[model.fallbacks]]\nurl = '{url}'\n")["model.fallbacks.url"]
    assert wrong in message
    assert url not in message


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ("[model]\nprovider = 'openai'\n", "model.name"),
        ("[[model.fallbacks]]\nprovider = 'openai'\n", "model.fallbacks.name"),
    ],
)
def test_only_anthropic_has_a_default_model(tmp_path: Path, toml: str, key: str) -> None:
    assert problems(tmp_path, toml) == {key: "name a model of this server."}
    assert Model(name="").name == Model().name
    assert Model().is_default


def test_a_server_may_name_a_model_like_the_default_one(tmp_path: Path) -> None:
    config = load(tmp_path, f"[model]\nprovider = 'openai'\nname = '{Model().name}'\n")
    assert config.model.name == Model().name
    assert not config.model.is_default


@pytest.mark.parametrize("url", ["http://localhost:11434/v1", "http://ollama:11434/v1"])
def test_the_owner_may_name_a_server_of_the_own_network(tmp_path: Path, url: str) -> None:
    assert load(tmp_path, f"[model]\nurl = '{url}'\n").model.url == url


def test_the_default_model_needs_its_key_alone() -> None:
    assert Model().key_variable == "ANTHROPIC_API_KEY"
    assert Model(key_env="MY_KEY").key_variable == "MY_KEY"
