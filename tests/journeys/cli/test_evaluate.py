"""An owner measures a site by its own questions: `aitp-desk evaluate`."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from aitp_desk.knowledge.enrichment.file import FILE, Line, Question, write_lines
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import talking
from tests.support.desk.command import Done, run_here
from tests.support.desk.server import SHOP

RETURNS = """\
# Returns

Send back anything unused within 60 days of delivery.

## Footwear

Boots may be worn outside: bring them back within 30 days for store credit.
"""
STORES = """\
# Stores

The store in Bend opens at 10 a.m. and closes at 7 p.m.
"""
RIGHT = """\
[[question]]
question = "How long do I have to send something back?"
holds = ["60 days"]
page = "/returns"

[[question]]
question = "and boots?"
after = "How long do I have to send something back?"
holds = ["30 days", ["exchange", "store credit"]]
page = "returns#footwear"

[[question]]
question = "Do you sell kayaks?"
refuse = true
"""
WRONG = """
[[question]]
question = "When does the store in Bend open?"
holds = ["8 a.m."]
page = ["/returns"]

[[question]]
question = "When does the store in Bend close?"
refuse = true

[[question]]
question = "Do you rent canoes?"
holds = "canoe"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "returns.md").write_text(RETURNS, "utf-8")
    (folder / "stores.md").write_text(STORES, "utf-8")
    return folder


def evaluate(site: Path, questions: str, *options: object) -> Done:
    file = site.parent / "questions.toml"
    file.write_text(questions, "utf-8")
    return run_here("evaluate", site, file, *options)


def test_right_answers_exit_with_0(site: Path) -> None:
    done = evaluate(site, RIGHT)
    assert (done.code, done.err) == (0, "")
    rows = [line.split()[:2] for line in done.out.splitlines()]
    assert rows[2:5] == [["1", "right"], ["6", "right"], ["12", "right"]]
    assert done.out.endswith("\n3 of 3 right (1.00).\n")


def test_wrong_answers_exit_with_1_and_show_what_was_said(site: Path) -> None:
    done = evaluate(site, RIGHT + WRONG)
    assert (done.code, done.err) == (1, "")
    table, _, details = done.out.partition("\n\n")
    *_, bend, closing, canoes = table.splitlines()
    assert bend.endswith('  lacks "8 a.m.", from /stores#stores')
    assert closing.endswith("answered instead of refusing")
    assert canoes.endswith("refused")
    assert "questions.toml:16: When does the store in Bend open?" in details
    assert "  said   The store in Bend opens at 10 a.m." in details
    assert "  from   /stores#stores\n" in details
    assert done.out.endswith("\n3 of 6 right (0.50); required: 1.00.\n")


def test_a_bound_says_how_many_are_enough(site: Path) -> None:
    assert evaluate(site, RIGHT + WRONG, "--at-least", "0.5").code == 0
    assert evaluate(site, RIGHT + WRONG, "--at-least", "0.51").code == 1
    assert evaluate(site, RIGHT, "--at-least", "90").code == 2


def test_programs_read_the_same_as_json(site: Path) -> None:
    done = evaluate(site, RIGHT + WRONG, "--json")
    told = json.loads(done.out)
    assert done.code == 1
    assert (told["agent"], told["questions"], told["right"]) == ("extractive", 6, 3)
    assert (told["share"], told["at_least"]) == (0.5, 1.0)
    outcomes = [(one["line"], one["right"], one["outcome"]) for one in told["results"]]
    assert outcomes == [
        (1, True, "answered"),
        (6, True, "answered"),
        (12, True, "refused"),
        (16, False, "answered"),
        (21, False, "answered"),
        (25, False, "refused"),
    ]
    follow_up = told["results"][1]
    assert follow_up["after"] == ["How long do I have to send something back?"]
    assert follow_up["sources"][0] == "/returns#footwear"
    assert "30 days" in follow_up["said"]


def test_questions_of_other_scripts_are_aligned_and_long_ones_cut(site: Path) -> None:
    questions = [
        RIGHT.replace("Do you sell kayaks?", "カヤックはありますか"),
        "[[question]]\nrefuse = true",
    ]
    done = evaluate(site, "\n".join(questions) + f'\nquestion = "kayaks {"kayaks " * 40}?"\n')
    *_, kanu, kayaks = done.out.partition("\n\n")[0].splitlines()
    assert kanu.split()[:3] == ["12", "right", "カヤックはありますか"]
    assert kayaks.split()[:3] == ["16", "right", "kayaks"]
    assert kayaks.endswith("kayaks…")


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ("[[question]\n", ":1: is not TOML: "),
        ("", ": has no questions. Each begins with [[question]]."),
        ('question = "How?"\n', ":1: write each question as a table [[question]]."),
        ('[[questions]]\nquestion = "How?"\n', ":1: 'questions' is unknown. Use [[qu"),
        (RIGHT + "\n[[question]]\nrefuse = true\n", ":16: the question is missing: question = "),
        (f'{RIGHT}\n[[question]]\nquestion = ""\n', ":17: question takes a text, such as "),
        (
            '[[question]]\nquestion = "?"\nhold = "x"\n',
            ":3: 'hold' is unknown; did you mean holds?",
        ),
        ('[[question]]\nquestion = "?"\nholds = 60\n', ":3: holds takes a text or a list of te"),
        ('[[question]]\nquestion = "?"\nholds = []\n', ":3: holds takes a text or a list of te"),
        ('[[question]]\nquestion = "?"\nrefuse = "x"\n', ":3: refuse takes true where the site d"),
        ('[[question]]\nquestion = "?"\n', ":1: the question has no expected answer: "),
        (
            '[[question]]\nquestion = "?"\nholds = "x"\nrefuse = true\n',
            ":1: a question with refuse = true has no answer: leave out holds.",
        ),
        (
            '[[question]]\nquestion = "?"\npage = "/return"\n',
            ":1: the site has no page /return; did you mean /returns?",
        ),
        (
            '[[question]]\nquestion = """\n[[question]]\n"""\nafter = 1\nrefuse = true\n',
            ":5: after takes the earlier question, or a list of them in order.",
        ),
    ],
)
def test_a_wrong_file_exits_with_2_and_says_where(site: Path, questions: str, says: str) -> None:
    done = evaluate(site, questions)
    assert (done.code, done.out.count("right")) == (2, 0)
    assert f"questions.toml{says}" in done.err
    assert len(done.err.splitlines()) <= 2


