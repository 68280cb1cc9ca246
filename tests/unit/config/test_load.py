"""desk.toml, --set and the options become one Config, and every mistake is reported."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aitp_desk.config import Config, ConfigError, Server, load_config
from aitp_desk.config.catalogue import names
from aitp_desk.config.settings import sqlite_path


def load(folder: Path, toml: str = "", *overrides: str, **options: Any) -> Config:
    (folder / "desk.toml").write_text(toml, encoding="utf-8")
    return load_config(folder, overrides, **options)


def problems(folder: Path, toml: str = "", *overrides: str, **options: Any) -> dict[str, str]:
    """Load what must fail; the messages by key."""
    with pytest.raises(ConfigError) as caught:
        load(folder, toml, *overrides, **options)
    return {problem.key: problem.message for problem in caught.value.problems}


def test_without_a_file_every_setting_has_its_default(tmp_path: Path) -> None:
    config = load_config(tmp_path)
    assert config.server == Server()
    assert config.limits.enabled is True
    assert config.content_folder == tmp_path.resolve()
    assert config.data == tmp_path.resolve() / ".desk"
    file = sqlite_path(config.store.url, config.data)
    assert file == tmp_path.resolve() / ".desk" / "desk.db"
    assert config.site.url == "http://127.0.0.1:8080"


def test_the_file_sets_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    config = load(
        tmp_path,
        """
        [site]
        name = "Trailhead"
        contact = { email = "hello@trailhead.example", url = "/contact" }
        [content]
        folder = "pages"
        synonyms = { refund = ["return", "exchange"] }
        [content.signals]
        ai_train = true
        [server]
        trusted_proxies = ["10.0.0.0/8", "::1"]
        """,
    )
    assert config.site.name == "Trailhead"
    assert config.site.contact_url == "http://127.0.0.1:8080/contact"
    assert config.content_folder == tmp_path.resolve() / "pages"
    assert config.content.synonyms == {"refund": ("return", "exchange")}
    assert (config.content.signals.ai_train, config.content.signals.search) == (True, True)
    assert config.server.trusted_proxies == ("10.0.0.0/8", "::1")
    assert config.threads.max_wait == 30


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeff[site]\nname = 'Trailhead'\n").site.name == "Trailhead"


def test_a_circle_of_links_is_reported(tmp_path: Path) -> None:
    for name in ("loop", ".desk"):
        (tmp_path / name).symlink_to(name)
    assert set(problems(tmp_path, "[content]\nfolder = 'loop'\n")) == {
        "content.folder",
        str(tmp_path / ".desk"),
    }


def test_an_override_is_stronger_than_the_file_and_an_option_than_both(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "[server]\nport = 1\n[limits]\nenabled = true",
        "server.port=2",
        "limits.enabled=false",
        port=3,
        host="::1",
        data=tmp_path / "kept",
    )
    assert config.server.port == 3
    assert config.limits.enabled is False
    assert config.site.url == "http://[::1]:3"
    assert config.data == tmp_path.resolve() / "kept"


@pytest.mark.parametrize(
    ("override", "name"),
    [
        ("site.name=Foo Bar", "Foo Bar"),
        ("site.name='Foo = Bar'", "Foo = Bar"),
        ("site.name=a=b", "a=b"),
        ("site.name=x\ny = 1", None),
        ("site.name='x'\ny = 1", None),
    ],
)
def test_an_override_that_is_no_toml_is_text(
    tmp_path: Path, override: str, name: str | None
) -> None:
    if name is None:
        assert set(problems(tmp_path, "", override)) == {"site.name"}
    else:
        assert load(tmp_path, "", override).site.name == name


def test_an_override_reaches_into_nested_sections_and_tables(tmp_path: Path) -> None:
    config = load(tmp_path, "", "site.contact.phone=+1 541", 'content.synonyms.refund=["return"]')
    assert config.site.contact.phone == "+1 541"
    assert config.content.synonyms == {"refund": ("return",)}


@pytest.mark.parametrize("override", ["", "x", "site", "site=1", "=1", "site.=1", ".name=1"])
def test_an_override_that_names_no_setting_is_reported(tmp_path: Path, override: str) -> None:
    assert "it takes section.key=value" in problems(tmp_path, "", override)["--set"]


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    told = problems(
        tmp_path,
        """
        port = 3
        [server]
        prot = 3
        port = "abc"
        [sever]
        x = 1
        [limits]
        enabled = "yes"
        [log]
        format = "xml"
        [store]
        url = "mysql://u:hunter2@h/db"
        """,
        "threads.max_wait=0",
        "nonsense",
    )
    assert set(told) == {
        *("port", "server.prot", "server.port", "sever", "limits.enabled", "log.format"),
        *("store.url", "threads.max_wait", "--set"),
    }
    assert told["server.port"] == 'is "abc"; it takes a whole number from 0 to 65535.'
    assert told["limits.enabled"] == 'is "yes"; it takes true or false.'
    assert told["threads.max_wait"] == "is 0; it takes a whole number of seconds from 1 to 86400."
    assert '"console"' in told["log.format"]


@pytest.mark.parametrize(
    ("toml", "key", "meant"),
    [
        ("[server]\nprot = 1", "server.prot", "server.port"),
        ("prot = 1", "prot", "server.port"),
        ("[sever]\nport = 1", "sever", "server"),
        ("[thread]\nmax_wait = 1", "thread", "threads"),
        ("[content.signal]\nsearch = true", "content.signal", "content.signals"),
        ("[site.contact]\nemial = 'a@b.example'", "site.contact.emial", "site.contact.email"),
    ],
)
def test_an_unknown_name_is_reported_with_the_nearest_known_one(
    tmp_path: Path, toml: str, key: str, meant: str
) -> None:
    assert problems(tmp_path, toml)[key].endswith(f"did you mean {meant}?")


def test_an_unknown_name_like_no_other_gets_no_guess(tmp_path: Path) -> None:
    assert problems(tmp_path, "[zzz]")["zzz"] == "there is no such section."


def test_a_secret_in_the_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    told = problems(tmp_path, "[site]\napi_key = 'sk-very-secret'")["site.api_key"]
    assert "desk.toml must not contain a secret" in told
    assert "sk-very-secret" not in told


def test_a_section_that_is_no_table_and_a_setting_that_is_one_are_told(tmp_path: Path) -> None:
    told = problems(tmp_path, "site = 3\n[server.port]\nx = 1", "site.name=Foo")
    assert told["site"] == "is 3; it takes a section: [site] and its settings below."
    assert "it takes a whole number" in told["server.port"]


def test_a_long_wrong_value_is_shortened(tmp_path: Path) -> None:
    assert len(problems(tmp_path, f"[server]\nport = '{'x' * 5000}'")["server.port"]) < 200


def test_a_file_that_is_no_toml_is_reported_with_its_line(tmp_path: Path) -> None:
    assert "at line 2" in problems(tmp_path, "[site]\nname = =\n")["desk.toml"]


def test_a_file_that_nests_without_end_is_reported(tmp_path: Path) -> None:
    assert "is nested too deeply" in problems(tmp_path, f"x = {'[' * 5000}")["desk.toml"]
    assert "it takes" in problems(tmp_path, "", f"server.port={'[' * 5000}")["server.port"]


def test_a_file_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").write_bytes(b"[site]\nname = '\xe9'")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_config(tmp_path)


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "desk.toml").mkdir()
    with pytest.raises(ConfigError, match=r"desk\.toml: cannot be read"):
        load_config(tmp_path)


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such folder") as caught:
        load_config(tmp_path / "nowhere")
    assert caught.value.config is None


def test_a_data_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(ConfigError, match="is not a folder"):
        load_config(tmp_path, data=tmp_path / "taken")


def test_the_data_folder_is_below_the_site_s_unless_it_is_named(tmp_path: Path) -> None:
    assert load_config(tmp_path).data == tmp_path / ".desk"
    assert load_config(tmp_path, ["store.data=../state"]).data == tmp_path.parent / "state"
    assert load_config(tmp_path, [f"store.data={tmp_path}/a"], data=Path("/b")).data == Path("/b")


@pytest.mark.parametrize("named", [".", "a/.."])
def test_the_data_folder_is_never_the_site_s(tmp_path: Path, named: str) -> None:
    with pytest.raises(ConfigError, match="is the site's folder; name one for the desk alone"):
        load_config(tmp_path, [f"store.data={named}"])


def test_valid_values_are_kept_next_to_the_invalid_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "[server]\nport = 'x'\n[site]\nname = 'Trailhead'")
    assert caught.value.config is not None
    assert caught.value.config.site.name == "Trailhead"
    assert caught.value.config.server.port == Server().port


def test_a_port_that_the_system_chooses_leaves_the_url_to_who_binds_it(tmp_path: Path) -> None:
    assert load(tmp_path, port=0).site.url == ""
    assert (
        load(tmp_path, "[site]\nurl = 'https://a.example'", port=0).site.url == "https://a.example"
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.sampled_from(tuple(names())) | st.text(),
    value=st.text() | st.sampled_from(['"\\u0000"', '"a\\nb"', "nan", "[]", "{}", "1979-05-27"]),
)
def test_whatever_is_set_is_a_configuration_or_told(tmp_path: Path, key: str, value: str) -> None:
    try:
        config = load_config(tmp_path, [f"{key}={value}"])
    except ConfigError as error:
        told = str(error)
    else:
        told = config.site.url
    assert told
