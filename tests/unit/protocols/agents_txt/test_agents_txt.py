"""agents.txt and agents.json: read, written and checked, as any program may do it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.protocols.agents_txt import (
    Access,
    AgentPolicy,
    Auth,
    Capability,
    Document,
    InvalidFile,
    NotWritable,
    Parameter,
    RateLimit,
    SiteInfo,
    examine_json,
    examine_text,
    may_read,
    parse_json,
    parse_text,
    write_json,
    write_text,
)

SITE = SiteInfo(name="Example Store", url="https://example.com")
SEARCH = Capability(
    id="product-search",
    endpoint="https://example.com/api/search",
    protocol="REST",
    method="GET",
    auth=Auth(
        type="oauth2",
        token_endpoint="https://example.com/oauth/token",
        docs_url="https://example.com/docs/auth",
        registration_endpoint="https://example.com/oauth/register",
    ),
    rate_limit=RateLimit(60, "minute"),
    description="Search the product catalog by keyword",
    openapi="https://example.com/openapi.yaml",
    scopes=("read", "write"),
    parameters=(
        Parameter(
            name="q",
            location="query",
            type="string",
            is_required=True,
            description="Search query - or several",
        ),
        Parameter(name="limit", location="query", type="integer"),
    ),
    further={"Since": "2026"},
)
STORE = Document(
    site=SiteInfo(
        name="Example Store",
        url="https://example.com",
        description="Premium outdoor gear: tents",
        contact="agents@example.com",
        privacy_policy="https://example.com/privacy",
    ),
    generated_at="2026-01-31T12:00:00Z",
    capabilities=(SEARCH,),
    access=Access(allow=("/api/*", "/products/*"), disallow=("/admin/*",)),
    agents={
        "*": AgentPolicy(),
        "claude": AgentPolicy(
            rate_limit=RateLimit(200, "hour"),
            capabilities=("product-search",),
            further={"Note": "welcome"},
        ),
        "gpt": AgentPolicy(rate_limit=RateLimit(1, "second")),
    },
    metadata={"Agents-JSON": "https://example.com/.well-known/agents.json", "X-Mood": ""},
)
HEAD = "Spec-Version: 1.0\nSite-Name: A\nSite-URL: https://a.example\n"
BLOCK = f"{HEAD}Capability: a\n  Endpoint: https://a.example/a\n  Protocol: REST\n"

SAID = st.text(
    st.sampled_from('aZ9 :#,/()-\u2014\u00a0\u00fc\U0001f600\\"'), min_size=1, max_size=6
).filter(lambda text: text == text.strip(" "))
WORD = st.sampled_from(("q", "Q_2", "GET", "REST", "query", "required"))
NAMED = st.sampled_from(("a", "-", "2-b", "capability"))
OWN_KEY = st.sampled_from(("X-Mood", "since", "9_a.b"))
OWN = st.dictionaries(OWN_KEY, SAID | st.just(""), max_size=2)
RATES = st.builds(
    RateLimit, st.integers(0, 10**9 - 1), st.sampled_from(("second", "minute", "hour", "day"))
)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


CAPABILITIES = st.builds(
    Capability,
    id=NAMED,
    endpoint=SAID,
    protocol=WORD,
    method=maybe(WORD),
    auth=st.builds(
        Auth,
        type=WORD,
        token_endpoint=maybe(SAID),
        docs_url=maybe(SAID),
        registration_endpoint=maybe(SAID),
    ),
    rate_limit=maybe(RATES),
    description=maybe(SAID),
    openapi=maybe(SAID),
    scopes=st.lists(WORD, max_size=3).map(tuple),
    parameters=st.lists(
        st.builds(
            Parameter,
            name=WORD,
            location=WORD,
            type=WORD,
            is_required=st.booleans(),
            description=maybe(SAID),
        ),
        max_size=2,
    ).map(tuple),
    further=OWN,
)
DOCUMENTS = st.builds(
    Document,
    site=st.builds(
        SiteInfo,
        name=SAID,
        url=SAID,
        description=maybe(SAID),
        contact=maybe(SAID),
        privacy_policy=maybe(SAID),
    ),
    version=SAID,
    generated_at=maybe(SAID),
    capabilities=st.lists(CAPABILITIES, max_size=2).map(tuple),
    access=st.builds(
        Access,
        allow=st.lists(SAID, max_size=2).map(tuple),
        disallow=st.lists(SAID, max_size=2).map(tuple),
    ),
    agents=st.dictionaries(
        SAID,
        st.builds(
            AgentPolicy,
            rate_limit=maybe(RATES),
            capabilities=maybe(st.lists(NAMED, max_size=2).map(tuple)),
            further=OWN,
        ),
        max_size=2,
    ),
    metadata=OWN,
)


@given(DOCUMENTS)
def test_what_is_written_as_text_and_read_again_is_the_same(document: Document) -> None:
    assert examine_text(write_text(document)).document == document


@settings(max_examples=15)
@given(DOCUMENTS)
def test_what_is_written_as_json_and_read_again_is_the_same(document: Document) -> None:
    assert examine_json(write_json(document)).document == document


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_at_all_is_read_or_refused_by_its_lines(text: str) -> None:
    for reading in (examine_text(text), examine_text(BLOCK + text), examine_text(text + BLOCK)):
        assert reading.document is not None
        assert all(fault.line is None or fault.line >= 1 for fault in reading.faults)
    assert examine_json(text.encode()).faults


@pytest.mark.requirement("AGT-4-1", "AGT-3.3-3", "AGT-3.3-4", "AGT-3.3-5", "AGT-3.4-12")
def test_both_forms_say_the_same() -> None:
    assert parse_text(write_text(STORE)) == STORE == parse_json(write_json(STORE))


@pytest.mark.requirement("AGT-3.4-14", "AGT-3.4-8", "AGT-6.4-1", "AGT-6.4-2")
def test_the_text_has_the_keys_as_the_specification_writes_them() -> None:
    assert write_text(STORE) == (
        "# agents.txt\n"
        "Spec-Version: 1.0\n"
        "Generated-At: 2026-01-31T12:00:00Z\n"
        "\n"
        "Site-Name: Example Store\n"
        "Site-URL: https://example.com\n"
        "Site-Description: Premium outdoor gear: tents\n"
        "Site-Contact: agents@example.com\n"
        "Site-Privacy-Policy: https://example.com/privacy\n"
        "\n"
        "Agents-JSON: https://example.com/.well-known/agents.json\n"
        "X-Mood:\n"
        "\n"
        "Capability: product-search\n"
        "  Endpoint: https://example.com/api/search\n"
        "  Method: GET\n"
        "  Protocol: REST\n"
        "  Auth: oauth2\n"
        "  Auth-Endpoint: https://example.com/oauth/token\n"
        "  Auth-Docs: https://example.com/docs/auth\n"
        "  Registration-Endpoint: https://example.com/oauth/register\n"
        "  Scopes: read, write\n"
        "  Rate-Limit: 60/minute\n"
        "  Description: Search the product catalog by keyword\n"
        "  OpenAPI: https://example.com/openapi.yaml\n"
        "  Param: q (query, string, required) - Search query - or several\n"
        "  Param: limit (query, integer)\n"
        "  Since: 2026\n"
        "\n"
        "Allow: /api/*\n"
        "Allow: /products/*\n"
        "Disallow: /admin/*\n"
        "\n"
        "Agent: *\n"
        "\n"
        "Agent: claude\n"
        "  Rate-Limit: 200/hour\n"
        "  Capabilities: product-search\n"
        "  Note: welcome\n"
        "\n"
        "Agent: gpt\n"
        "  Rate-Limit: 1/second\n"
    )


def test_the_json_form_has_the_members_of_the_specification() -> None:
    written = msgspec.json.decode(write_json(STORE))
    assert written["site"]["privacyPolicy"] == "https://example.com/privacy"
    assert written["capabilities"][0] == {
        "id": "product-search",
        "description": "Search the product catalog by keyword",
        "endpoint": "https://example.com/api/search",
        "method": "GET",
        "protocol": "REST",
        "auth": {
            "type": "oauth2",
            "tokenEndpoint": "https://example.com/oauth/token",
            "docsUrl": "https://example.com/docs/auth",
            "registrationEndpoint": "https://example.com/oauth/register",
        },
        "rateLimit": {"requests": 60, "window": "minute"},
        "openapi": "https://example.com/openapi.yaml",
        "scopes": ["read", "write"],
        "parameters": [
            {
                "name": "q",
                "in": "query",
                "type": "string",
                "required": True,
                "description": "Search query - or several",
            },
            {"name": "limit", "in": "query", "type": "integer", "required": False},
        ],
        "Since": "2026",
    }
    assert written["access"] == {"allow": ["/api/*", "/products/*"], "disallow": ["/admin/*"]}
    assert written["agents"]["*"] == {}


def test_the_examples_of_the_specification_are_read_without_a_fault(shared_folder: Path) -> None:
    text = (shared_folder / "specs" / "agents-txt-1.0.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL)
    whole = [block for kind, block in blocks if not kind and "Spec-Version: 1.0\n\n" in block]
    assert len(whole) == 3
    for example in whole:
        assert parse_text(example).capabilities
    (example,) = (block for kind, block in blocks if kind == "json")
    assert parse_json(example.encode()).capabilities[0].parameters[0].is_required
    store = parse_text(whole[1])
    assert store.capabilities[0].parameters[0].description == "Search query"
    assert store.agents["gpt"].capabilities == ("product-search", "browse-catalog")
    assert parse_text(whole[2]).agents["*"].rate_limit == RateLimit(100, "hour")


@pytest.mark.requirement("AGT-3.1-1", "AGT-3.1-2", "AGT-3.1-3", "AGT-3.4-3", "AGT-3.7-1")
def test_keys_are_read_in_either_case_and_comments_and_blank_lines_say_nothing() -> None:
    read = parse_text(
        "\ufeff# agents.txt\r\n"
        "sPEC-version : 1.0\r\n"
        "# Site-Name: Not this\r\n"
        "SITE-NAME: Groß & Klein \r\n"
        "site-url: https://a.example\r\n"
        "Mood:  Good: very \r\n"
        "CAPABILITY: a\r\n"
        "\r\n"
        "\tendpoint: https://a.example/A?b=C\r\n"
        "  # a comment: within\r\n"
        "    PROTOCOL: REST\r\n"
        "  param: q (query , string,required) \u2014 What - to find\r\n"
        "  Colour: Blue\r\n"
        "Capability: b\r\n"
        "  Endpoint: https://a.example/b\r\n"
        "  Protocol: MCP\r\n"
    )
    assert read.site.name == "Groß & Klein"
    assert read.metadata == {"Mood": "Good: very"}
    first, second = read.capabilities
    assert (first.endpoint, first.method, first.auth.type) == (
        "https://a.example/A?b=C",
        None,
        "none",
    )
    assert first.further == {"Colour": "Blue"}
    assert first.parameters == (
        Parameter(
            name="q",
            location="query",
            type="string",
            is_required=True,
            description="What - to find",
        ),
    )
    assert second.protocol == "MCP"


def test_members_that_nobody_knows_are_kept() -> None:
    body = (
        b'{"specVersion": "1.0", "since": 2026, "site": {"name": "A", "url": "https://a.example",'
        b' "logo": {"w": 1}}, "capabilities": [{"id": "a", "description": "A", "protocol": "REST",'
        b' "endpoint": "https://a.example/a", "auth": {"type": "none", "hint": [1]}, "beta": true,'
        b' "note": "new", "parameters": [{"name": "q", "in": "query", "type": "string",'
        b' "max": 9}]}], "access": {"allow": [], "disallow": []}, "agents": {"*": {"x": null}}}'
    )
    read = parse_json(body)
    again = msgspec.json.decode(write_json(read))
    expected = msgspec.json.decode(body)
    expected["capabilities"][0]["parameters"][0]["required"] = False
    assert again == expected
    assert "  note: new\n" in write_text(read)
    assert "beta" not in write_text(read)


TEXT_FAULTS = {
    "": ["Spec-Version: is missing", "Site-Name: is missing", "Site-URL: is missing"],
    "# Spec-Version: 1.0\nSite-Name: A\nSite-URL: https://a.example\n": [
        "line 1, Spec-Version: warning: is in a comment",
    ],
    HEAD.replace("Spec-Version: 1.0", "#spec-version:2.0"): [
        "line 1, Spec-Version: warning: is in a comment",
        "line 1, Spec-Version: '2.0' is not a known version",
    ],
    HEAD.replace("1.0", "2.0"): ["line 1, Spec-Version: '2.0' is not a known version"],
    HEAD.replace("https:", "http:"): ["line 3, Site-URL: is not encrypted"],
    f"{HEAD}Generated-At: yesterday\n": ["line 4, Generated-At: is not an ISO 8601"],
    f"{HEAD}Generated-At: 2026-01-31T12:00:00+01:00\n": [
        "line 4, Generated-At: warning: is not written as"
    ],
    f"{HEAD}Generated-At: 2026-01-31\n": ["line 4, Generated-At: warning: is not written as"],
    f"{HEAD}Sitemap: a\nSitemap: b\n": ["line 5, Sitemap: warning: occurs twice, first in line 4"],
    f"{BLOCK}  Note: a\n  note: b\n": ["line 8, note: warning: occurs twice, first in line 7"],
    f"{BLOCK}  Note: a\x07b\n": ["line 7, Note: contains a line break"],
    f"{HEAD}Agent: a\x1bb\n": ["line 4, Agent: 'a\\x1bb' never matches"],
    f"{HEAD}Site-Privacy-Policy: /privacy\n": ["line 4, Site-Privacy-Policy: is not a full URL"],
    f"{HEAD}Site-Contact: nobody\n": ["line 4, Site-Contact: warning: is not a mail address"],
    f"{HEAD}Agents-JSON: agents.json\n": ["line 4, Agents-JSON: is not a full URL"],
    f"{HEAD}agents-json: agents.json\n": ["line 4, Agents-JSON: is not a full URL"],
    f"{HEAD}AGENTS-JSON: /agents.json\n": ["line 4, Agents-JSON: is not a full URL"],
    f"{HEAD}\nnonsense\n": ["line 5: is not 'Key: value'"],
    f"{HEAD}Not a key: b\n": ["line 4: is not 'Key: value'"],
    f"{HEAD}  Endpoint: https://a.example\n": [
        "line 4, Endpoint: is indented, but belongs to no block"
    ],
    f"{HEAD}Site-Name: B\n": ["line 4, Site-Name: occurs twice, first in line 2"],
    f"{HEAD}Site-Contact:\n": ["line 4, Site-Contact: has no value"],
    f"{HEAD}Note: a\x07b\n": ["line 4, Note: contains a line break or another control"],
    f"{HEAD}Note: a\u2028b\n": ["line 4, Note: contains a line break or another control"],
    f"{HEAD}Disallow: admin\n": ["line 4, Disallow: 'admin' is not a path"],
    f"{HEAD}Agent: My Bot\n": ["line 4, Agent: 'My Bot' never matches"],
    f"{HEAD}Agent: a\nAgent: A\n": ["line 5, Agent: 'A' occurs twice"],
    f"{HEAD}Agent: a\nAgent: a\n": ["line 5, Agent: 'a' occurs twice"],
    f"{HEAD}Agent: a\n  Capabilities: b\n": ["line 5, Capabilities: there is no capability 'b'"],
    f"{HEAD}Agent: a\n  Capabilities:\n": ["line 5, Capabilities: warning: is empty"],
    f"{HEAD}Agent: a\n  Rate-Limit: 0/minute\n": ["line 5, Rate-Limit: is less than 1"],
    f"{HEAD}Agent: a\n  Rate-Limit: 5/week\n": ["line 5, Rate-Limit: is 'week'; it must be one of"],
    f"{HEAD}Agent: a\n  Rate-Limit: often\n": ["line 5, Rate-Limit: 'often' is not a limit"],
    f"{HEAD}Capability: a b\n": [
        "line 4, Capability: 'a b' is not valid; use lowercase letters",
        "line 4, Protocol: is missing",
        "line 4, Endpoint: is missing",
    ],
    f"{BLOCK}Capability: a\n  Endpoint: https://a.example/b\n  Protocol: REST\n": [
        "line 7, Capability: 'a' occurs twice"
    ],
    BLOCK.replace("REST", "rest"): ["line 6, Protocol: is 'rest'; it must be one of REST"],
    BLOCK.replace("https://a.example/a", "/a"): ["line 5, Endpoint: is not a full URL"],
    BLOCK.replace("https://a.example/a", "https://b.example/a"): [
        "line 5, Endpoint: is not on the site's host, a.example"
    ],
    BLOCK.replace("https://a.example/a", "http://a.example/a"): [
        "line 5, Endpoint: is not encrypted"
    ],
    BLOCK.replace("https://a.example/a", "https://u:p@a.example/a"): [
        "line 5, Endpoint: contains a user name or password"
    ],
    BLOCK.replace("https://a.example/a", "https://a.example/a?api_key=1"): [
        "line 5, Endpoint: seems to contain a secret"
    ],
    BLOCK.replace("REST", "WebSocket"): ["line 5, Endpoint: is not the address of a WebSocket"],
    f"{BLOCK}  Method: get\n": ["line 7, Method: 'get' is not a method of HTTP"],
    f"{BLOCK}  Auth: magic\n": ["line 7, Auth: is 'magic'; it must be one of none, api-key"],
    f"{BLOCK}  Auth: oauth2\n": ["line 4, Auth-Endpoint: is missing; oauth2 needs"],
    f"{BLOCK}  Auth: api-key\n": ["line 4, Auth-Docs: warning: is missing"],
    f"{BLOCK}  Registration-Endpoint: https://a.example/r\n": [
        "line 7, Registration-Endpoint: warning: applies only to the auth oauth2"
    ],
    f"{BLOCK}  Scopes: a\n": ["line 7, Scopes: warning: applies only to the auth oauth2"],
    f"{BLOCK}  OpenAPI: openapi.yaml\n": ["line 7, OpenAPI: is not a full URL"],
    f"{BLOCK}  Description: {'a' * 501}\n": ["line 7, Description: warning: has more than 500"],
    f"{BLOCK}  Param: q\n": ["line 7, Param: is not valid"],
    f"{BLOCK}  Param: q (cookie, string)\n": ["line 7, Param: is 'cookie'; it must be one of"],
    f"{BLOCK}  Param: q (query, text)\n": ["line 7, Param: is 'text'; it must be one of"],
    f"{BLOCK}  Param: X-Q (header, string)\n": [
        "line 7, Param: warning: 'X-Q' has other characters than letters"
    ],
    f"{BLOCK}  Param: q (query, string)\n  Param: q (query, integer)\n": [
        "line 8, Param: 'q' occurs twice"
    ],
    BLOCK.replace("  Protocol", " Protocol"): ["line 6, Protocol: is indented by one space"],
}


@pytest.mark.requirement(
    "AGT-3.1-4",
    "AGT-3.2-2",
    "AGT-3.3-1",
    "AGT-3.3-2",
    "AGT-3.3-6",
    "AGT-3.4-1",
    "AGT-3.4-2",
    "AGT-3.4-4",
    "AGT-3.4-13",
    "AGT-7.1-1",
    "AGT-8.1-1",
    "AGT-8.2-1",
    "AGT-8.4-2",
    "AGT-8.5-1",
)
def test_errors_of_a_text_are_reported_with_their_lines(subtests: pytest.Subtests) -> None:
    for text, problems in TEXT_FAULTS.items():
        with subtests.test(text=text):
            faults = [
                fault for fault in examine_text(text).faults if "there is none" not in str(fault)
            ]
            told = [str(fault) for fault in faults]
            assert len(told) == len(problems), told
            for line, expected in zip(told, problems, strict=True):
                assert line.startswith(expected)
            if any(fault.is_error for fault in faults):
                with pytest.raises(
                    InvalidFile, match=re.escape(next(str(f) for f in faults if f.is_error))
                ):
                    parse_text(text)
            else:
                assert parse_text(text) is not None


@pytest.mark.requirement("AGT-8.1-2")
def test_addresses_of_this_machine_may_be_unencrypted() -> None:
    text = BLOCK.replace("https://a.example", "http://127.0.0.1:8080")
    assert parse_text(text).site.url == "http://127.0.0.1:8080"
    socket = BLOCK.replace("https://a.example/a", "wss://a.example/a")
    assert parse_text(socket.replace("REST", "WebSocket")).capabilities[0].protocol == "WebSocket"


JSON_FAULTS = {
    b"\n{": "line 2: ",
    b'{"a": 1, "a": 2}': "",
    b"[]": "is not a JSON object",
    b"\xff": "",
    b'{"site": []}': "site: has the wrong type; it must be an object",
    b'{"specVersion": 1}': "specVersion: has the wrong type; it must be text",
    b'{"capabilities": {}}': "capabilities: has the wrong type; it must be a list",
    b'{"capabilities": [1]}': "capabilities[0]: has the wrong type; it must be an object",
    b'{"capabilities": [{"rateLimit": {"requests": true}}]}': (
        "capabilities[0].rateLimit.requests: has the wrong type; it must be a whole number"
    ),
    b'{"capabilities": [{"scopes": [1]}]}': (
        "capabilities[0].scopes[0]: has the wrong type; it must be text"
    ),
    b'{"capabilities": [{"parameters": [{"required": 1}]}]}': (
        "capabilities[0].parameters[0].required: has the wrong type; it must be true or false"
    ),
    b'{"metadata": {"a": 1}}': "metadata.a: has the wrong type; it must be text",
    b'{"capabilities": [{"id": "a"}]}': "capabilities[0].endpoint: is missing",
    b'{"site": {"name": "a\\nb"}}': "site.name: contains a line break",
    b'{"agents": {"a": {"rateLimit": {"requests": 1, "window": "week"}}}}': (
        "agents.a.rateLimit.window: is 'week'"
    ),
    b'{"since": "a\\u0007"}': "since: contains a line break",
    b'{"metadata": {"further": "a\\u0007"}}': "metadata.further: contains a line break",
    b'{"agents": {"a\\n\\u001b[2Jb": {"rateLimit": {"requests": 0}}}}': (
        r"agents.a\n\x1b[2Jb.rateLimit.requests: is less than 1"
    ),
    b"{}": "access: warning: is missing",
}


def test_what_is_of_another_type_is_reported_once() -> None:
    body = b'{"capabilities": [{"rateLimit": {"requests": 1.5, "window": "day"}}]}'
    told = [str(fault) for fault in examine_json(body).faults if "rateLimit" in fault.place]
    assert told == [
        "capabilities[0].rateLimit.requests: has the wrong type; it must be a whole number."
    ]


def test_errors_of_json_are_reported_with_their_places(subtests: pytest.Subtests) -> None:
    for body, problem in JSON_FAULTS.items():
        with subtests.test(body=body):
            told = [str(fault) for fault in examine_json(body).faults]
            assert any(line.startswith(problem) for line in told), told
            with pytest.raises(InvalidFile):
                parse_json(body)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (Document(site=SiteInfo(name="a\nb", url="https://a.example")), "site.name"),
        (Document(site=SiteInfo(name=" a", url="https://a.example")), "site.name"),
        (Document(site=SITE, metadata={"site-name": "B"}), "metadata.site-name"),
        (Document(site=SITE, metadata={"a b": "B"}), "metadata.a b"),
        (Document(site=SITE, metadata={"a": "1", "A": "2"}), "metadata.A"),
        (
            Document(
                site=SITE,
                capabilities=(msgspec.structs.replace(SEARCH, scopes=("a,b",)),),
            ),
            "capabilities[0].scopes[0]",
        ),
    ],
)
def test_what_would_read_otherwise_is_not_written(document: Document, place: str) -> None:
    with pytest.raises(NotWritable, match=re.escape(f"{place}: cannot be written")):
        write_text(document)


@pytest.mark.requirement("AGT-3.5-1", "AGT-3.5-2", "AGT-9.2-16", "AGT-9.2-17")
def test_the_longest_pattern_decides_and_endpoints_are_always_open(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[str, bool]] = [
        ("/", True),
        ("/admin", True),
        ("/admin/", False),
        ("/admin/users/1", False),
        ("/admin/help/", True),
        ("/admin/help/keys", True),
        ("/admin/search", True),
        ("/admin/search/deeper", False),
        ("/a/private/b", False),
        ("/private/b", True),
        ("/report.pdf", False),
        ("/report.pdf?page=1", True),
        ("/pdf", True),
        ("/same", True),
        ("/caf%c3%a9/menu", False),
        ("/café/menu", False),
        ("/%61dmin/users", False),
        ("/a%2Fb", False),
        ("/a%2fb", False),
        ("/a/b", True),
        ("/100%", True),
    ]
    for path, is_allowed in cases:
        with subtests.test(path=path, is_allowed=is_allowed):
            search = Capability(
                id="a", endpoint="https://example.com/admin/search", protocol="REST"
            )
            document = Document(
                site=SITE,
                capabilities=(search,),
                access=Access(
                    allow=("/admin/help/", "/same"),
                    disallow=("/admin/*", "/*/private/*", "/*.pdf$", "/same", "/café/", "/a%2Fb"),
                ),
            )
            assert may_read(document, path) is is_allowed
            assert may_read(Document(site=SITE), path)
