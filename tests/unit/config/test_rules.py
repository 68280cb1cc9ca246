"""What settings must satisfy beyond their types."""

from pathlib import Path

import pytest

from aitp_desk.config import Config, ConfigError, check_public, load_config
from aitp_desk.config.settings import sqlite_path


def told(folder: Path, *overrides: str) -> dict[str, str]:
    try:
        load_config(folder, overrides)
    except ConfigError as error:
        return {problem.key: problem.message for problem in error.problems}
    return {}


@pytest.mark.parametrize(
    "url",
    [
        *("shop.example", "ftp://shop.example", "https://", "https:///x", "https://a b.example"),
        *(
            "https://user:hunter2@shop.example",
            "https://shop.example/sub",
            "https://shop.example?q",
        ),
        *(
            "https://shop.example#x",
            "https://shop.example:99999",
            "https://[::1",
            "https://é.example",
        ),
        "https://shop.example\r\nX: y",
    ],
)
def test_a_site_url_is_a_bare_web_address(tmp_path: Path, url: str) -> None:
    message = told(tmp_path, f"site.url={url}")["site.url"]
    assert "it takes an address such as https://desk.example.com" in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    "url", ["docs/", "ftp://a.example/", "https://a.example/?page=", "https://"]
)
def test_pages_are_published_at_an_address_that_paths_continue(tmp_path: Path, url: str) -> None:
    message = told(tmp_path, f"content.published_at={url}")["content.published_at"]
    assert "https://www.example.com/docs/" in message


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://shop.example", "https://shop.example"),
        ("https://shop.example/", "https://shop.example"),
        ("http://[::1]:9000/", "http://[::1]:9000"),
    ],
)
def test_a_site_url_is_kept_without_its_last_slash(tmp_path: Path, url: str, kept: str) -> None:
    assert load_config(tmp_path, [f"site.url={url}"]).site.url == kept


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0:0::0"])
def test_listening_on_every_address_needs_a_site_url(tmp_path: Path, host: str) -> None:
    assert "Set site.url" in told(tmp_path, f"server.host={host}")["server.host"]
    config = load_config(tmp_path, [f"server.host={host}", "site.url=https://shop.example"])
    assert config.server.host == host


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://shop.example", True),
        ("http://shop.example", False),
        ("http://10.0.0.1:8080", False),
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://localhost", True),
        ("http://desk.localhost:8080", True),
        ("http://localhost.example", False),
    ],
)
def test_only_this_machine_may_be_reached_without_encryption(
    tmp_path: Path, url: str, public: bool
) -> None:
    found = check_public(load_config(tmp_path, [f"site.url={url}"]))
    assert [problem.key for problem in found] == ([] if public else ["site.url"])


