"""Answers by extraction, without a model.

It finds the section that answers, quotes its relevant sentences, table rows or code, and links to
it. It asks a clarifying question if two pages fit equally, and says so if none does.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import chain
from unicodedata import normalize

import msgspec

from aitp_desk.agent.base import (
    CHARACTERS_PER_TOKEN,
    Answer,
    Clarification,
    Event,
    Relevance,
    Said,
    Source,
    Turn,
)
from aitp_desk.agent.extractive.business import keep_telling
from aitp_desk.agent.extractive.dialogue.clarification import ask_back, rivals_of
from aitp_desk.agent.extractive.dialogue.context import (
    asks_about_the_conversation,
    find_chosen_section,
    find_meant_question,
    limit_turn,
    name_of_choice,
    read_message,
    read_reply,
    read_turn,
)
from aitp_desk.agent.extractive.dialogue.continuation import continuation
from aitp_desk.agent.extractive.dialogue.courtesy import find_courtesy, is_agreement
from aitp_desk.agent.extractive.dialogue.options import offer, reading_of
from aitp_desk.agent.extractive.dialogue.topics import (
    ask_openly,
    asks_for_goods,
    asks_for_introduction,
)
from aitp_desk.agent.extractive.embedding import learn_turn
from aitp_desk.agent.extractive.question import (
    TELLING,
    ReadQuestion,
)
from aitp_desk.agent.extractive.quote import compose_answer, quote_section, quote_sentence
from aitp_desk.agent.extractive.reply import answer_alone, interpret_reply
from aitp_desk.agent.extractive.selection import (
    Candidate,
    find_candidates,
    is_leading,
    order_by_words,
)
from aitp_desk.agent.extractive.trust import NEEDED, find_strongest, is_near, list_asked_in_full
from aitp_desk.agent.slots.replies.refusal import is_dropped
from aitp_desk.agent.speech import Speech, speech_of
from aitp_desk.agent.speech.recognition import detect_question_language
from aitp_desk.knowledge.documents.titles import drop_number, to_question
from aitp_desk.knowledge.editions import Editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.ngrams import RUN, join_ngrams
from aitp_desk.knowledge.search.tokenizer import fold_text, split_words
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.text import clean_message

MAX_ANSWER_CHARACTERS = 1200
_NEAR = 3
"""A section that is only near gets this fraction of an answer's length."""
MAX_SOURCES = 4
MAX_FOLLOW_UPS = 3

_CLEARLY_MORE = 1.3
_DIRECT, _INDIRECT, _BACKGROUND = 0.85, 0.65, 0.45
_FENCE, _CLOSING = "```", "\n…\n```"
_WORD = re.compile(r"[^\W_]+")
_SHORTEST_PART = 4  # a shorter part of a hyphenated word means nothing alone


EXTRACTIVE = "extractive"
"""The agent's name, for people."""


class ExtractiveAgent:
    """Answers from passages. See :mod:`aitp_desk.agent.base` for its guarantees.

    Parameters:
        knowledge: the content that it answers from.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    @property
    def name(self) -> str:
        """Its name, for people."""
        return EXTRACTIVE

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn in one event."""
        yield (await self.find(turn)).said

    async def find(self, turn: Turn) -> Finding:
        """Answer one turn, and also return what the answer was made from."""
        editions = self._knowledge.editions
        await learn_turn(turn, editions.find_library(turn.locale))
        return find_in(turn, editions)


class Finding(msgspec.Struct, frozen=True, gc=False):
    """The outcome of a turn, and what it was made from.

    Parameters:
        asked: the question as it was read; None if nothing was searched.
        found: the sections that were found for it, best first.
    """

    said: Said
    asked: ReadQuestion | None = None
    found: Sequence[Candidate] = ()


def answer_in(turn: Turn, editions: Editions) -> Said:
    """Return the outcome of a turn over all languages of the content."""
    return find_in(turn, editions).said


def find_in(turn: Turn, editions: Editions) -> Finding:
    """Return the outcome, and what it was made from.

    If the content that answers is in another language than the visitor's, the answer says so first.
    """
    finding = _find_in(turn, editions)
    return msgspec.structs.replace(finding, said=_introduced(finding.said, turn, editions))


