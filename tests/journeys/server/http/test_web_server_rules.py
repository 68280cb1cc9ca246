"""The rules of Traefik and of a Cloudflare tunnel choose between a desk and its website.

Neither program is a package of Debian or of an index: the rules are read as their manuals say.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from aitp_desk.protocols.base.discovery_links import link_header
from tests.support.desk.command import run
from tests.support.desk.server import SITE, serving
from tests.support.sites.shop import make_shop

HOST = "www.example.com"
OF_THE_WEBSITE = (
    *("/", "/about", "/policies/returns", "/assets/own.css", "/v1", "/mcps", "/x/mcp", "/docs/x"),
    *("/robots.txt", "/sitemap.xml", "/.well-known/", "/.well-known/security.txt", "/agent"),
)
URL = ("--set", f"site.url=https://{HOST}")


async def settings_of(folder: Path, kind: str) -> dict[str, object]:
    """What the command prints for a server that reads YAML."""
    code, lines, errors = await run("snippet", kind, folder, *URL)
    assert (code, errors) == (0, [])
    found: dict[str, object] = yaml.safe_load("\n".join(lines))
    return found


async def desk_addresses(folder: Path, data: Path) -> set[str]:
    async with serving(data, folder=folder) as desk:
        paths = {route.path for _, route in desk.dispatcher.routes}
    return {re.sub(r"\{\w+\}", "x", path) for path in paths - {"/", "/{path:.*}"}} - {
        *OF_THE_WEBSITE
    }


async def test_a_tunnel_sends_every_address_of_the_desk_to_it_and_no_other(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    rules = (await settings_of(shop, "cloudflare"))["ingress"]
    assert isinstance(rules, list)
    assert rules[-1] == {"service": "http_status:404"}, "a tunnel without a last rule is refused"

    def service(path: str) -> str:
        """The first rule whose expression matches; one without matches every path."""
        return str(next(rule for rule in rules if re.search(rule.get("path", ""), path))["service"])

    addresses = await desk_addresses(shop, tmp_path / "data")
    assert {"/mcp", "/a2a", "/agents.txt", "/openapi.json", "/widget.js", "/docs"} <= addresses
    assert {path for path in addresses if service(path) != "http://127.0.0.1:8080"} == set()
    assert {service(path) for path in OF_THE_WEBSITE} == {"http://127.0.0.1:80"}
    assert all(rule["hostname"] == HOST for rule in rules[:-1])


async def test_traefik_sends_every_address_of_the_desk_to_it_and_no_other(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    http = (await settings_of(shop, "traefik"))["http"]
    assert isinstance(http, dict)
    routers, middlewares = http["routers"], http["middlewares"]
    assert http["services"]["aitp-desk"]["loadBalancer"]["servers"] == [
        {"url": "http://127.0.0.1:8080"}
    ]
    assert {router["service"] for router in routers.values()} == {"aitp-desk"}
    assert middlewares["aitp-desk-link"]["headers"]["customResponseHeaders"]["Link"] == (
        link_header()
    )
    assert all(f"Host(`{HOST}`)" in router["rule"] for router in routers.values())
    expressions = [
        expression
        for router in routers.values()
        for expression in re.findall(r"PathRegexp\(`([^`]+)`\)", router["rule"])
    ]
    exact = re.findall(r"Path\(`([^`]+)`\)", routers["aitp-desk-docs"]["rule"])

    def is_desk(path: str) -> bool:
        return path in exact or any(re.search(expression, path) for expression in expressions)

    addresses = await desk_addresses(shop, tmp_path / "data")
    assert {path for path in addresses if not is_desk(path)} == set()
    assert [path for path in OF_THE_WEBSITE if is_desk(path)] == []


@pytest.mark.parametrize(
    ("accept", "is_sent"),
    [
        ("application/agent+json", True),
        ("text/html;q=0.9, application/agent+json;q=1.0", True),
        ("application/agent+json;q=0, */*", False),
        ("text/html, application/agent+json", False),
        ("*/*", False),
    ],
)
async def test_traefik_sends_who_names_the_manifest_there(accept: str, is_sent: bool) -> None:
    http = (await settings_of(SITE, "traefik"))["http"]
    assert isinstance(http, dict)
    router = http["routers"]["aitp-desk-manifest"]
    conditions = re.findall(r"(!?)HeaderRegexp\(`Accept`, `([^`]+)`\)", router["rule"])
    assert len(conditions) == 2
    matches = [bool(re.search(regexp, accept)) != bool(no) for no, regexp in conditions]
    assert all(matches) == is_sent
    assert router["middlewares"] == ["aitp-desk-home"]
    assert http["middlewares"]["aitp-desk-home"] == {"replacePath": {"path": "/agent/"}}


@pytest.mark.parametrize("kind", ["traefik", "cloudflare"])
async def test_rules_that_name_a_host_need_the_address_of_the_site(kind: str) -> None:
    code, lines, errors = await run("snippet", kind, SITE, "--set", "site.url=")
    assert (code, lines) == (1, [])
    assert errors == [
        "site.url is not set. Set it to your site's address, whose host the settings name."
    ]