@pytest.mark.parametrize(
    ("url", "told_of"),
    [("https://shop.example", ["egress.allow_loopback"]), ("http://127.0.0.1:8080", [])],
)
def test_only_a_desk_of_this_machine_may_ask_its_loopback(
    tmp_path: Path, url: str, told_of: list[str]
) -> None:
    config = load_config(tmp_path, [f"site.url={url}", "egress.allow_loopback=true"])
    assert [problem.key for problem in check_public(config)] == told_of


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:desk.db", "DATA/desk.db"),
        ("sqlite:sub/threads.db", "DATA/sub/threads.db"),
        ("sqlite:/srv/desk.db", "/srv/desk.db"),
        ("sqlite:///srv/desk.db", "/srv/desk.db"),
    ],
)
def test_a_store_url_names_a_file(tmp_path: Path, url: str, path: str) -> None:
    config = load_config(tmp_path, [f"store.url={url}"])
    file = sqlite_path(config.store.url, config.data)
    assert str(file) == path.replace("DATA", str(config.data))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://desk:hunter2@db/desk", "contains a password, which is taken from"),
        ("postgres://db/desk?password=hunter2", "contains a password, which is taken from"),
        ("postgresql:desk", "has no // after postgresql:"),
        ("postgresql:///?service=prod", "write its host and parameters in the URL"),
        ("postgresql:///desk?hostaddr=10.0.0.5", "write the address as the host"),
        ("postgresql://desk@127.0.0.1:99999/d", "has a port that is not a number"),
        ("postgresql://127.0.0.1:0/d", "has a port that is not a number"),
        ("postgresql://127.0.0.1:abc/d", "has a port that is not a number"),
        ("postgresql://db,db:abc/d", "has a port that is not a number"),
        ("postgresql:///d?host=[::1]:abc", "has a port that is not a number"),
        ("postgresql:///d?port=5432,x", "has a port that is not a number"),
        ("postgresql://db,,db/d", "has an empty or malformed host"),
        ("postgresql://::1/d", "has an empty or malformed host"),
        ("postgresql://a@db.example,b@127.0.0.1/d", "has more than one @"),
        ("postgresql://db/d?sslmode=on", "is one of disable, allow, prefer, require"),
        ("postgresql://db/d?target_session_attrs=x", "is one of any, primary, standby"),
        ("postgresql://db/d?connect_timeout=1.5", "has a connect_timeout"),
        ("postgresql://[db/desk", "is not a URL"),
        ("mysql://desk:hunter2@db/desk", "is not a supported kind of database"),
        ("desk.db", "is not a supported kind of database"),
        ("sqlite:", "has no file"),
        ("sqlite:///", "has no file"),
        ("sqlite::memory:", "has no file"),
        ("sqlite://host/desk.db", "has a host, which SQLite does not use"),
        ('"postgresql://desk:hunter2@db/\\n"', "is an unknown value; it takes a URL"),
    ],
)
def test_an_unusable_store_url_is_reported_without_being_repeated(
    tmp_path: Path, url: str, reason: str
) -> None:
    message = told(tmp_path, f"store.url={url}")["store.url"]
    assert reason in message
    assert "it takes" in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:6379", "is not the address of a Valkey or Redis server"),
        ("redis://:hunter2@127.0.0.1", "contains a password"),
        ("redis://127.0.0.1/0?password=hunter2", "contains a password"),
        ("unix:///run/valkey.sock?password=hunter2", "contains a password"),
        ("redis://127.0.0.1:abc", "has a port that is not a number"),
        ("redis://127.0.0.1:99999", "has a port that is not a number"),
        ("redis://127.0.0.1:0", "has a port that is not a number"),
        ("redis://[127.0.0.1", "is not a URL"),
        ("redis://127.0.0.1/first", "has a database that is not a number"),
        ("unix:///run/valkey.sock?db=first", "has a database that is not a number"),
        ("redis://127.0.0.1:1/0?foo=bar", "has a parameter that the desk does not use"),
        ("redis://127.0.0.1?ssl_ca_certs=ca.pem", "has a parameter that the desk does not use"),
        ("rediss://127.0.0.1?ssl_cert_reqs=none", "has a parameter that the desk does not use"),
        ("redis:///0", "names no server"),
        ("unix://", "names no server"),
    ],
)
def test_an_unusable_valkey_url_is_reported_without_being_repeated(
    tmp_path: Path, url: str, reason: str
) -> None:
    message = told(tmp_path, f"valkey.url={url}")["valkey.url"]
    assert reason in message
    assert "it takes" in message
    assert "hunter2" not in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db/desk",
        "postgres://desk@db:5432/desk?sslmode=verify-full",
        "postgresql:///desk?host=/run/postgresql",
        "postgresql://[::1]:5433,db.example:5434/desk?target_session_attrs=read-write",
        "postgresql://%2Frun%2Fpostgresql/desk?port=5433&connect_timeout=3",
    ],
)
def test_a_store_url_may_name_a_server(tmp_path: Path, url: str) -> None:
    assert load_config(tmp_path, [f"store.url={url}"]).store.url == url


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:6379/0",
        "redis://desk@[::1]:6379/?db=3",
        "rediss://valkey.example/1?ssl_ca_certs=/etc/ssl/own.pem",
        "unix:///run/valkey.sock?db=2",
    ],
)
def test_a_valkey_url_may_name_a_server(tmp_path: Path, url: str) -> None:
    assert load_config(tmp_path, [f"valkey.url={url}"]).valkey.url == url


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (["store.direct_url=postgresql://db/desk"], "is for store.pooler = true"),
        (
            ["store.pooler=true", "store.direct_url=sqlite:desk.db"],
            "is not a supported kind of database; it takes",
        ),
        (
            ["store.pooler=true", "store.direct_url=postgresql://a:hunter2@db/d"],
            "contains a password",
        ),
        (["store.pooler=true", "store.direct_url=redis://db"], "is not a supported kind"),
    ],
)
def test_an_unusable_direct_url_is_reported_without_being_repeated(
    tmp_path: Path, settings: list[str], reason: str
) -> None:
    message = told(tmp_path, "store.url=postgresql://pool/desk", *settings)["store.direct_url"]
    assert reason in message
    assert "hunter2" not in message