def _find_in(turn: Turn, editions: Editions) -> Finding:
    """Return the outcome without the note on the language.

    If nothing is found in the visitor's language, the site's is tried: agents declare their user's
    language and ask in another.
    """
    library = editions.find_library(turn.locale)
    finding = find_answer(turn, library)
    said = finding.said
    if library is editions.library or not isinstance(said, Answer) or said.is_courtesy:
        return finding
    if said.found and not _is_told_better(turn, library, editions.library):
        return finding
    other = find_answer(turn, editions.library)
    return other if isinstance(other.said, Answer) and other.said.found else finding


def _introduced(said: Said, turn: Turn, editions: Editions) -> Said:
    if not isinstance(said, Answer) or not said.found or not said.sources:
        return said
    own = editions.find_page_language(said.sources[0].url) or editions.own
    visitors = _speech_to(turn, own)
    if visitors.tag == speech_of(own).tag or asks_about_the_conversation(
        turn.question, editions.library
    ):
        return said
    # the page may be in another language than it declares
    if detect_question_language(said.text, own) != own:
        return said
    introduction = visitors.introduce(own)
    text = f"{introduction}\n\n{said.text}"
    if turn.max_tokens is not None and len(text) > turn.max_tokens * CHARACTERS_PER_TOKEN:
        return said
    tokens = -(-len(text) // CHARACTERS_PER_TOKEN)
    return msgspec.structs.replace(said, text=text, tokens_used=tokens)


def _speech_to(turn: Turn, own: str) -> Speech:
    """Return the visitor's language: the declared one, else that of the question.

    Parameters:
        own: the language of the content.
    """
    return speech_of(turn.locale or detect_question_language(read_reply(turn), own))


def _is_told_better(turn: Turn, library: Library, other: Library) -> bool:
    """Return whether another language covers clearly more of a question."""
    if turn.pending is not None or turn.clarification is not None:
        return False
    here = find_candidates(library, read_turn(turn, library))
    needed = _CLEARLY_MORE * here[0].coverage if here else 0.0
    if needed >= 1.0:
        return False
    there = find_candidates(other, read_turn(turn, other))
    return bool(there) and there[0].coverage > needed


def answer(turn: Turn, library: Library) -> Said:
    """Return the outcome of a turn over one snapshot of the content."""
    return find_answer(turn, library).said


def find_answer(turn: Turn, library: Library) -> Finding:
    """Return that outcome, and what it was made from."""
    turn = limit_turn(turn, library)
    limit = MAX_ANSWER_CHARACTERS
    if turn.max_tokens is not None:
        limit = min(limit, turn.max_tokens * CHARACTERS_PER_TOKEN)
    plainly = _answer_plainly(turn, library, limit)
    if plainly is not None:
        return Finding(plainly)
    heard = interpret_reply(turn, library)
    if isinstance(heard, Clarification):
        return Finding(heard)
    if isinstance(heard, dict):
        return Finding(_answer_each(heard, library, min(limit, turn.site.answer_characters), limit))
    asked = heard or read_turn(turn, library)
    found = keep_telling(find_candidates(library, asked), asked)
    in_full = list_asked_in_full(found, asked)
    found = in_full or found
    chosen = find_chosen_section(turn, library)
    if chosen is not None:  # in that reading, even if another page covers more
        on_page = [one for one in found if one.page == chosen[0]]
        in_section = [one for one in on_page if one.label.heading == chosen[1]]
        found = list(dict.fromkeys(in_section + on_page)) or found
    headings = (one.label.heading for one in found)
    about_site = asks_for_introduction(turn.site, asked.text, headings, library)
    rivals: Sequence[Candidate] = ()
    is_by_meaning = bool(found) and found[0].is_by_meaning
    if (
        turn.pending is None
        and turn.clarification is None
        and not (about_site or is_by_meaning or is_leading(found))
    ):
        rivals = rivals_of(asked, order_by_words(found), library)
    question = ask_back(asked, rivals, library)
    if question is not None:
        return Finding(question, asked, found)
    if not asked.wanted or about_site:
        return Finding(ask_openly(turn.site, asked.text, library), asked)
    is_meant = bool(in_full) or chosen is not None
    if not found or not (is_meant or find_strongest(found)[0] >= NEEDED):
        alone = answer_alone(turn, library) if heard is None else []
        if not alone and asks_for_goods(asked.text):
            return Finding(ask_openly(turn.site, asked.text, library), asked)
        if not alone:
            return Finding(_refuse(turn, asked, found, library, limit), asked, found)
        found = alone
    wanted = min(limit, turn.site.answer_characters)
    text = compose_answer(found, library, wanted, most=limit)
    said = _write(text, limit, list_sources(found), find_follow_ups(found, library))
    return Finding(_offering(said, found, rivals, library, limit), asked, found)


def _offering(
    said: Answer,
    found: Sequence[Candidate],
    rivals: Sequence[Candidate],
    library: Library,
    limit: int,
) -> Answer:
    """Return the answer with the chosen reading and the others, if there are any."""
    others = offer(found, rivals, said.text)
    if not others:
        return said
    speech = speech_of(library.language)
    readings = [reading_of(one, library) for one in (found[0], *others)]
    line = speech.says.taken.format(
        taken=speech.quote(readings[:1]), options=speech.quote(readings[1:])
    )
    text = f"{said.text}\n\n{line}"
    if len(text) > limit:
        return said
    return msgspec.structs.replace(
        said,
        text=text,
        follow_ups=find_follow_ups(list(dict.fromkeys([found[0], *others, *found])), library),
        tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN),
    )


