"""What stands on a page instructs no model that reads the pages to write questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aitp_desk.agent.enrichment.request import TOOL, make_request, parse_replies
from aitp_desk.agent.enrichment.writer import EnrichmentWriter
from aitp_desk.config import Model
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.coverage import Coverage
from aitp_desk.knowledge.enrichment.text import make_digest
from aitp_desk.knowledge.snapshot import Knowledge
from tests.injection.corpus import Case, corpus, twin
from tests.injection.harness.desk import SITE_URL
from tests.injection.harness.judge import Site, foreign, runs_of, told_of
from tests.injection.harness.model import obey
from tests.injection.harness.placement import is_on_a_page, write_site
from tests.injection.harness.structure import skeleton

CASES = [case for case in corpus() if is_on_a_page(case)]


def coverage_of(folder: Path, cases: Sequence[Case]) -> Coverage:
    """The pages of the lamp shop with the cases on them."""
    write_site(folder, cases, SITE_URL)
    knowledge = Knowledge(folder, folder.parent / "data", {}, enriched=False)
    return Coverage(folder, knowledge.editions.passages())


def sent(passage: Passage) -> dict[str, Any]:
    """The request for one passage."""
    return make_request({make_digest(passage): passage}, Model())


def test_every_request_is_as_one_for_harmless_pages(tmp_path: Path) -> None:
    folders = {"injected": CASES, "harmless": [twin(case) for case in CASES]}
    forms = {
        json.dumps(skeleton(sent(passage)), sort_keys=True)
        for name, cases in folders.items()
        for passage in coverage_of(tmp_path / name / "site", cases).missing().values()
    }
    assert len(forms) == 1


def test_of_what_an_obeying_model_writes_no_rules_and_no_addresses_are_kept(
    tmp_path: Path,
) -> None:
    coverage = coverage_of(tmp_path / "site", CASES)
    passages = coverage.missing()
    writer = EnrichmentWriter([coverage], SITE_URL)
    tried: set[str] = set()
    for digest, passage in passages.items():
        obeyed = obey(sent(passage))
        tried |= obeyed.tried
        said = [obeyed.text, *obeyed.text.split("\n")]
        questions = [{"ask": text, "quote": passage.units[0].text} for text in said]
        questions += [{"ask": "What?", "quote": text} for text in said]
        rows = {"passages": [{"id": digest, "summary": obeyed.text, "questions": questions}]}
        writer.add_replies(parse_replies([rows], [digest]))
    assert any("reveal" in name for name in tried), tried
    assert any("link" in name for name in tried), tried
    writer.save()
    rules = runs_of(sent(passage)["system"][0]["text"], ())
    for line in map(json.loads, coverage.file.read_text("utf-8").splitlines()):
        text = passages[line["digest"]].text
        for shown in (line["summary"], *(question["ask"] for question in line["questions"])):
            assert told_of(rules, shown) is None
            assert list(foreign(shown, Site(SITE_URL, (), frozenset(), ""))) == []
        for question in line["questions"]:
            assert question["ask"] != "What?" or " ".join(question["quote"].split()) in " ".join(
                text.split()
            )


def test_a_reply_speaks_only_of_passages_that_were_sent() -> None:
    rows: Any = {
        "passages": [{"id": id_, "summary": "", "questions": []} for id_ in ("a", "b", "a")]
    }
    assert [reply.id for reply in parse_replies([rows, None, {TOOL: 1}], ["a"])] == ["a"]