def test_a_direct_url_goes_with_a_pooler(tmp_path: Path) -> None:
    pooled = ("store.url=postgresql://pool/desk", "store.pooler=true")
    assert told(tmp_path, *pooled, "store.direct_url=postgresql://db/desk") == {}


@pytest.mark.parametrize("network", ["10.0.0.1/8", "proxy.example", "10.0.0.0/33", ""])
def test_a_trusted_proxy_is_an_address_or_network(tmp_path: Path, network: str) -> None:
    assert (
        repr(network)
        in told(tmp_path, f"server.trusted_proxies=['{network}']")["server.trusted_proxies"]
    )


@pytest.mark.parametrize("name", ["threads.max_body", "files.max_bytes"])
def test_the_largest_body_fits_among_all_that_are_under_way(tmp_path: Path, name: str) -> None:
    room = "server.max_body_bytes_under_way"
    bounds = [f"{key}=1000000" for key in (room, "threads.max_body", "files.max_bytes")]
    assert told(tmp_path, *bounds) == {}
    wrong = f"must be at least {name}."
    assert told(tmp_path, *bounds, f"{name}=1000001") == {room: wrong}


@pytest.mark.parametrize("url", ["contact", "//evil.example", "javascript:alert(1)", "mailto:a@b"])
def test_a_contact_page_is_a_web_address_or_a_path(tmp_path: Path, url: str) -> None:
    assert set(told(tmp_path, f"site.contact.url={url}")) == {"site.contact.url"}


@pytest.mark.parametrize("email", ["hello", "@example.com", "a@", "a b@example.com", "a@b\nBcc: c"])
def test_a_contact_email_is_a_mail_address(tmp_path: Path, email: str) -> None:
    assert set(told(tmp_path, f"site.contact.email={email}")) == {"site.contact.email"}


@pytest.mark.parametrize("key", ["site.name", "content.folder", "server.host", "store.url"])
@pytest.mark.parametrize("text", ['"a\\nb"', '"a\\u0000"', '"a\\n"', '""'])
def test_a_name_an_address_and_a_path_are_one_line(tmp_path: Path, key: str, text: str) -> None:
    assert "on one line, not empty" in told(tmp_path, f"{key}={text}")[key]


def test_a_missing_content_folder_is_reported(tmp_path: Path) -> None:
    assert "there is no folder 'pages'" in told(tmp_path, "content.folder=pages")["content.folder"]


def test_a_contact_page_without_a_path_stands_for_itself(tmp_path: Path) -> None:
    config: Config = load_config(tmp_path, ["site.contact.url=https://help.example/us"])
    assert config.site.contact_url == "https://help.example/us"
    assert load_config(tmp_path).site.contact_url == ""


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("https://www.example.com/returns?x=1", None),
        ("https://8.8.8.8/", None),
        ("www.example.com/returns", "is not a web address"),
        ("ftp://www.example.com/", "is not a web address"),
        ("https://", "is not a web address"),
        ("https://www.example.com/a b", "is not a web address"),
        ("http://www.example.com/", "is not encrypted"),
        ("https://anna:hunter2@www.example.com/", "contains a user name or password"),
        ("https://localhost/", "is not public"),
        ("https://10.0.0.1/", "is not public"),
        ("https://[::1]/", "is not public"),
        ("http://127.0.0.1:8080/", "is not encrypted"),
    ],
)
@pytest.mark.parametrize("key", ["content.web.urls", "content.web.sitemaps"])
def test_pages_elsewhere_are_encrypted_public_addresses(
    tmp_path: Path, key: str, url: str, wrong: str | None
) -> None:
    found = told(tmp_path, f'{key}=["https://www.example.com/", "{url}"]')
    if wrong is None:
        assert found == {}
    else:
        assert found.keys() == {key}
        assert found[key].startswith(f"its address 2 {wrong}; it takes")
        assert "hunter2" not in found[key]


