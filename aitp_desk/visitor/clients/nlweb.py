"""Asks through NLWeb's ``/ask``, without a stream.

It asks by GET, as the REST interface has it, and by POST in the form of NLWeb 0.54 where a
site takes nothing else. The site keeps no conversation: earlier questions are sent along, so that
it understands the next.
"""

from __future__ import annotations

from typing import Any

from yarl import URL

from aitp_desk.egress import Fetched
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
PREFER = {"streaming": False, "response_format": "conv_search", "mode": "summarize"}
"""The same in NLWeb 0.54, whose answers are summaries."""
SAID = frozenset({"Summary", "Answer"})
"""The types of results that are the site's words about the others."""


class NlwebClient(Reader):
    """Asks for a generated answer with the results that it rests on."""

    def __init__(self, endpoint: Endpoint, fetcher: Fetcher) -> None:
        self._endpoint = endpoint
        self._fetcher = fetcher
        self._earlier: list[str] = []
        self._posts = False

    async def choose(self, choice: Choice) -> Answer:
        """Ask with the choice, which is how a question back is answered."""
        return await self.ask(choice.value)

    async def ask(self, question: str) -> Answer:
        """Put a question."""
        found = await (self._post if self._posts else self._get)(question)
        if not self._posts and takes_only_posts(found):
            self._posts = True
            found = await self._post(question)
        if found.status >= 400:
            raise read_refusal(found)
        answer = _read(decode(found))
        self._earlier = [*self._earlier, question][-MAX_EARLIER:]
        return answer

    async def _get(self, question: str) -> Fetched:
        mode = {"mode": MODE, "generate_mode": MODE}  # the name has changed
        query = {"query": question, "streaming": "false", **mode}
        if self._earlier:
            query["prev"] = ",".join(one.replace(",", " ") for one in self._earlier)
        url = str(URL(self._endpoint.url).with_query(query))
        return await self._fetcher.send(url, headers={"Accept": "application/json"})

    async def _post(self, question: str) -> Fetched:
        body: dict[str, Any] = {"query": {"text": question}, "prefer": PREFER}
        if self._earlier:
            body["context"] = {"@type": "ConversationalContext", "prev": self._earlier}
        return await self._fetcher.send(
            self._endpoint.url, body, method="POST", headers={"Accept": "application/json"}
        )


def takes_only_posts(found: Fetched) -> bool:
    """Return whether a refused GET says that a POST is taken."""
    allowed = found.headers.get("Allow", "").upper()
    return found.status == 405 and "POST" in allowed


def _read(value: Any) -> Answer:
    """Read a reply in any of its modes.

    Raises:
        SiteFailed: it has neither an answer nor a list of results.
    """
    if asked := text_of(object_of(value, "ask_user"), "content"):
        options = (line[2:] for line in asked.splitlines() if line.startswith("- "))
        return Answer(clean(asked), "question", choices=tuple(Choice(one, one) for one in options))
    elicited = object_of(value, "elicitation")
    if questions := [text_of(one, "text") for one in list_of(elicited, "questions")]:
        (first, *_) = list_of(elicited, "questions")
        offered = [one for one in list_of(first, "options") if isinstance(one, str)]
        asked = "\n".join(filter(None, (text_of(elicited, "text"), *questions)))
        return Answer(clean(asked), "question", choices=tuple(Choice(one, one) for one in offered))
    generated = object_of(value, "nlws") or value
    results = list_of(value, "results") or list_of(generated, "items")
    said = [text_of(one, "text") for one in results if text_of(one, "@type") in SAID]
    text = text_of(generated, "answer") or _summary(value) or "\n\n".join(filter(None, said))
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
