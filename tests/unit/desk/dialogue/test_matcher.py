"""Matching words to actions: what is kept of what visitors say."""

from __future__ import annotations

import weakref
from pathlib import Path

import msgspec
import pytest

from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.dialogue.tools.access_notice import AccessNotice
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import Editions, open_editions
from aitp_desk.knowledge.sources.loader import read_files
from aitp_desk.model.access.principal import make_anonymous
from tests.support.desk.server import SITE


class Words(str):
    """A text of which is known whether somebody keeps it."""


class Content(msgspec.Struct):
    """What is served."""

    editions: Editions


@pytest.fixture
def matcher(tmp_path: Path) -> ActionMatcher:
    files = read_files(SITE, data=tmp_path)
    editions = open_editions(files, tmp_path, {}, Languages())
    notice = AccessNotice("Books", has_sign_in=False)
    return ActionMatcher((), Content(editions), by_words=True, requires_intent=False, notice=notice)


async def test_words_that_are_too_long_to_be_matched_are_not_kept(matcher: ActionMatcher) -> None:
    words = Words("Where is it? " * 20_000)
    kept = weakref.ref(words)
    assert await matcher.find(make_anonymous(""), AskRequest(CONTENT_SEARCH, words), None) is None
    del words
    assert kept() is None