def test_the_setting_for_tests_lets_pages_lie_on_the_loopback(tmp_path: Path) -> None:
    page = 'content.web.urls=["http://127.0.0.1:8080/"]'
    assert told(tmp_path, page, "egress.allow_loopback=true") == {}


def test_pages_elsewhere_of_a_further_agent_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "books").mkdir()
    (tmp_path / "desk.toml").write_text(
        '[content]\nfolder = "content"\n\n[[agents]]\nname = "books"\n\n[agents.content]\n'
        'folder = "books"\nweb = { urls = ["http://www.example.com/"] }\n',
        "utf-8",
    )
    found = told(tmp_path)
    assert found.keys() == {"agents.content.web.urls"}
    assert "is not encrypted" in found["agents.content.web.urls"]


TABLES_OF_LIMITS = [
    ("[[agent_limits]]\nper_minute = 3", "agent_limits.name", "table 1 of [[agent_limits]]"),
    ('[[agent_limits]]\nname = "a b"', "agent_limits.name", "none that can be used"),
    ('[[agent_limits]]\nname = "A"\n[[agent_limits]]\nname = "a"', "agent_limits.name", "twice"),
    ('[[agent_limits]]\nname = "a"\nactions = ["A-b"]', "agent_limits.actions", "content_search"),
    ('[[agent_limits]]\nname = "a"\nper_minute = -1', "agent_limits.per_minute", "from 0"),
    ('[[tiers]]\nscopes = ["operator"]', "tiers.name", "table 1 of [[tiers]]"),
    ('[[tiers]]\nname = "t"', "tiers.principals", "'t' has no members"),
    ('[[tiers]]\nname = "t"\nscopes = ["root"]', "tiers.scopes", "admin and sensitive"),
    ('[[tiers]]\nname = "t"\nprincipals = ["me"]', "tiers.principals", "it takes key:"),
    ('[[tiers]]\nname = "t"\nprincipals = ["key:*b"]', "tiers.principals", "it takes key:"),
]


@pytest.mark.parametrize(("table", "key", "says"), TABLES_OF_LIMITS)
def test_limits_by_name_and_by_tier_leave_nobody_in_doubt(
    tmp_path: Path, table: str, key: str, says: str
) -> None:
    (tmp_path / "desk.toml").write_text(table, encoding="utf-8")
    assert says in told(tmp_path)[key]


@pytest.mark.parametrize(
    ("origin", "wrong"),
    [
        *((text, "is not an origin") for text in ("", "*", "null", "www.example.com", "file:///x")),
        *(
            (text, "is not an origin")
            for text in ("https://", "https://é.example", "https://a b.c")
        ),
        ("https://*.example.com", "means many origins; name each one"),
        *(
            (f"https://www.example.com{rest}", "has more than")
            for rest in ("/", "/shop", "?a", "#a")
        ),
        ("https://WWW.example.com", "'https://www.example.com' where a browser says it"),
        ("https://www.example.com:443", "'https://www.example.com' where a browser says it"),
        ("http://www.example.com:80", "'http://www.example.com' where a browser says it"),
        ("https://anna:hunter2@www.example.com", "a user name or password"),
    ],
)
def test_an_origin_is_named_as_browsers_say_it(tmp_path: Path, origin: str, wrong: str) -> None:
    message = told(tmp_path, f"cors.origins=['https://shop.example', {origin!r}]")["cors.origins"]
    assert wrong in message
    assert "it takes origins such as https://www.example.com" in message
    assert "hunter2" not in message