def _answer_each(
    each: Mapping[str, ReadQuestion], library: Library, wanted: int, limit: int
) -> Answer:
    """Answer a question for each of several options; each part begins with its option."""
    texts: list[str] = []
    best: list[Candidate] = []
    for option, asked in each.items():
        for found in find_candidates(library, asked)[:1]:
            told = compose_answer([found], library, wanted // len(each), most=limit)
            name = name_of_choice(option, library)
            texts.append(f"{name}:\n{told}" if "\n" in told else f"{name}: {told}")
            best.append(found)
    sources = tuple(source for one in best for source in list_sources([one]))
    return _write("\n\n".join(texts), limit, sources, find_follow_ups(best, library))


def _answer_plainly(turn: Turn, library: Library, limit: int) -> Said | None:
    """Answer a courtesy, or a message about an earlier one; None for all others."""
    speech, said = speech_of(library.language), read_reply(turn)
    courtesy = find_courtesy(said, speech)
    if courtesy is not None:
        text = courtesy.answer(turn.site.name)
        return Answer(text, locale=courtesy.speech.tag, is_courtesy=True)
    if asks_about_the_conversation(turn.question, library):
        return _recall(turn, library, limit)
    if turn.pending is not None:
        return None
    if is_dropped(said):  # "never mind", and nothing waits
        text = speech.says.open.format(site=turn.site.name)
        return Answer(text, locale=speech.tag, is_courtesy=True)
    if not turn.transcript:
        return None
    if is_agreement(said):  # to no question: "ok" after an answer
        text = speech.courtesies.welcomes.format(site=turn.site.name)
        return Answer(text, locale=speech.tag, is_courtesy=True)
    more = continuation(turn, library, min(limit, turn.site.answer_characters))
    if more is None:
        return None
    text, sources = more
    if not text:
        return Clarification(speech.says.open.format(site=turn.site.name))
    return _write(text, limit, sources)


def _recall(turn: Turn, library: Library, limit: int) -> Answer:
    """Answer a question about the conversation itself."""
    speech = speech_of(library.language)
    says = speech.says
    meant = find_meant_question(turn.question, turn.transcript, library)
    if meant is None:
        return _write(says.asked_nothing, limit, found=False)
    found = find_candidates(library, read_message(meant, library))
    quoted = speech.quote([cut_text(" ".join(meant.split()), 200)])
    text = says.asked.format(question=quoted)
    return _write(text, limit, list_sources(found[:1]), find_follow_ups(found, library))


def _refuse(
    turn: Turn, asked: ReadQuestion, found: Sequence[Candidate], library: Library, limit: int
) -> Answer:
    """Reply that the content has no answer. The reply names what is missing and whom to contact."""
    missing = [
        w.term.word
        for w in asked.wanted
        if not w.term.known and not w.carried and w.factor >= 1 and w.weight > TELLING
    ]
    missing = join_ngrams(missing)[:2]
    speech = _speech_to(turn, library.language)
    says, site = speech.says, turn.site
    if missing:
        words = speech.quote([*dict.fromkeys(_as_written(w, turn.question) for w in missing)])
        text = says.nothing_about.format(words=words, site=site.name)
    else:
        text = says.nothing.format(site=site.name)
    if found and is_near(found[0]):
        name, told = found[0].label.name, quote_section(found[0], site.answer_characters // _NEAR)
        text += " " + says.near.format(name=name, text=told)
    if site.contact:
        text += ("\n\n" if "\n" in text else " ") + says.people.format(contact=site.contact)
    text = text.replace("。 ", "。")
    refusal = _write(text, limit, follow_ups=find_follow_ups(found, library), found=False)
    locale = speech.tag if speech is not speech_of(library.language) else None
    return msgspec.structs.replace(refusal, locale=locale)


def _as_written(word: str, question: str) -> str:
    """Return a folded word with the accents and capitals of the visitor."""
    said = normalize("NFC", question).strip().replace("’", "'").replace("'", " ")
    if said[1:2].islower():  # a capital only begins the sentence
        said = said[0].lower() + said[1:]
    bare = [part.strip('.,;:!?¿¡"«»„“”()') for part in said.split()]
    whole = next((part for part in bare if word in fold_text(part).split("-")), None)
    if whole is not None and len(word) < _SHORTEST_PART:  # "co" of "co-worker"
        return whole
    written = next((part for part in bare + _WORD.findall(said) if fold_text(part) == word), None)
    if written is None:  # katakana has no spaces around it, and may be spelt differently
        runs = (run[0] for run in RUN.finditer(said))
        written = next((run for run in runs if split_words(run) == [word]), word)
    return written


def _write(
    text: str,
    limit: int,
    sources: tuple[Source, ...] = (),
    follow_ups: tuple[str, ...] = (),
    *,
    found: bool = True,
) -> Answer:
    text = cut_text(clean_message(text), limit)
    tokens = -(-len(text) // CHARACTERS_PER_TOKEN)
    return Answer(text, sources=sources, follow_ups=follow_ups, tokens_used=tokens, found=found)


def list_sources(found: Sequence[Candidate]) -> tuple[Source, ...]:
    """Return the source sections of an answer, the best first, each address once."""
    best = found[0].rank if found else 0.0
    if not best:
        return ()
    sources: dict[str, Source] = {}
    for candidate in found:
        share = candidate.rank / best
        if share < _BACKGROUND or len(sources) == MAX_SOURCES:
            break
        label = candidate.label
        if label.url not in sources:
            relevance: Relevance = "background"
            if share >= _DIRECT:
                relevance = "direct"
            elif share >= _INDIRECT:
                relevance = "indirect"
            quote = quote_sentence(candidate)
            sources[label.url] = Source(label.name, label.url, relevance, quote)
    return tuple(sources.values())


def find_follow_ups(found: Sequence[Candidate], library: Library) -> tuple[str, ...]:
    """Return questions that may come next: what else was found, then what else the page covers."""
    if not found:
        return ()
    first = found[0]
    answered, least = library.label(first.number), first.rank * _INDIRECT
    near: list[int] = []
    if least > 0:
        near = [candidate.number for candidate in found if candidate.rank >= least]
    names: dict[str, None] = {}
    for label in chain(map(library.label, near), library.sections(first.page)):
        if label.heading and label != answered:
            names[to_question(drop_number(label.heading)) or label.choice] = None
            if len(names) == MAX_FOLLOW_UPS:
                break
    return tuple(names)


def cut_text(text: str, limit: int) -> str:
    """Cut a text to a number of characters, between words and with a mark.

    A block of code is cut between its lines, and closed.
    """
    if len(text) <= limit or limit <= 1:
        return text[:limit]
    kept = text[: limit - 1]
    if kept.count(_FENCE) % 2 and len(_CLOSING) < limit:
        lines, _, _ = kept[: limit - len(_CLOSING)].rpartition("\n")
        return lines + _CLOSING if lines.count(_FENCE) % 2 else lines
    space = kept.rfind(" ")
    return (kept[:space] if space > limit // 2 else kept).rstrip() + "…"
