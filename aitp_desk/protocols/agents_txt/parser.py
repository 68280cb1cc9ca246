"""Parses the text form (agents.txt 1.0, section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aitp_desk.protocols.agents_txt import keys
from aitp_desk.protocols.agents_txt.blocks import BLANK, Block, BlockReader, Line, ParseFaults
from aitp_desk.protocols.agents_txt.document import (
    AGENTS_JSON,
    Access,
    AgentPolicy,
    Auth,
    Capability,
    Document,
    Parameter,
    SiteInfo,
)
from aitp_desk.protocols.agents_txt.faults import ParseResult, require_valid
from aitp_desk.protocols.agents_txt.linter import Path, validate

_KEY = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_PARAMETER = re.compile(
    r"(?P<name>[^\s(),]+)[ \t]*"
    r"\([ \t]*(?P<location>\w+)[ \t]*,[ \t]*(?P<type>\w+)[ \t]*"
    r"(?P<required>,[ \t]*required[ \t]*)?\)"
    r"(?:[ \t]*[\u2014\u2013-][ \t]*(?P<description>.+))?",
    re.ASCII,
)
_VERSION_IN_COMMENT = re.compile(r"#[ \t]*Spec-Version[ \t]*:(.+)", re.IGNORECASE)


def parse_text(text: str) -> Document:
    """Parse an agents.txt.

    Raises:
        InvalidFile: it breaks the specification; with every fault and its line.
    """
    return require_valid(examine_text(text))


def examine_text(text: str) -> ParseResult:
    """Parse as much as possible of an agents.txt, and list all faults."""
    return _Reader(text).read()


class _Reader:
    """Parses one text."""

    def __init__(self, text: str) -> None:
        self._text = text.removeprefix("\ufeff")
        self._notes = ParseFaults()

    def read(self) -> ParseResult:
        top, blocks = self._split()
        document = self._document(top, blocks)
        for path, message, is_error in validate(document):
            self._notes.add_member_fault(path, message, is_error=is_error)
        faults = sorted(self._notes.faults, key=lambda fault: fault.line or 0)
        return ParseResult(document, tuple(faults))

    def _split(self) -> tuple[list[Line], list[Block]]:
        """Divide the lines among the top and the blocks."""
        top: list[Line] = []
        blocks: list[Block] = []
        inside: Block | None = None
        for number, indent, line in self._lines():
            if line is None:
                continue
            if indent:
                if indent == " ":
                    self._notes.add_line_fault(
                        number, line.key, "is indented by one space; use two spaces or a tab."
                    )
                if inside is not None:
                    inside.lines.append(line)
                else:
                    self._notes.add_line_fault(
                        number, line.key, "is indented, but belongs to no block."
                    )
            elif line.key.casefold() in {keys.CAPABILITY.casefold(), keys.AGENT.casefold()}:
                inside = Block(line, [])
                blocks.append(inside)
            else:
                inside = None
                top.append(line)
        return top, blocks

    def _lines(self) -> Iterator[tuple[int, str, Line | None]]:
        """Yield each line with content, with its number and indent."""
        for number, raw in enumerate(self._text.split("\n"), 1):
            text = raw.removesuffix("\r")
            said = text.strip(BLANK)
            if not said or said.startswith("#"):
                continue
            indent = text[: len(text) - len(text.lstrip(BLANK))]
            key, colon, value = said.partition(":")
            key = key.rstrip(BLANK)
            if not colon or not _KEY.fullmatch(key):
                self._notes.add_line_fault(number, "", "is not 'Key: value'.")
                yield number, indent, None
            else:
                yield number, indent, Line(number, key, value.strip(BLANK))

    def _document(self, top: Sequence[Line], blocks: Sequence[Block]) -> Document:
        taken = BlockReader(self._notes, top, ())
        site = {name: taken.text(key, "site", name) for name, key in keys.SITE.items()}
        version = taken.text(keys.VERSION, "specVersion") or self._version_in_comment()
        pointer = taken.text(AGENTS_JSON, "metadata", AGENTS_JSON)
        generated_at = taken.text(keys.GENERATED_AT, "generatedAt")
        access = Access(
            allow=taken.each(keys.ALLOW, "access", "allow"),
            disallow=taken.each(keys.DISALLOW, "access", "disallow"),
        )
        capabilities: list[Capability] = []
        agents: dict[str, AgentPolicy] = {}
        for block in blocks:
            if block.head.key.casefold() == keys.CAPABILITY.casefold():
                path: Path = ("capabilities", len(capabilities))
                self._notes.places[path] = self._notes.places[(*path, "id")] = block.head
                capabilities.append(self._capability(block, path))
            elif block.head.value in agents:
                self._notes.add_line_fault(
                    block.head.number, keys.AGENT, f"{block.head.value!r} occurs twice."
                )
            else:
                path = ("agents", block.head.value)
                self._notes.places[path] = block.head
                agents[block.head.value] = self._policy(block, path)
        return Document(
            site=SiteInfo(
                name=site["name"] or "",
                url=site["url"] or "",
                description=site["description"],
                contact=site["contact"],
                privacy_policy=site["privacyPolicy"],
            ),
            version=version,
            generated_at=generated_at,
            capabilities=tuple(capabilities),
            access=access,
            agents=agents,
            metadata=({AGENTS_JSON: pointer} if pointer else {}) | taken.rest("metadata"),
        )

    def _version_in_comment(self) -> str:
        """Return the version in a comment, which some published files have; else empty."""
        for number, raw in enumerate(self._text.split("\n"), 1):
            found = _VERSION_IN_COMMENT.fullmatch(raw.strip(f"{BLANK}\r"))
            if found is None:
                continue
            line = Line(number, keys.VERSION, found[1].strip(BLANK))
            self._notes.places["specVersion",] = line
            message = "is in a comment, which other readers ignore; remove the #."
            self._notes.add_line_fault(number, keys.VERSION, message, is_error=False)
            return line.value
        return ""

    def _capability(self, block: Block, path: Path) -> Capability:
        taken = BlockReader(self._notes, block.lines, path)
        said = {
            member: taken.text(key, *member)
            for member, key in keys.OF_CAPABILITY.items()
            if member not in {("parameters",), ("scopes",), ("rateLimit",)}
        }
        return Capability(
            id=block.head.value,
            endpoint=said["endpoint",] or "",
            protocol=said["protocol",] or "",
            method=said["method",],
            auth=Auth(
                type=said["auth", "type"] or "none",
                token_endpoint=said["auth", "tokenEndpoint"],
                docs_url=said["auth", "docsUrl"],
                registration_endpoint=said["auth", "registrationEndpoint"],
            ),
            rate_limit=taken.rate(),
            description=said["description",],
            openapi=said["openapi",],
            scopes=taken.listed("Scopes", "scopes") or (),
            parameters=tuple(self._parameters(taken, path)),
            further=taken.rest(),
        )

    def _parameters(self, taken: BlockReader, path: Path) -> Iterator[Parameter]:
        place = 0
        for line in taken.lines("Param"):
            found = _PARAMETER.fullmatch(line.value)
            if found is None:
                self._notes.add_line_fault(
                    line.number,
                    line.key,
                    "is not valid; write it like q (query, string, required) - What to find.",
                )
                continue
            self._notes.places[(*path, "parameters", place)] = line
            place += 1
            yield Parameter(
                name=found["name"],
                location=found["location"],
                type=found["type"],
                is_required=found["required"] is not None,
                description=found["description"],
            )

    def _policy(self, block: Block, path: Path) -> AgentPolicy:
        taken = BlockReader(self._notes, block.lines, path)
        return AgentPolicy(
            rate_limit=taken.rate(),
            capabilities=taken.listed("Capabilities", "capabilities"),
            further=taken.rest(),
        )