def test_origins_that_can_be_used_are_kept_as_they_are(tmp_path: Path) -> None:
    named = ("https://www.example.com", "http://localhost:3000", "https://[2001:db8::1]:8443")
    assert load_config(tmp_path, [f"cors.origins={[*named]}"]).cors.origins == named


def test_an_origin_that_is_not_encrypted_is_nothing_for_the_public(tmp_path: Path) -> None:
    site = "site.url=https://shop.example"
    named = "cors.origins=['http://localhost:3000', 'http://www.example.com']"
    (problem,) = check_public(load_config(tmp_path, [site, named]))
    assert problem.key == "cors.origins"
    assert "http://www.example.com is not encrypted" in problem.message


@pytest.mark.parametrize(
    ("setting", "key", "message"),
    [
        ("notify.webhook=http://chat.example/x", "notify.webhook", "is not encrypted"),
        ("notify.webhook=https://127.0.0.1/hunter2", "notify.webhook", "is not public"),
        ('notify.command=["", "x"]', "notify.command", "has no program"),
    ],
)
def test_people_are_told_where_that_can_be(
    tmp_path: Path, setting: str, key: str, message: str
) -> None:
    told_of = told(tmp_path, setting)[key]
    assert message in told_of
    assert "hunter2" not in told_of


def test_what_people_are_told_is_signed(tmp_path: Path) -> None:
    settings = ("notify.webhook=https://chat.example/x", "oauth.enabled=false")
    assert "oauth.enabled = true" in told(tmp_path, *settings)["notify.webhook"]
    assert told(tmp_path, settings[0]) == {}


def test_a_time_zone_is_one_that_there_is(tmp_path: Path) -> None:
    for name in ("Europe/Vienna", "UTC", "America/Argentina/Ushuaia", "Etc/GMT+5"):
        assert told(tmp_path, f"site.timezone={name}") == {}
    for name in (
        "CEST",
        "Europe",
        "Europe/",
        "Europe/Atlantis",
        "../UTC",
        "/etc/UTC",
        "+02:00",
    ):
        assert "Europe/Vienna" in told(tmp_path, f"site.timezone={name}")["site.timezone"], name


@pytest.mark.parametrize("origin", ["https://shop.example/", "https://*.example", "shop.example"])
def test_a_site_with_the_chat_is_named_as_browsers_say_it(tmp_path: Path, origin: str) -> None:
    message = told(tmp_path, f"widget.origins=[{origin!r}]")["widget.origins"]
    assert "it takes origins such as https://www.example.com." in message


@pytest.mark.parametrize("page", ["javascript:alert(1)", "//elsewhere.example", "privacy"])
def test_the_chats_privacy_page_is_a_web_address_or_a_path(tmp_path: Path, page: str) -> None:
    message = told(tmp_path, f"widget.privacy_url={page}")["widget.privacy_url"]
    assert message == "is neither an http(s) URL nor a path on the site such as /privacy."


@pytest.mark.parametrize(
    ("logo", "said"),
    [
        ("missing.png", "there is no file 'missing.png' in the site's folder."),
        ("../logo.png", "there is no file '../logo.png' in the site's folder."),
        (".desk/logo.png", "there is no file '.desk/logo.png' in the site's folder."),
        ("content", "is no picture that the chat shows; it takes a PNG, JPEG, WebP, GIF or SVG"),
        ("/logo.png", "is neither an http(s) URL nor the path of a file in the site's folder."),
        ("data:image/png,", "is neither an http(s) URL nor the path of a file"),
        ("a\x00.png", "is neither an http(s) URL nor the path of a file"),
        (f"{chr(26085) * 150}.png", "there is no file"),
        ("https://cdn.example/logo.png", "is on a site that is neither the desk nor one of"),
        ("large.png", "has more than 200 kB; save it smaller."),
    ],
)
def test_the_chats_logo_is_a_picture_of_the_site(tmp_path: Path, logo: str, said: str) -> None:
    site = tmp_path / "site"
    (site / ".desk").mkdir(parents=True)
    for place in (tmp_path, site / ".desk", site):
        (place / "logo.png").write_bytes(b"")
    (site / "large.png").write_bytes(bytes(200_001))
    origins = "widget.origins=['https://www.example.com']"
    assert said in told(site, origins, f"widget.logo={logo}")["widget.logo"]
    for fine in ("logo.png", "https://www.example.com/logo.png"):
        assert load_config(site, [origins, f"widget.logo={fine}"]).widget.logo == fine


