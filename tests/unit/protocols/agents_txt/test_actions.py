"""Actions, keys and further protocols as agents.txt tells of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.config import AgentLimits, AgentsTxt, Contact, Limits, OwnCapability, Site, SiteAgent
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.agents_txt import (
    Auth,
    Capability,
    Parameter,
    RateLimit,
    examine_json,
    parse_text,
    write_json,
    write_text,
)
from aitp_desk.protocols.agents_txt.wire import (
    EntryPaths,
    FurtherAgent,
    SiteDescription,
    check_ids,
    describe,
)

URL = "https://a.example"
SITE = Site(name="A", url=URL)
EVERYTHING = EntryPaths(
    converse="/agent/converse",
    threads="/v1/threads",
    actions="/capabilities/",
    openapi="/openapi.json",
    mcp="/mcp",
    a2a="/a2a",
    token="/oauth/token",
    register="/oauth/register",
)
FIND = Action("find_tent", "Finds a tent\nfor a night.")
BOOK = Action(
    "book_tent",
    "Books a tent.",
    kind="action",
    open_to="actions",
    input_schema={
        "type": "object",
        "properties": {
            "tent": {"type": "string", "description": "Which\none."},
            "nights": {"type": ["integer", "null"]},
            "price": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "guests": {"type": "array"},
            "dog": {"type": "boolean"},
            "odd name (sic)": {"type": "string"},
            "either": {"type": ["string", "integer"]},
        },
        "required": ["tent"],
    },
)


def declared(
    addresses: EntryPaths = EVERYTHING, settings: AgentsTxt | None = None, **more: object
) -> SiteDescription:
    given = {
        "site": SITE,
        "settings": settings or AgentsTxt(),
        "limits": Limits(),
        "agents": (),
        "actions": (FIND, BOOK),
        "addresses": addresses,
        **more,
    }
    return SiteDescription(**given)  # type: ignore[arg-type]


def blocks(of: SiteDescription) -> dict[str, Capability]:
    """The capabilities by their ids, from a file that was written and read without a fault."""
    document = describe(of)
    assert parse_text(write_text(document)) == document
    assert not examine_json(write_json(document)).errors
    return {one.id: one for one in document.capabilities}


@pytest.mark.requirement(
    "AGT-3.4-1", "AGT-3.4-4", "AGT-3.4-5", "AGT-3.4-6", "AGT-3.4-7", "AGT-3.4-8", "AGT-3.4-11",
    "AGT-3.4-12", "AGT-3.4-13", "AGT-6.4-1", "AGT-6.4-2",
)  # fmt: skip
def test_an_action_is_listed_with_how_to_call_it() -> None:
    found = blocks(declared(open_scopes=("actions:book_tent",)))
    assert found["find-tent"] == Capability(
        id="find-tent",
        endpoint=f"{URL}/capabilities/find_tent",
        method="POST",
        protocol="REST",
        description="Finds a tent for a night.",
        rate_limit=RateLimit(30, "minute"),
        openapi=f"{URL}/openapi.json",
    )
    book = found["book-tent"]
    assert book.auth == Auth(
        type="oauth2",
        token_endpoint=f"{URL}/oauth/token",
        docs_url=f"{URL}/",
        registration_endpoint=f"{URL}/oauth/register",
    )
    assert book.scopes == ("actions:book_tent",)
    assert book.rate_limit == RateLimit(30, "minute")
    assert book.parameters == (
        Parameter(
            name="tent", location="body", type="string", is_required=True, description="Which one."
        ),
        Parameter(name="nights", location="body", type="integer"),
        Parameter(name="price", location="body", type="number"),
        Parameter(name="dog", location="body", type="boolean"),
    )


@pytest.mark.requirement("AGT-6.1-1", "AGT-6.3-1", "AGT-8.2-1")
def test_where_no_tokens_are_given_a_key_and_its_documentation_are_named() -> None:
    addresses = EntryPaths(converse="/c", threads="/t", actions="/capabilities/")
    for site, own, docs in (
        (SITE, AgentsTxt(), f"{URL}/"),
        (Site(name="A", url=URL, contact=Contact(url="/contact")), AgentsTxt(), f"{URL}/contact"),
        (SITE, AgentsTxt(auth_docs="/keys"), f"{URL}/keys"),
    ):
        book = blocks(declared(addresses, own, site=site))["book-tent"]
        assert book.auth == Auth(type="api-key", docs_url=docs)
        assert book.scopes == ()


@pytest.mark.requirement("AGT-6.4-1")
@pytest.mark.parametrize(
    ("scopes", "registers"),
    [(("threads",), False), (("actions",), True), (("actions:find_tent",), False)],
)
def test_registration_is_listed_where_it_opens_the_action(
    scopes: tuple[str, ...], registers: bool
) -> None:
    book = blocks(declared(open_scopes=scopes))["book-tent"]
    assert (book.auth.registration_endpoint is not None) is registers


def test_what_answers_from_content_takes_a_question() -> None:
    found = blocks(declared(actions=(Action("content_search", "Answers a question."),)))
    (query,) = found["content-search"].parameters
    assert (query.name, query.is_required) == ("query", True)


def test_each_protocol_is_listed_by_its_address_where_it_is_served() -> None:
    found = blocks(declared())
    assert list(found) == ["converse", "threads", "mcp", "a2a", "find-tent", "book-tent"]
    assert (found["mcp"].protocol, found["mcp"].endpoint) == ("MCP", f"{URL}/mcp")
    assert (found["a2a"].protocol, found["a2a"].endpoint) == ("A2A", f"{URL}/a2a")
    few = blocks(declared(EntryPaths(converse="/c", threads="/t")))
    assert list(few) == ["converse", "threads"]


def test_an_agent_that_may_call_one_action_learns_the_ways_to_it() -> None:
    agents = (AgentLimits(name="narrow", actions=("book_tent",)),)
    document = describe(declared(agents=agents))
    assert document.agents["narrow"].capabilities == ("converse", "mcp", "a2a", "book-tent")


def test_actions_of_further_agents_are_listed_below_their_names() -> None:
    limits = Limits(converse_per_minute=7, authenticated_per_minute=9)
    further = (
        FurtherAgent(
            agent=SiteAgent(name="books", description="Knows books."),
            limits=limits,
            actions=(FIND, BOOK),
        ),
        FurtherAgent(agent=SiteAgent(name="old_maps", title="Maps"), limits=Limits(enabled=False)),
    )
    agents = (
        AgentLimits(name="talker", actions=("threads",)),
        AgentLimits(name="finder", actions=("find_tent",)),
    )
    of = declared(further=further, agents=agents, actions=(FIND,))
    found = blocks(of)
    assert found["threads-books"] == Capability(
        id="threads-books",
        endpoint=f"{URL}/books/v1/threads",
        method="POST",
        protocol="REST",
        rate_limit=RateLimit(7, "minute"),
        description="Knows books.",
    )
    maps = found["threads-old-maps"]
    assert maps.endpoint == f"{URL}/old_maps/v1/threads"
    assert (maps.rate_limit, maps.description) == (None, "Conversations with Maps.")
    assert found["mcp-books"].endpoint == f"{URL}/books/mcp"
    assert found["a2a-old-maps"].endpoint == f"{URL}/old_maps/a2a"
    book = found["book-tent-books"]
    assert book.endpoint == f"{URL}/books/capabilities/book_tent"
    assert book.openapi == f"{URL}/books/openapi.json"
    assert (book.rate_limit, book.scopes) == (RateLimit(9, "minute"), ("actions:book_tent",))
    policies = describe(of).agents
    assert policies["talker"].capabilities == ("threads", "threads-books", "threads-old-maps")
    assert policies["finder"].capabilities == (
        "converse", "mcp", "a2a", "find-tent", "mcp-books", "a2a-books", "find-tent-books",
        "mcp-old-maps", "a2a-old-maps",
    )  # fmt: skip


def test_a_further_agent_s_block_has_another_id_where_its_own_is_taken() -> None:
    further = (
        FurtherAgent(agent=SiteAgent(name="books"), limits=Limits(), actions=(FIND,)),
        FurtherAgent(agent=SiteAgent(name="c-d"), limits=Limits(), actions=(Action("a_b", "B."),)),
        FurtherAgent(agent=SiteAgent(name="d"), limits=Limits(), actions=(Action("a_b_c", "C."),)),
    )
    own = AgentsTxt(capability=(OwnCapability(id="find-tent-books", endpoint="/x"),))
    taken = Action("a_b_c_d_2", "D.")
    found = blocks(
        declared(
            EntryPaths(converse="/c", threads="/t", actions="/do/"),
            own,
            further=further,
            actions=(taken,),
        )
    )
    ends = {id_: one.endpoint.removeprefix(URL) for id_, one in found.items()}
    assert ends["find-tent-books"] == "/x"
    assert ends["find-tent-books-2"] == "/books/do/find_tent"
    assert ends["a-b-c-d"] == "/c-d/do/a_b"
    assert ends["a-b-c-d-2"] == "/do/a_b_c_d_2"
    assert ends["a-b-c-d-3"] == "/d/do/a_b_c"


def test_names_of_agents_that_are_the_same_in_ids_are_refused() -> None:
    (problem,) = check_ids(AgentsTxt(), (), ("a_b", "a-b"))
    assert problem.key == "agents.name"


def test_two_blocks_never_share_an_id() -> None:
    own = (
        OwnCapability(id="book-tent", endpoint="/x"),
        OwnCapability(id="a2a", endpoint="/x"),
        OwnCapability(id="other", endpoint="/x"),
    )
    told = [str(one) for one in check_ids(AgentsTxt(capability=own), ("book_tent", "mcp"))]
    assert [line.partition(" ")[0] for line in told] == [
        "agents_txt:",
        "agents_txt.capability.id:",
        "agents_txt.capability.id:",
    ]
    assert "'mcp'" in told[0]
    assert "'book-tent'" in told[1]
    assert "'a2a'" in told[2]


ANYTHING = st.text(
    st.sampled_from('aZ9 :#,/()-\\"\n\r\t\x00\x85\u2014\u2028\u00a0\U0001f600'), max_size=8
)


@given(st.lists(ANYTHING, min_size=8, max_size=8), st.booleans())
def test_whatever_words_a_site_has_its_file_is_sound(words: list[str], required: bool) -> None:
    name, about, summary, argument, told, agent, own, long = words
    action = Action(
        "book_tent",
        summary,
        input_schema={
            "type": "object",
            "properties": {argument: {"type": "string", "description": told}},
            "required": [argument] if required else [],
        },
    )
    endpoints = (OwnCapability(id="own", endpoint="/x", description=own + long * 99),)
    of = declared(
        settings=AgentsTxt(capability=endpoints),
        site=Site(name=name or "A", description=about, url=URL),
        actions=(action,),
        agents=(AgentLimits(name="".join(filter(str.isalnum, agent)) or "a"),),
    )
    assert {"book-tent", "own"} < blocks(of).keys()