def test_a_wrong_folder_and_a_missing_file_exit_with_2(site: Path, tmp_path: Path) -> None:
    assert run_here("evaluate", site).code == 2
    assert run_here("evaluate", site, site / "none.toml").code == 2
    (tmp_path / "desk.toml").write_text("[site]\nnaem = 'x'\n", "utf-8")
    file = tmp_path / "questions.toml"
    file.write_text(RIGHT, "utf-8")
    done = run_here("evaluate", tmp_path, file)
    assert done.code == 2
    assert "site.naem" in done.err


def test_a_suggested_file_names_pages_and_can_be_asked_at_once(site: Path) -> None:
    suggested = run_here("evaluate", site, "--suggest")
    assert (suggested.code, suggested.err) == (0, "")
    found = tomllib.loads(suggested.out)["question"]
    assert [(one["question"], one["page"]) for one in found] == [
        ("Returns: Footwear", "/returns#footwear"),
        ("Stores", "/stores#stores"),
    ]
    done = evaluate(site, suggested.out)
    assert done.code == 0, done.out
    assert suggested.out.count("[[question]]") == 2
    assert run_here("evaluate", site, "--suggest", "--count", 1).out.count("[[question]]") == 1


@pytest.mark.slow
def test_the_shop_answers_most_of_its_questions(tmp_path: Path) -> None:
    done = run_here(
        "evaluate", SHOP, SHOP / "questions.toml", "--data", tmp_path, "--at-least", "0.8"
    )
    assert done.code == 0, done.out


def test_a_suggested_file_holds_the_questions_that_a_model_wrote(
    site: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    shutil.copytree(site, folder, ignore=shutil.ignore_patterns(".desk"))
    quote = "bring them back within 30 days for store credit."
    asked = (Question("muddy shoes, refund?", quote), Question("how long?", f"{RETURNS[:90]}"))
    written = [
        Line("returns", ("Footwear",), "footwear", "0", "", asked),
        Line("gone", (), "", "1", "", asked),
    ]
    write_lines(folder / FILE, written)
    found = tomllib.loads(run_here("evaluate", folder, "--suggest").out)["question"]
    assert found == [
        {"question": "muddy shoes, refund?", "holds": [quote], "page": "/returns#footwear"},
        {"question": "how long?", "page": "/returns#footwear"},
    ]


async def test_refused_questions_of_visitors_are_suggested_where_they_are_asked_for(
    site: Path, tmp_path: Path
) -> None:
    async with talking(tmp_path, site=site) as talker:
        visitor = Visitor(talker.desk, talker.http)
        for asked in ("Do you sell kayaks?", "do you sell kayaks", "When does the store open?"):
            await visitor.ask(asked)
        thread = await talker.open({"role": "user", "content": "Do you rent canoes?"}, wait=10)
        await talker.post(thread.id, f"{'My canoe is broken. ' * 20}What now?", wait=10)
    options = ("--suggest", "--data", tmp_path / "data")
    assert "canoe" not in (await asyncio.to_thread(run_here, "evaluate", site, *options)).out
    done = await asyncio.to_thread(run_here, "evaluate", site, *options, "--refused")
    assert (done.code, done.err) == (0, "")
    found = tomllib.loads(done.out)["question"]
    assert [(one["question"], one["refuse"]) for one in found] == [
        ("do you sell kayaks", True),
        ("Do you rent canoes?", True),
    ]
    assert re.findall(r"# Refused (.*)on 20", done.out) == ["2 times, last ", ""]


def test_refused_questions_need_the_data_of_a_desk(site: Path, tmp_path: Path) -> None:
    done = run_here("evaluate", site, "--suggest", "--refused", "--data", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"--refused: there is no {tmp_path}/desk.db; serve the site first")
    assert run_here("evaluate", site, site / "questions.toml", "--refused").code == 2


def test_the_help_shows_a_question_and_examples_in_lines_of_their_own() -> None:
    lines = run_here("evaluate", "--help").out.splitlines()
    assert "    [[question]]" in lines
    assert "    aitp-desk evaluate shop questions.toml" in lines
    assert "    aitp-desk ask shop" in run_here("ask", "--help").out.splitlines()