@pytest.mark.parametrize(
    ("override", "key", "said"),
    [
        ("tickets.hours=['Mon 9-17']", "tickets.hours", "'Mon 9-17' does not begin with days"),
        (
            "tickets.exceptions=['24.12.']",
            "tickets.exceptions",
            "'24.12.' does not begin with a date such as 2026-12-24.",
        ),
    ],
)
def test_opening_hours_can_be_read(tmp_path: Path, override: str, key: str, said: str) -> None:
    assert told(tmp_path, "tickets.hours=['Mo 09:00-17:00']", override)[key].startswith(said)
    alone = told(tmp_path, "tickets.exceptions=['2026-12-24']")["tickets.exceptions"]
    assert alone == "needs tickets.hours, from which these days differ."


def test_every_line_of_the_opening_hours_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as wrong:
        load_config(tmp_path, ["tickets.hours=['Mo 9-17', 'Tu 09:00-17:00', 'Di 09:00-17:00']"])
    assert [str(one).split("'")[1] for one in wrong.value.problems] == ["Mo 9-17", "Di 09:00-17:00"]


def test_the_chats_questions_for_a_path_can_be_reached(tmp_path: Path) -> None:
    def table(path: str, questions: str = "'Why?'") -> str:
        return f"{{path='{path}', suggestions=[{questions}]}}"

    hidden = f"widget.paths=[{table('/shop/*')}, {table('/shop/tents/*')}]"
    message = told(tmp_path, hidden)["widget.paths.path"]
    assert "'/shop/tents/*' is never used, because '/shop/*' comes first" in message
    empty = f"widget.paths=[{table('/shop/*', '')}]"
    assert "table 1 needs a path and suggestions" in told(tmp_path, empty)["widget.paths"]
    found = told(tmp_path, f"widget.paths=[{table('shop')}]")
    assert any(key.startswith("widget.paths") for key in found)
    fine = f"widget.paths=[{table('/shop/tents/*')}, {table('/shop/*')}]"
    assert len(load_config(tmp_path, [fine]).widget.paths) == 2


def test_the_chats_texts_have_one_table_for_each_of_its_languages(tmp_path: Path) -> None:
    german = "{language='de', greeting='Hallo'}"
    twice = told(tmp_path, f"widget.texts=[{german}, {german}]")
    assert "'de' has two tables" in twice["widget.texts.language"]
    unnamed = told(tmp_path, "widget.texts=[{greeting='Hallo'}]")
    assert "'' is none of the chat's languages" in unnamed["widget.texts.language"]
    unspoken = told(tmp_path, f"widget.texts=[{german}]", "widget.languages=['en', 'fr']")
    assert "languages: en, fr." in unspoken["widget.texts.language"]
    widget = load_config(tmp_path, [f"widget.texts=[{german}]"]).widget
    assert widget.in_language("de").greeting == "Hallo"


def test_the_chat_of_a_public_site_needs_a_desk_that_can_be_reached(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    named = "widget.origins=['https://www.example.com', 'http://shop.example']"
    own, *_ = (found := check_public(load_config(tmp_path, [named])))[::-1]
    assert [problem.key for problem in found] == ["widget.origins", "site.url"]
    assert "the chat on https://www.example.com cannot reach the desk" in own.message
    public = [named, "site.url=https://desk.example.com"]
    assert [one.key for one in check_public(load_config(tmp_path, public))] == ["widget.origins"]
    local = "widget.origins=['http://localhost:3000']"
    assert check_public(load_config(tmp_path, [local])) == ()
