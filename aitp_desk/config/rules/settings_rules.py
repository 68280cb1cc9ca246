"""Rules for settings beyond their types: addresses, networks, paths."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aitp_desk.config.opening_hours import read_opening_hours
from aitp_desk.config.problem import Problem
from aitp_desk.config.rules.agents_txt import check_agents_txt
from aitp_desk.config.rules.files import check_files
from aitp_desk.config.rules.issuers import check_issuers
from aitp_desk.config.rules.limits import check_agent_limits, check_tiers
from aitp_desk.config.rules.model import check_model
from aitp_desk.config.rules.servers import (
    wrong_server_url,
    wrong_store_url,
    wrong_valkey_url,
)
from aitp_desk.config.rules.signatures import check_signature_agents
from aitp_desk.config.rules.widget import check_widget
from aitp_desk.config.sections.content.content import Content, Web
from aitp_desk.config.sections.content.semantics import Meaning
from aitp_desk.config.sections.people import Notify, Tickets
from aitp_desk.config.sections.server import Server
from aitp_desk.config.settings import Config, StoreSettings
from aitp_desk.model.web_address import (
    ip_address,
    is_loopback,
    origin_of,
    web_address,
    wrong_address,
)

RESERVED = frozenset(
    {
        "a2a",
        "agent",
        "agents.json",
        "agents.txt",
        "ask",
        "assets",
        "capabilities",
        "console",
        "docs",
        "health",
        "hooks",
        "llms-full.txt",
        "llms.txt",
        "mcp",
        "metrics",
        "oauth",
        "openapi.json",
        "ready",
        "search",
        "transports",
        "v1",
        "who",
        "widget",
        "widget.d.ts",
        "widget.js",
    }
)
"""Names that no site agent may have: paths of the desk begin with them."""

_HOST = re.compile(r"[\w.:%-]+")


def check_rules(config: Config) -> Iterator[Problem]:
    """Yield all faults of a configuration with valid types."""
    site, server = config.site, config.server
    if site.url and (wrong := _wrong_site_url(site.url)):
        yield Problem("site.url", f"{wrong}; it takes an address such as https://desk.example.com.")
    if not site.url and _is_wildcard(server.host):
        yield Problem(
            "server.host",
            f"{server.host} means every address, so the desk cannot know its public one. "
            "Set site.url, or listen on one address.",
        )
    if not _HOST.fullmatch(server.host):
        yield Problem(
            "server.host", "is neither an address nor a host name; it takes one such as 127.0.0.1."
        )
    if site.contact.email and not _is_mail_address(site.contact.email):
        yield Problem(
            "site.contact.email", "is not an email address; it takes one such as a@example.com."
        )
    yield from _check_page("site.contact.url", site.contact.url, "/contact")
    yield from _check_page("widget.privacy_url", config.widget.privacy_url, "/privacy")
    yield from _check_page("widget.sign_in_url", config.widget.sign_in_url, "/sign-in")
    if not _is_time_zone(site.timezone):
        yield Problem(
            "site.timezone",
            f"{site.timezone!r} is not a time zone; it takes a name such as Europe/Vienna.",
        )
    for network in server.trusted_proxies:
        try:
            ipaddress.ip_network(network)
        except ValueError:
            yield Problem(
                "server.trusted_proxies",
                f"{network!r} is not a network; it takes addresses and networks such as"
                " 10.0.0.0/8.",
            )
    yield from _check_bodies(config)
    yield from _check_origins("cors.origins", config.cors.origins)
    yield from _check_origins("widget.origins", config.widget.origins)
    yield from check_widget(config)
    for section, content in (
        ("content.web", config.content),
        *(("agents.content.web", agent.content) for agent in config.agents),
    ):
        yield from _check_web(section, content.web, allow_loopback=config.egress.allow_loopback)
        yield from _check_meaning(f"{section.removesuffix('web')}meaning", content.meaning)
        yield from _check_published_at(f"{section.removesuffix('web')}published_at", content)
    yield from check_model(config.model)
    if not config.content_folder.is_dir():
        yield Problem(
            "content.folder",
            f"there is no folder {config.content.folder!r} here; it takes the path of the "
            "content folder, relative to the site's folder.",
        )
    yield from _check_agents(config)
    yield from check_agent_limits(config.agent_limits)
    yield from check_tiers(config.tiers)
    yield from check_signature_agents(
        config.signature_agents, allow_loopback=config.egress.allow_loopback
    )
    published = [
        config.content_folder,
        *(config.of_agent(agent).content_folder for agent in config.agents),
    ]
    yield from check_files(config.files, config.folder, published)
    yield from check_issuers(
        config.issuers,
        config.folder,
        site.url,
        published=published,
        allow_loopback=config.egress.allow_loopback,
    )
    yield from check_notify(
        config.notify,
        publishes_keys=config.oauth.enabled,
        allow_loopback=config.egress.allow_loopback,
    )
    yield from _check_hours(config.tickets)
    yield from check_agents_txt(config.agents_txt, site.url or default_url(server))
    if wrong := wrong_store_url(config.store.url):
        yield Problem(
            "store.url",
            f"{wrong}; it takes sqlite: followed by a path, such as sqlite:desk.db, or"
            " postgresql://USER@HOST/DATABASE.",
        )
    yield from _check_direct_url(config.store)
    if config.valkey.url and (wrong := wrong_valkey_url(config.valkey.url)):
        yield Problem(
            "valkey.url", f"{wrong}; it takes an address such as redis://127.0.0.1:6379/0."
        )


def _check_direct_url(store: StoreSettings) -> Iterator[Problem]:
    """Yield faults of the database's address past its pooler."""
    key, url = "store.direct_url", store.direct_url
    if not url:
        return
    if not store.pooler:
        yield Problem(key, "is for store.pooler = true; without a pooler, leave it out.")
    if wrong := wrong_server_url(url):
        yield Problem(key, f"{wrong}; it takes postgresql://USER@HOST/DATABASE.")


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a folder of zones
        return False
    return True


