"""Asks through NLWeb's ``/ask``, without a stream.

The site keeps no conversation: earlier questions are sent along, so that it understands the next.
"""

from __future__ import annotations

from typing import Any

from yarl import URL

from aitp_desk.visitor.base import Answer, Choice, Endpoint, Source
from aitp_desk.visitor.clients.reader import Reader
from aitp_desk.visitor.clients.replies import decode, read_refusal
from aitp_desk.visitor.discovery.members import clean, list_of, object_of, text_of
from aitp_desk.visitor.errors import SiteFailed
from aitp_desk.visitor.fetcher import Fetcher

MAX_EARLIER = 5
"""How many earlier questions are sent along."""
MAX_RESULTS = 20
MODE = "generate"
"""What is asked for: an answer, rather than a list or a summary of results."""


class NlwebClient(Reader):
    """Asks for a generated answer with the results that it rests on."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._endpoint = endpoint
        self._fetcher = fetcher
        self._earlier: list[str] = []

    async def choose(self, choice: Choice) -> Answer:
        """Ask with the choice, which is how a question back is answered."""
        return await self.ask(choice.value)

    async def ask(self, question: str) -> Answer:
        """Put a question."""
        mode = {"mode": MODE, "generate_mode": MODE}  # the name has changed
        query = {"query": question, "streaming": "false", **mode}
        if self._earlier:
            query["prev"] = ",".join(one.replace(",", " ") for one in self._earlier)
        url = str(URL(self._endpoint.url).with_query(query))
        found = await self._fetcher.send(url, headers={"Accept": "application/json"})
        if found.status >= 400:
            raise read_refusal(found)
        answer = _read(decode(found))
        self._earlier = [*self._earlier, question][-MAX_EARLIER:]
        return answer


def _read(value: Any) -> Answer:
    """Read a reply in any of its modes.

    Raises:
        SiteFailed: it has neither an answer nor a list of results.
    """
    if asked := text_of(object_of(value, "ask_user"), "content"):
        options = (line[2:] for line in asked.splitlines() if line.startswith("- "))
        return Answer(clean(asked), "question", choices=tuple(Choice(one, one) for one in options))
    generated = object_of(value, "nlws") or value
    text = text_of(generated, "answer") or _summary(value)
    results = list_of(value, "results") or list_of(generated, "items")
    if not text and not isinstance(value.get("results") if isinstance(value, dict) else None, list):
        raise SiteFailed("The site did not reply in the form of NLWeb.")
    sources = tuple(_source(one) for one in results[:MAX_RESULTS] if text_of(one, "url"))
    told = clean(text) or "\n".join(f"- {one.title or one.url}: {one.quote}" for one in sources)
    kind = "text/answer" if text else "application/feed"
    return Answer(told, sources=sources, content_type=kind, data={"results": results})


def _summary(value: Any) -> str:
    told = value.get("summary") if isinstance(value, dict) else None
    return told if isinstance(told, str) else text_of(told, "message") or text_of(told, "content")


def _source(result: Any) -> Source:
    return Source(
        text_of(result, "url"),
        clean(text_of(result, "name")),
        clean(text_of(result, "description")),
    )
