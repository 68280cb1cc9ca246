"""What agents are told of the function in `docs/protocols/discovery.md`, as a real desk tells it.

    python -m tests.docs.faces

rewrites what stands between the two markers of that page.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict

from tests.support.clients.a2a import tasking
from tests.support.clients.mcp import tool_user
from tests.support.clients.threads import Talker, talking

PAGE = Path(__file__).parents[2] / "docs/protocols/discovery.md"
BEGIN = "<!-- faces: written by `python -m tests.docs.faces` -->"
END = "<!-- end of faces -->"
NAME = "book_repair"
_SITE = '[site]\nname = "Trailhead"\n[content]\nfolder = "content"\n'
_ADDRESS = "https://shop.example"
"""What the page calls the desk, whose own address is another at every run."""
FUNCTION = re.compile(r"\n#+ A function\n.*?```python\n(.*?)```", re.DOTALL)


class Face(NamedTuple):
    """What a protocol tells of the function.

    Parameters:
        title: of the protocol, and where it tells.
        told: all of it.
        shown: the members that the page shows; all where it shows text.
    """

    title: str
    told: Any
    shown: tuple[str, ...] = ()

    def at(self, address: str) -> Face:
        """The same with another address of the desk in the place of this one."""
        told = json.loads(json.dumps(self.told).replace(address, _ADDRESS))
        return self._replace(told=told)

    def written(self) -> str:
        """The section of the page."""
        if isinstance(self.told, str):
            return f"### {self.title}\n\n```text\n{self.told}\n```\n"
        shown = {name: self.told[name] for name in self.shown}
        rest = [f"`{name}`" for name in self.told if name not in self.shown]
        beside = f"\nAlso: {', '.join(rest)}.\n" if rest else ""
        body = json.dumps(shown, indent=2, ensure_ascii=False)
        return f"### {self.title}\n\n```json\n{body}\n```\n{beside}"


async def faces(function: str, folder: Path) -> list[Face]:
    """What a desk tells that serves this function.

    Parameters:
        function: the text of its file.
        folder: for the site and its data.
    """
    site = folder / "site"
    (site / "content").mkdir(parents=True)
    (site / "content" / "about.md").write_text("# About\n\nWe mend gear.\n", "utf-8")
    (site / "desk.toml").write_text(_SITE, "utf-8")
    (site / "actions.py").write_text(function, "utf-8")
    async with talking(folder, site=site) as anybody:
        caller = await anybody.with_key("actions")
        found = [
            Face("AHP: `/.well-known/agent.json`", await _capability(anybody), _AHP),
            Face("OpenAPI: `/openapi.json`", await _operation(anybody), _OPENAPI),
            Face("HAC: `/capabilities`", await _affordance(caller), _HAC),
            Face("MCP: `tools/list`", await _tool(caller), _MCP),
            Face("A2A: the card for callers with a credential", await _skill(caller), _A2A),
            Face("agents.txt: `/agents.txt`", await _block(anybody)),
        ]
        address = anybody.desk.url
    return [one.at(address) for one in found]


_AHP = ("name", "description", "mode", "action_type", "input_schema", "response_types")
_OPENAPI = ("operationId", "summary", "description", "security", "x-kind", "x-safety")
_HAC = ("rel", "method", "href", "description", "safety", "preconditions", "fields")
_MCP = ("name", "title", "description", "annotations")
_A2A = ("id", "name", "description", "tags", "examples")


async def _capability(anybody: Talker) -> Any:
    manifest = (await anybody.send("GET", "/.well-known/agent.json")).ok
    return _one(manifest["capabilities"], "name", NAME)


async def _operation(anybody: Talker) -> Any:
    document = (await anybody.send("GET", "/openapi.json")).ok
    return document["paths"][f"/capabilities/{NAME}"]["post"]


async def _affordance(caller: Talker) -> Any:
    headers = [*caller.credentials, ("Accept", "application/vnd.hac+json")]
    async with caller.http.get("/capabilities", headers=headers) as response:
        told = await response.json(content_type=None)
    return _one(told["_hac"]["actions"], "href", f"/capabilities/{NAME}")


async def _tool(caller: Talker) -> Any:
    async with tool_user(caller.desk.url, "auto", caller.key) as client:
        tools = (await client.list_tools()).tools
    told = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    return _one(told, "name", NAME)


async def _skill(caller: Talker) -> Any:
    async with tasking(caller.desk, key=caller.key) as client:
        card = await client.get_extended_agent_card(a2a_pb2.GetExtendedAgentCardRequest())
    return _one(MessageToDict(card)["skills"], "id", NAME)


async def _block(anybody: Talker) -> str:
    async with anybody.http.get("/agents.txt") as response:
        blocks = (await response.text()).split("\n\n")
    (block,) = [one for one in blocks if one.startswith("Capability: book-repair\n")]
    return block.strip()


def _one(told: Iterable[Mapping[str, Any]], member: str, value: str) -> Any:
    (found,) = [one for one in told if one[member] == value]
    return found


async def with_faces(page: str, folder: Path) -> str:
    """The page with what a desk tells now between its markers."""
    (function,) = FUNCTION.findall(page)
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    written = "\n".join(one.written() for one in await faces(function, folder))
    return f"{before}{BEGIN}\n\n{written}\n{END}{after}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        text = asyncio.run(with_faces(PAGE.read_text(encoding="utf-8"), Path(place)))
    PAGE.write_text(text, encoding="utf-8")
