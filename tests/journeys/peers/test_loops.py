"""Desks that ask each other never do so without end."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.support.clients.ahp import CONVERSE
from tests.support.clients.threads import Talker
from tests.support.desk.processes import free_ports
from tests.support.sites.partners import FAR, LIBRARY, PROTOCOLS, peer, serving_site, write_site

pytestmark = pytest.mark.asyncio(loop_scope="module")

WAIT = 25
KNOWN_FAR = "How much does the heaviest meteorite weigh?"
UNKNOWN = "Who won the regatta of Porto?"
VIA = "Desk-Via"


async def open_chain(
    stack: AsyncExitStack,
    folder: Path,
    pages: list[str],
    *,
    is_ring: bool = False,
    hops: int = 4,
    protocol: str = "",
) -> list[Talker]:
    """Serve desks, each of which asks the next one; in a ring the last asks the first."""
    first = free_ports(len(pages))
    ports = [first + place for place in range(len(pages))]
    talkers = []
    for place, (port, page) in enumerate(zip(ports, pages, strict=True)):
        is_last = place == len(pages) - 1
        following = ports[(place + 1) % len(ports)]
        toml = (
            ""
            if is_last and not is_ring
            else peer(
                f"http://127.0.0.1:{following}", f"desk{place + 1}", hops=hops, protocol=protocol
            )
        )
        site = write_site(folder / f"site{place}", page, toml)
        talkers.append(await stack.enter_async_context(serving_site(site, port=port)))
    return talkers


async def answer(talker: Talker, question: str) -> str:
    opened = await talker.open(question, wait=WAIT)
    return "\n".join(opened.ok["replies"][0]["content"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_chain_of_four_answers_with_the_name_of_each(tmp_path: Path, protocol: str) -> None:
    async with AsyncExitStack() as stack:
        pages = [LIBRARY, LIBRARY, LIBRARY, FAR]
        chain = await open_chain(stack, tmp_path, pages, protocol=protocol)
        said = await answer(chain[0], KNOWN_FAR)
        assert "**desk1**: **desk2**: **desk3**: " in said
        assert "412 kilograms" in said


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_ring_of_three_ends_at_the_desk_that_began(tmp_path: Path, protocol: str) -> None:
    async with AsyncExitStack() as stack:
        ring = await open_chain(stack, tmp_path, [LIBRARY] * 3, is_ring=True, protocol=protocol)
        said = await answer(ring[0], UNKNOWN)
        assert "has passed this desk before" in said
        assert [said.count(f"desk{place}") for place in (1, 2, 3)] == [1, 1, 1]


async def test_a_question_goes_no_further_than_the_limit(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        chain = await open_chain(stack, tmp_path, [LIBRARY, LIBRARY, FAR], hops=1)
        said = await answer(chain[0], KNOWN_FAR)
        assert "the question has passed 1 other site" in said
        assert "412" not in said
        assert chain[2].counts()["messages"] == 0


@pytest.mark.parametrize(
    ("via", "is_refused"),
    [
        (",".join(f"{number:016x}" for number in range(4)), False),
        (",".join(f"{number:016x}" for number in range(5)), True),
        ("not an id", True),
        ("", True),
    ],
)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CONVERSE, {"ahp": "0.1", "capability": "content_search", "query": "When?"}),
        ("/v1/threads", {"messages": ["When?"]}),
        ("/capabilities/content_search", {"query": "When?"}),
        ("/a2a", {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    ],
)
async def test_every_protocol_refuses_what_has_passed_too_many_desks(
    talker: Talker, path: str, body: dict[str, object], via: str, is_refused: bool
) -> None:
    headers = {VIA: via, "Accept": "application/json, text/event-stream"}
    async with talker.http.post(path, json=body, headers=headers) as response:
        text = await response.text()
        assert (VIA in text) is is_refused
