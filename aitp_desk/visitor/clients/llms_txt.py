"""Quotes what fits a question from the pages of a site's llms.txt.

Nothing is asked of the site and nothing is written by a model: the answer is the site's own
passages, marked as quotes (AHP 0.1, section 5.1).
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
from Stemmer import Stemmer

from aitp_desk.egress import Fetched
from aitp_desk.visitor.base import Answer, Endpoint, Source
from aitp_desk.visitor.clients.reader import Reader
from aitp_desk.visitor.discovery.agents_file import AgentsFile
from aitp_desk.visitor.discovery.manifest import resolve
from aitp_desk.visitor.discovery.markup import MarkupReader
from aitp_desk.visitor.discovery.members import clean, object_of
from aitp_desk.visitor.errors import NotOffered, SiteFailed, VisitError
from aitp_desk.visitor.fetcher import Fetcher

MAX_PAGES = 10
"""The most pages that are read for one question."""
MAX_LINKS = 500
MAX_CHARACTERS = 1024 * 1024
"""How much of a page is read."""
MAX_QUOTES = 3
MAX_PASSAGE = 1200
"""The most characters of a quote."""
MAX_PASSAGES = 5000
"""The most passages of all pages that are compared."""
ACCEPT = "text/markdown, text/plain;q=0.9, text/html;q=0.5"

_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(([^()\s]{1,2000})\)(?::[ \t]*([^\n]{0,500}))?")
_WORD = re.compile(r"\w+")
_STOP = frozenset(
    "a an and are as at be by can do does for from have how i if in is it me my of on or the there "
    "this to was we what when where which who why will with you your".split()
)
_STEMMER = Stemmer("english")
_BREAK = frozenset("p div li h1 h2 h3 h4 h5 h6 br tr section article header footer ul ol".split())
_SKIP = frozenset("script style template noscript nav".split())


class Passage(msgspec.Struct, frozen=True):
    """A paragraph of a page, below its heading."""

    url: str
    title: str
    text: str


class LlmsTxtClient(Reader):
    """Answers by quotes from the pages of llms.txt."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._endpoint = endpoint
        self._fetcher = fetcher
        self._agents_file: AgentsFile = endpoint.document.get("agents_file", AgentsFile())

    async def ask(self, question: str) -> Answer:
        """Quote the passages that fit a question best.

        Raises:
            NotOffered: no passage has a word of the question.
        """
        found = await self._read(self._endpoint.url)
        if found.status != 200:
            raise SiteFailed(f"{self._endpoint.url} has status {found.status}.")
        words = _words(question)
        text = _read_text(found)
        pages = await self._read_pages(_choose(_list_links(found.url, text), words))
        passages = [
            passage
            for page in (found, *pages)
            for passage in _list_passages(page.url, _read_text(page))
        ][:MAX_PASSAGES]
        quoted = _rank(passages, words)
        if not quoted:
            raise NotOffered(f"{self._endpoint.url}: no page has a passage about the question.")
        lines = (f"> {clean(one.text)}\n>\n> {clean(one.title)} <{one.url}>" for one in quoted)
        signals = object_of(self._endpoint.document.get("manifest"), "content_signals")
        may_train = signals.get("ai_train")
        return Answer(
            "\n\n".join(lines),
            sources=tuple(Source(one.url, clean(one.title), clean(one.text)) for one in quoted),
            content_type="text/quotes",
            may_train=may_train if isinstance(may_train, bool) else None,
        )

    async def _read(self, url: str) -> Fetched:
        return await self._fetcher.read(url, accept=ACCEPT)

    async def _read_pages(self, urls: Sequence[str]) -> Sequence[Fetched]:
        """Read pages that agents may read; leave out those that fail."""
        allowed = [url for url in urls if self._agents_file.may_read(url)]
        found = await asyncio.gather(*map(self._read, allowed), return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, VisitError):
                raise one
        return [one for one in found if isinstance(one, Fetched) and one.status == 200]


def _list_links(base: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the pages of the same origin, each with what llms.txt says about it."""
    origin = base[: base.index("/", 8) + 1]
    seen: set[str] = set()
    for link in islice(_LINK.finditer(text), 2 * MAX_LINKS):
        url = resolve(base, link[2])
        if url.startswith(origin) and url not in seen:
            seen.add(url)
            yield url, f"{link[1]} {link[3] or ''} {link[2]}"


def _choose(links: Iterator[tuple[str, str]], words: frozenset[str]) -> list[str]:
    """Return the pages whose descriptions share most words with a question; else the first."""
    ranked = sorted(links, key=lambda link: -len(words & _words(link[1])))
    return [url for url, _ in ranked[:MAX_PAGES]]


def _list_passages(url: str, text: str) -> Iterator[Passage]:
    """Yield the paragraphs of a page."""
    title = heading = ""
    for block in re.split(r"\n[ \t]*\n", text):
        lines = [line.strip() for line in block.strip().splitlines()]
        while lines and lines[0].startswith("#"):
            heading = lines.pop(0).lstrip("#").strip()
            title = title or heading
        told = "\n".join(lines).strip()
        if told:
            name = title if heading in {"", title} else f"{title}: {heading}"
            yield Passage(url, name or url, told[:MAX_PASSAGE])


def _rank(passages: Sequence[Passage], words: frozenset[str]) -> list[Passage]:
    """Return the passages that have most of a question, rare words before common ones."""
    texts = [(one, _words(f"{one.title} {one.text}")) for one in passages]
    common = Counter(word for _, found in texts for word in found & words)
    weights = {word: math.log(1 + len(texts) / count) for word, count in common.items()}

    def score(found: frozenset[str]) -> float:
        return sum(weights[word] for word in found & words) / math.sqrt(8 + len(found))

    scored = sorted(((score(found), one) for one, found in texts), key=lambda pair: -pair[0])
    best = scored[0][0] if scored else 0.0
    kept: dict[str, Passage] = {}
    for value, one in scored:
        if value > 0 and value >= best / 2 and len(kept) < MAX_QUOTES:
            kept.setdefault(one.text, one)
    return list(kept.values())


def _words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that tell it apart."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_STEMMER.stemWords([word for word in found if word not in _STOP]))


def _read_text(page: Fetched) -> str:
    """Return a page as plain text with blank lines between its blocks."""
    text = page.body.decode("utf-8", "replace")[:MAX_CHARACTERS]
    if "html" not in page.headers.get("Content-Type", "").lower():
        return text
    reader = _HtmlText()
    reader.feed(text)
    return "".join(reader.parts)


class _HtmlText(MarkupReader):
    """Collects the visible text of a page; builds no tree."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._hidden += tag in _SKIP
        if tag in _BREAK:
            self.parts.append("\n\n# " if tag in {"h1", "h2", "h3"} else "\n\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _SKIP))
        if tag in _BREAK:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(" ".join(data.split("\n")))
