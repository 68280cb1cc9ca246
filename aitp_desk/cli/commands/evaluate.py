"""``aitp-desk evaluate``: tests a site's agent with the owner's questions."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import (
    data_folder,
    fail,
    mistakes_told,
    no_model,
    overrides,
    site_folder,
)

if TYPE_CHECKING:
    from aitp_desk.app.site_agents import StandaloneAgent
    from aitp_desk.config import Config

UNUSABLE = 2
"""The exit code if the file or the folder cannot be used."""


@click.command()
@site_folder
@click.argument(
    "questions", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@data_folder
@overrides
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="The required share of right answers.",
)
@no_model
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@click.option(
    "--suggest",
    is_flag=True,
    help="Print a starter file, from enriched.jsonl if it exists, else from headings.",
)
@click.option(
    "--count",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="The most questions of --suggest.",
)
@click.option(
    "--refused",
    is_flag=True,
    help="With --suggest: only visitors' questions that the desk refused. Read them before "
    "you share them, because visitors wrote them.",
)
def evaluate(
    folder: Path,
    questions: Path | None,
    data: Path | None,
    overrides: tuple[str, ...],
    at_least: float,
    count: int,
    *,
    no_model: bool,
    as_json: bool,
    suggest: bool,
    refused: bool,
) -> None:
    """Ask the site's agent the QUESTIONS of a file, and judge its answers.

    No server is needed. A model that can be called answers, as in the served desk. Exit code
    0 if enough answers are right, 1 if not, 2 if the file or the folder cannot be used.

    \b
    A question of the file, in TOML:
      [[question]]
      question = "Can I return boots that I wore outside?"
      holds = ["30 days", ["store credit", "exchange"]]
      page = "/policies/returns"

    `holds`: texts that the answer must contain; of a nested list, one is enough. `page`: the
    address of the page or section that the answer must come from, or a list of them. `after`: the
    earlier question, for a follow-up. `refuse = true`, without `holds` and `page`: the desk must
    say that the site does not answer it. `locale`: the visitor's language.

    \b
    Examples:
      aitp-desk evaluate shop --suggest > questions.toml
      aitp-desk evaluate shop --suggest --refused
      aitp-desk evaluate shop questions.toml
      aitp-desk evaluate shop questions.toml --at-least 0.9
    """  # noqa: D301 -- click keeps the lines after a backspace
    if suggest == (questions is not None):
        raise click.UsageError("Give a file of QUESTIONS, or use --suggest.")
    if refused and not suggest:
        raise click.UsageError("--refused needs --suggest.")
    with mistakes_told(UNUSABLE):
        from aitp_desk.config import load_config
        from aitp_desk.observability.logs import set_up_logs

        # without a port the site has an address only if site.url is set
        config = load_config(folder, overrides, port=0, data=data)
        set_up_logs(config.log, quiet=True)
        if questions is None:
            click.echo(asyncio.run(_suggest(config, count, refused=refused)), nl=False)
            return
        got = asyncio.run(
            _evaluate(config, questions, at_least, uses_model=not no_model, as_json=as_json)
        )
    if got < at_least:
        sys.exit(1)


async def _evaluate(
    config: Config,
    file: Path,
    at_least: float,
    *,
    uses_model: bool,
    as_json: bool,
) -> float:
    """Ask all questions and print the verdicts; return the share of right answers."""
    import msgspec

    from aitp_desk.app.site_agents import open_standalone_agent
    from aitp_desk.cli.evaluation import report
    from aitp_desk.cli.evaluation.questions import QuestionsError, check_pages, read_questions
    from aitp_desk.cli.evaluation.verdict import judge_questions

    try:
        questions = read_questions(file)
        async with open_standalone_agent(config, os.environ, uses_model=uses_model) as answering:
            check_pages(questions, _addresses(answering), file)
            table, verdicts = report.ReportTable(questions), []
            # table rows show the progress; JSON is printed at the end
            if not as_json:
                click.echo(f"{answering.agent.name} answers from {config.content_folder}")
                click.echo(table.head)
            async for verdict in judge_questions(questions, answering.agent, answering.site):
                verdicts.append(verdict)
                if not as_json:
                    click.echo(table.row(verdict))
                elif sys.stderr.isatty():
                    click.echo(f"\r{len(verdicts)} of {len(questions)}", nl=False, err=True)
    except QuestionsError as error:
        fail(error.problems, UNUSABLE)
    if as_json:
        data = report.write_report(verdicts, answering.agent.name, at_least)
        click.echo(msgspec.json.format(msgspec.json.encode(data)).decode())
    else:
        wrong = (one for one in verdicts if not one.is_right)
        for line in (line for one in wrong for line in report.describe_failure(str(file), one)):
            click.echo(line)
        click.echo(f"\n{report.describe_summary(verdicts, at_least)}")
    return report.compute_share(verdicts)


async def _suggest(config: Config, count: int, *, refused: bool) -> str:
    """Print a starter file of questions."""
    from aitp_desk.app.site_agents import open_standalone_agent
    from aitp_desk.cli.evaluation.suggestion import (
        suggest_from_enrichment,
        suggest_from_refusals,
        suggest_from_titles,
        write_suggestions,
    )
    from aitp_desk.knowledge.enrichment.file import FILE, read_lines
    from aitp_desk.store.engine.engines import find_engine, open_store
    from aitp_desk.store.reads.console.refusals import refusals

    async with open_standalone_agent(config, os.environ, uses_model=False) as answering:
        if not refused:
            library = answering.knowledge.library
            lines, _ = read_lines(config.content_folder / FILE)
            found = suggest_from_enrichment(lines, library) or suggest_from_titles(library)
            return write_suggestions(found[:count])
        if missing := find_engine(config.store.url).find_missing(config.store.url, config.data):
            right = "serve the site first, or name its data folder with --data"
            fail([f"--refused: there is no {missing}; {right}."], UNUSABLE)
        async with open_store(config.store, config.data) as store:
            return write_suggestions(
                (await suggest_from_refusals(refusals(store), answering))[:count]
            )


def _addresses(standalone: StandaloneAgent) -> set[str]:
    """Return the addresses of all pages and sections, in all languages."""
    editions = standalone.knowledge.editions
    libraries = [editions.find_library(tag) for tag in editions.languages]
    sections = {one.url for library in libraries for one in library.passages}
    return sections | {document.url for document in editions.documents}