def _check_bodies(config: Config) -> Iterator[Problem]:
    """Yield faults where the memory for bodies is below the largest body."""
    key = "server.max_body_bytes_under_way"
    for name, largest in (
        ("threads.max_body", config.threads.max_body),
        ("files.max_bytes", config.files.max_bytes),
    ):
        if largest > config.server.max_body_bytes_under_way:
            yield Problem(key, f"must be at least {name}.")


def _check_agents(config: Config) -> Iterator[Problem]:
    """Yield faults where two site agents share a path or content."""
    folders = [("the site", config.content_folder)]
    for place, agent in enumerate(config.agents):
        if not agent.name:
            yield Problem(
                "agents.name", f"table {place + 1} of [[agents]] has none that can be used."
            )
        elif agent.name in RESERVED:
            yield Problem(
                "agents.name",
                f"{agent.name!r} is reserved for an address of the desk; choose another name.",
            )
        elif any(agent.name == other.name for other in config.agents[:place]):
            yield Problem("agents.name", f"{agent.name!r} is used twice.")
        elif any(path.stem == agent.name for path in config.content_folder.glob(f"{agent.name}*")):
            yield Problem(
                "agents.name",
                f"the agent would hide the site's own pages at /{agent.name}. Choose "
                "another name, or move these pages.",
            )
        folder = config.of_agent(agent).content_folder
        if not folder.is_dir():
            yield Problem(
                "agents.content.folder",
                f"there is no folder {agent.content.folder!r}; {agent.name!r} needs one.",
            )
            continue
        for other, taken in folders:
            if folder == taken or folder in taken.parents or taken in folder.parents:
                yield Problem(
                    "agents.content.folder",
                    f"the content folders of {agent.name!r} and {other} overlap; each agent "
                    "needs a separate folder.",
                )
        folders.append((repr(agent.name), folder))


def check_public(config: Config) -> tuple[Problem, ...]:
    """Return the faults that make a valid configuration unsafe in public."""
    address = urlsplit(config.site.url)
    is_own = is_loopback(address.hostname or "")
    found: list[Problem] = []
    if address.scheme == "http" and not is_own:
        found.append(
            Problem(
                "site.url",
                f"{config.site.url} is not encrypted, so others could read credentials "
                "and conversations. Use an https:// address, except for this machine.",
            )
        )
    found += _find_unencrypted("cors.origins", config.cors.origins)
    found += _find_unencrypted("widget.origins", config.widget.origins)
    public = [one for one in config.widget.origins if not is_loopback(urlsplit(one).hostname or "")]
    if public and is_own:
        found.append(
            Problem(
                "site.url",
                f"is an address of this machine, so the chat on {public[0]} cannot reach the desk."
                " Set it to the desk's public https:// address.",
            )
        )
    if config.egress.allow_loopback and not is_own:
        found.append(
            Problem(
                "egress.allow_loopback",
                "is for tests only: it allows callers to reach servers on this machine. "
                "Set it to false on a desk that others can reach.",
            )
        )
    return tuple(found)


def _check_hours(tickets: Tickets) -> Iterator[Problem]:
    """Yield opening hours that cannot be read."""
    any_hours = ("Mo 09:00-10:00",)
    for key, hours, exceptions in (
        *(("tickets.hours", (line,), ()) for line in tickets.hours),
        *(("tickets.exceptions", any_hours, (line,)) for line in tickets.exceptions),
    ):
        try:
            read_opening_hours(hours, exceptions)
        except ValueError as error:
            yield Problem(key, f"{error}.")
    if tickets.exceptions and not tickets.hours:
        yield Problem("tickets.exceptions", "needs tickets.hours, from which these days differ.")


