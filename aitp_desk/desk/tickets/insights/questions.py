"""Groups the questions that wait for a page, and marks them as answered.

A mark counts to the end of its day (UTC): what was asked until then is answered, and what is asked
on a later day, and is refused or rated down again, is open again.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import msgspec
import structlog

from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.tickets.insights.figures import MAX_DAYS
from aitp_desk.desk.tickets.similarity import compute_share, find_stems
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.refusals import fold_question
from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.audit import Auditor
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console import insights as reads
from aitp_desk.store.reads.console.insights import AskedQuestion
from aitp_desk.store.units.answered_questions import mark_answered

MAX_QUESTIONS = 500
"""How many questions, the newest, are grouped."""
_LEAST_SHARED = 0.6
"""From this share of common words on, questions are one group where the content has no vectors."""
_DIGEST_BYTES = 16
_SECONDS = 10.0
"""Timeout of the embedding model; after that, words are compared."""

_log = structlog.get_logger(__name__)


class QuestionGroup(msgspec.Struct, frozen=True):
    """Open questions with the same meaning.

    Parameters:
        question: the most frequent wording, as it was asked last.
        others: the other wordings.
        refused: how often they were refused.
        down: how often the answer was rated down.
        reasons: why, the newest first, without empty ones.
        last_at: Unix seconds of the newest.
        thread_id: of the newest.
        desk: name of the further site agent; empty for the site's own.
    """

    question: str
    others: tuple[str, ...]
    refused: int
    down: int
    reasons: tuple[str, ...]
    last_at: int
    thread_id: str
    desk: str

    @property
    def times(self) -> int:
        """How often they were asked."""
        return self.refused + self.down


class QuestionReview:
    """Lists open questions, and marks them as answered.

    Parameters:
        contents: of each site agent, by its name; empty for the site's own.
        key: for the digests of marked questions.
        clock: Unix seconds.
    """

    def __init__(
        self,
        store: Store,
        contents: Mapping[str, Knowledge],
        key: bytes,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._contents = contents
        self._key = key
        self._clock = clock

    async def list_open(self, days: int) -> list[QuestionGroup]:
        """Return the open questions of the newest days in groups, the most frequent first.

        Parameters:
            days: including today (UTC).
        """
        since = int(self._clock()) // DAY_SECONDS * DAY_SECONDS - (days - 1) * DAY_SECONDS
        found = _merge(await reads.open_questions(self._store, since, MAX_QUESTIONS))
        newest = sorted(found[:MAX_QUESTIONS], key=lambda one: one.asked.desk)
        groups: list[QuestionGroup] = []
        for desk, some in groupby(newest, key=lambda one: one.asked.desk):
            content = self._contents.get(desk)
            if content is not None:
                marks = await reads.answered_questions(self._store, desk, since)
                groups += await self._group(list(some), content.library, marks)
        return sorted(groups, key=lambda one: (-one.times, -one.last_at))

    async def mark(
        self, questions: Sequence[str], page: str | None, desk: str, operator: str, by: Auditor
    ) -> None:
        """Mark questions as answered by a page, or take that back.

        Parameters:
            page: the path of a page of the site agent's content; None takes it back.
            desk: name of the further site agent; empty for the site's own.
            operator: who marks them.

        Raises:
            InvalidRequest: there is no such site agent or page.
        """
        if desk not in self._contents:
            raise InvalidRequest("There is no site agent with this name.", param="agent")
        if page is not None and page not in self.list_pages(desk):
            raise InvalidRequest("`page` must be the path of a page of the site.", param="page")
        await self._store.run(
            mark_answered,
            desk=desk,
            digests=[self._digest(desk, words) for words in map(fold_question, questions)],
            page=page,
            operator=operator,
            old=by.at - (MAX_DAYS + 1) * DAY_SECONDS,
            by=by,
        )

    def list_pages(self, desk: str) -> dict[str, str]:
        """Return the titles of a site agent's pages by their paths."""
        documents = self._contents[desk].editions.documents
        return {document.url: document.title for document in documents}

    async def _group(
        self, asked: Sequence[AskedQuestion], library: Library, marks: Mapping[bytes, int]
    ) -> list[QuestionGroup]:
        """Group the questions of a site agent, and leave those out that are answered."""
        by_words: dict[str, list[AskedQuestion]] = {}
        for one in asked:
            by_words.setdefault(fold_question(one.asked.question), []).append(one)
        by_words.pop("", None)
        every = sorted(by_words, key=lambda words: -len(by_words[words]))
        groups = []
        desk = asked[0].asked.desk
        for some in await _group_wordings(every, library):
            marked = max((marks.get(self._digest(desk, words), 0) for words in some), default=0)
            until = (marked // DAY_SECONDS + 1) * DAY_SECONDS if marked else 0
            left = [one for words in some for one in by_words[words] if one.asked.at >= until]
            if left:
                groups.append(_summarize(left))
        return groups

    def _digest(self, desk: str, words: str) -> bytes:
        said = f"{desk}\n{words}".encode()
        return hmac.digest(self._key, said, "sha256")[:_DIGEST_BYTES]


def _merge(asked: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    """Return each question once.

    One that was refused may be rated down as well.
    """
    rated = {one.message_id for one in asked if one.reason is not None}
    return [one for one in asked if one.reason is not None or one.message_id not in rated]


async def _group_wordings(every: Sequence[str], library: Library) -> list[list[str]]:
    """Group wordings by meaning; by words where vectors are missing or slow.

    What was embedded in time is cached: a later call needs less.
    """
    vectors = library.vectors
    if vectors is not None:
        try:
            async with asyncio.timeout(_SECONDS):
                return await vectors.group(every)
        except (ModelUnusable, TimeoutError) as error:
            _log.warning("questions_not_compared", reason=str(error) or "too slow")
    return await asyncio.to_thread(_group_by_words, every, library)


def _group_by_words(every: Sequence[str], library: Library) -> list[list[str]]:
    """Group questions by common words.

    Each joins the first group whose first question is similar.
    """
    groups: list[list[str]] = []
    firsts: list[set[str]] = []
    for words in every:
        stems = find_stems(words, library)
        alike = (
            at
            for at, first in enumerate(firsts)
            if stems and compute_share(stems, first) >= _LEAST_SHARED
        )
        at = next(alike, None)
        if at is None:
            groups.append([words])
            firsts.append(stems)
        else:
            groups[at].append(words)
    return groups


def _summarize(asked: Sequence[AskedQuestion]) -> QuestionGroup:
    newest = sorted(asked, key=lambda one: -one.asked.at)
    count = Counter(fold_question(one.asked.question) for one in newest)
    wordings: dict[str, str] = {}
    for one in newest:
        wordings.setdefault(fold_question(one.asked.question), one.asked.question)
    first, *others = (wordings[words] for words, _ in count.most_common())
    return QuestionGroup(
        first,
        tuple(others),
        sum(one.reason is None for one in newest),
        sum(one.reason is not None for one in newest),
        tuple(dict.fromkeys(one.reason for one in newest if one.reason)),
        newest[0].asked.at,
        newest[0].asked.thread_id,
        newest[0].asked.desk,
    )