def _check_page(key: str, page: str, example: str) -> Iterator[Problem]:
    """Yield what is neither a web address nor a path of the site; empty is fine."""
    if page and (page.startswith("//") or (not page.startswith("/") and web_address(page) is None)):
        yield Problem(key, f"is neither an http(s) URL nor a path on the site such as {example}.")


def _check_origins(key: str, origins: Iterable[str]) -> Iterator[Problem]:
    """Yield origins that are not in the form that browsers send."""
    for origin in origins:
        if wrong := _wrong_origin(origin):
            yield Problem(key, f"{wrong}; it takes origins such as https://www.example.com.")


def _find_unencrypted(key: str, origins: Iterable[str]) -> Iterator[Problem]:
    """Yield origins whose pages others can change on the network."""
    for origin in map(urlsplit, origins):
        if origin.scheme == "http" and not is_loopback(origin.hostname or ""):
            yield Problem(
                key,
                f"{origin.geturl()} is not encrypted, so others could insert a script that uses the"
                " API. Use an https:// address, except for this machine.",
            )


def _check_meaning(section: str, meaning: Meaning) -> Iterator[Problem]:
    """Yield faults of model services; the owner may name one on this machine."""
    for key, url in (("url", meaning.url), ("rerank_url", meaning.rerank_url)):
        if url and (wrong := wrong_address(url, allow_loopback=True)):
            yield Problem(
                f"{section}.{key}", f"{wrong}; it takes one such as https://api.example.com/v1."
            )
    if meaning.provider == "endpoint" and not (meaning.url and meaning.model):
        yield Problem(f"{section}.provider", "endpoint also needs url and model.")


def _check_web(section: str, web: Web, *, allow_loopback: bool) -> Iterator[Problem]:
    """Yield faults of other servers' URLs; none is repeated, because it may contain a key."""
    for key, urls in (("urls", web.urls), ("sitemaps", web.sitemaps)):
        for number, url in enumerate(urls, 1):
            if wrong := wrong_address(url, allow_loopback=allow_loopback):
                yield Problem(
                    f"{section}.{key}",
                    f"its address {number} {wrong}; it takes one such as"
                    " https://www.example.com/returns.",
                )


def default_url(server: Server) -> str:
    """Return ``http://HOST:PORT`` of the listening address, without a final slash."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"http://{host}:{server.port}"


def _check_published_at(key: str, content: Content) -> Iterator[Problem]:
    """Yield the fault of a URL that the path of a page cannot continue."""
    address = web_address(content.published_at)
    if content.published_at and (address is None or address.query or address.fragment):
        told = "is not the address of a folder; it takes one such as https://www.example.com/docs/."
        yield Problem(key, told)


def _wrong_site_url(url: str) -> str | None:
    address = web_address(url)
    if address is None:
        return "is not an http(s) URL"
    if address.username is not None or address.password is not None:
        return "contains a user name or password"
    if address.path not in {"", "/"} or address.query or address.fragment:
        return "has more than scheme, host and port"
    return None


def _wrong_origin(text: str) -> str | None:
    address = web_address(text)
    if address is None:
        return f"{text!r} is not an origin of web pages"
    if address.username is not None or address.password is not None:
        return "one of them contains a user name or password"
    if "*" in text:
        return f"{text!r} means many origins; name each one"
    if address.path or address.query or address.fragment:
        return f"{text!r} has more than scheme, host and port"
    if text != origin_of(address):
        return f"{text!r} is {origin_of(address)!r} where a browser says it"
    return None


def _is_mail_address(text: str) -> bool:
    name, at, host = text.rpartition("@")
    return bool(name and at and host) and text.isprintable() and " " not in text


def _is_wildcard(host: str) -> bool:
    address = ip_address(host)
    return address is not None and address.is_unspecified


def check_notify(
    notify: Notify, *, publishes_keys: bool, allow_loopback: bool
) -> Iterator[Problem]:
    """Yield the faults of notifications; no URL is repeated, for its key.

    Parameters:
        publishes_keys: whether the desk has keys by which its requests can be verified.
        allow_loopback: whether URLs of this machine are allowed.
    """
    if notify.webhook:
        if wrong := wrong_address(notify.webhook, allow_loopback=allow_loopback):
            yield Problem(
                "notify.webhook", f"{wrong}; it takes an address such as https://chat.example/desk."
            )
        if not publishes_keys:
            yield Problem(
                "notify.webhook",
                "needs the desk's keys, which sign notifications. Set oauth.enabled = true.",
            )
    if notify.command and not notify.command[0].strip():
        yield Problem("notify.command", "has no program; it takes a program, then its arguments.")
