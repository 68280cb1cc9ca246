"""``aitp-desk enrich``: a model's questions for each passage, written once."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import (
    data_folder,
    fail,
    list_first_faults,
    mistakes_told,
    overrides,
    site_folder,
)
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aitp_desk.agent.enrichment.request import Group
    from aitp_desk.config import Config
    from aitp_desk.knowledge.enrichment.coverage import Coverage
    from aitp_desk.knowledge.enrichment.replies import DroppedItem

_SECONDS = 120
"""The timeout of the API; long, because no visitor waits."""
_CENT = 0.01
_EXAMPLES = 5
"""How many dropped texts are printed for each reason."""
_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@site_folder
@data_folder
@overrides
@click.option("--only", metavar="PAGE", default="", help="Only this page and its subpages.")
@click.option("--limit", type=click.IntRange(min=1), help="The most passages to send.")
@click.option(
    "--check", is_flag=True, help="Only list outdated passages; exit code 1 if there are any."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of the price.")
@click.option("--no-batch", is_flag=True, help="Send single requests: faster, at twice the price.")
@click.option(
    "--requests", type=_file, help="Write the passages to a file instead of sending them."
)
@click.option(
    "--results", type=_file, help="Read a model's replies from a file instead of sending requests."
)
def enrich(
    folder: Path,
    data: Path | None,
    overrides: tuple[str, ...],
    only: str,
    limit: int | None,
    check: bool,
    yes: bool,
    no_batch: bool,
    requests: Path | None,
    results: Path | None,
) -> None:
    """Let a model write likely visitor questions for each passage in FOLDER.

    The questions and the quotes that answer them are kept in enriched.jsonl in the content folder.
    The desk uses them to find passages, without network or key. Only new and changed passages are
    sent, to the model of `[model]`, of any provider, with its key if it needs one. Results are kept
    if you stop the command; the next run continues.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        config = load_config(folder, overrides, port=0, data=data)
        coverages = _coverages(config)
        for coverage in coverages:
            for problem in list_first_faults([*map(str, coverage.problems)]):
                click.echo(problem, err=True)
        if check:
            _check(coverages, only)
        elif results is not None:
            _take_results(config, coverages, results)
        elif requests is not None:
            _write_requests(coverages, requests, only, limit)
        else:
            _send(config, coverages, only, limit, yes=yes, no_batch=no_batch)


def _coverages(config: Config) -> list[Coverage]:
    """Return the enrichment coverage of the content of each site agent."""
    from aitp_desk.egress import Egress
    from aitp_desk.knowledge.documents.languages import Languages
    from aitp_desk.knowledge.enrichment.coverage import Coverage
    from aitp_desk.knowledge.snapshot import Knowledge
    from aitp_desk.knowledge.web.schedule import ReadingSchedule

    own = [("", config), *((agent.name, config.of_agent(agent)) for agent in config.agents)]
    found = []
    for name, one in own:
        web = one.content.web
        kept = one.data / "agents" / name if name else one.data
        knowledge = Knowledge(
            one.content_folder,
            one.data,
            one.content.synonyms,
            ReadingSchedule(web, Egress(), kept) if web.lists else None,
            name,
            Languages(one.site.language, one.site.languages),
            enriched=False,
        )
        found.append(Coverage(one.content_folder, knowledge.editions.passages()))
    return found


def _check(coverages: Sequence[Coverage], only: str) -> None:
    """List lines whose passage changed, and passages without a line."""
    faults = []
    for coverage in coverages:
        faults += [
            f"{_place(line.page, line.headings)}: the passage changed."
            for line in coverage.outdated(only)
        ]
        faults += [
            f"{_place(passage.document, passage.trail)}: not enriched."
            for passage in coverage.missing(only).values()
        ]
        faults += map(str, coverage.problems)
    if faults:
        fail([*list_first_faults(faults), "Run `aitp-desk enrich` to enrich them."])
    click.echo(f"Enriched: all of {write_count(sum(map(len, coverages)), 'passage')}.")


def _place(page: str, headings: Sequence[str]) -> str:
    return " > ".join(filter(None, (page, " / ".join(headings))))


def _write_requests(coverages: Sequence[Coverage], out: Path, only: str, limit: int | None) -> None:
    """Write the instructions and, a line each, the passages without a line."""
    import msgspec

    from aitp_desk.knowledge.enrichment.prompt import INSTRUCTIONS, REPLY, passage_data

    rows = [
        passage_data(digest, passage)
        for coverage in coverages
        for digest, passage in coverage.missing(only).items()
    ][:limit]
    head = {"instructions": INSTRUCTIONS, "reply": REPLY}
    try:
        out.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in (head, *rows)))
    except OSError as error:
        fail([f"{out} cannot be written: {error.strerror}."])
    passages = write_count(sum(map(len, coverages)), "passage")
    click.echo(
        f"Wrote {len(rows)} of {passages} to {out}. Write one reply a"
        f" line, in the format of `reply` in the first line, and pass that file to --results."
    )


def _take_results(config: Config, coverages: Sequence[Coverage], file: Path) -> None:
    """Validate the replies in a file and merge them."""
    import msgspec

    from aitp_desk.agent.enrichment.writer import EnrichmentWriter
    from aitp_desk.knowledge.enrichment.replies import DroppedItem, Reply

    dropped: list[DroppedItem] = []
    replies: list[Reply] = []
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        fail([f"{file} cannot be read: {error.strerror}."])
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            replies.append(msgspec.json.decode(line, type=Reply))
        except msgspec.DecodeError as error:
            dropped.append(DroppedItem(f"line {number}", "not a valid reply", str(error)))
    writer = EnrichmentWriter(coverages, config.site.url)
    writer.add_replies(replies)
    saved = writer.save()
    _report(saved, [*dropped, *writer.dropped])
    if not saved:
        fail([f"{file} has no reply to a passage of this site. Nothing was written."])


def _send(
    config: Config,
    coverages: Sequence[Coverage],
    only: str,
    limit: int | None,
    *,
    yes: bool,
    no_batch: bool,
) -> None:
    """Send the missing passages to the model, and save its replies."""
    from aitp_desk.agent.enrichment.run import EnrichmentRun, list_missing
    from aitp_desk.agent.generative.providers.base import ModelFailed
    from aitp_desk.agent.generative.providers.chain import describe_obstacle, make_client

    batch = config.model.has_batches and not no_batch
    seconds = max(config.model.reply_seconds, _SECONDS)
    api = make_client(config.model, os.environ, seconds)
    if api is None:
        if groups := list_missing(coverages, only, limit):
            click.echo(_estimate(config, groups, batch=batch))
        obstacle = describe_obstacle(config.model, os.environ)
        fail([f"{obstacle} Without a model, write the passages to a file with --requests."])
    run = EnrichmentRun(
        config,
        lambda: coverages,
        api,
        now=lambda: datetime.now(UTC),
        report=click.echo,
        progress=_progress,
    )

    async def go() -> None:
        try:
            await run.finish_earlier()
            groups = run.list_missing(only, limit)
            if groups and _agreed(config, groups, yes=yes, batch=batch):
                failed = await run.send(groups, batch=batch)
                if failed:
                    told = f"Failed: {write_count(failed, 'request')}."
                    click.echo(f"{told} Run the command again to send the rest.", err=True)
        finally:
            await api.close()

    try:
        asyncio.run(go())
    except ModelFailed as error:
        hint = " Run the command again."
        if error.is_refused_key:
            hint = f" Check {config.model.key_variable or 'model.key_env'}."
        fail([f"The model's API failed: {error.reason}.{hint}"])
    finally:
        _report([], run.dropped)
    left = sum(len(coverage.missing(only)) for coverage in coverages)
    click.echo(
        f"Left to enrich: {write_count(left, 'passage')}." if left else "All passages are enriched."
    )


def _agreed(config: Config, groups: Sequence[Group], *, yes: bool, batch: bool) -> bool:
    """Print the price of the run, and ask for confirmation."""
    click.echo(_estimate(config, groups, batch=batch))
    return yes or click.confirm("Go on?")


def _estimate(config: Config, groups: Sequence[Group], *, batch: bool) -> str:
    from aitp_desk.agent.enrichment.request import estimate

    told = estimate(groups, config.model, batch=batch)
    cost = f"about ${told.dollars:.2f}" if told.dollars >= _CENT else "less than $0.01"
    return (
        f"{write_count(told.passages, 'passage')} in {write_count(told.requests, 'request')} to"
        f" {config.model.name}: about"
        f" {told.read:,} input tokens and {told.written:,} output tokens,"
        f" {cost}{' as a batch' if batch else ''}."
    )


def _progress(done: int) -> None:
    click.echo(f"\r{write_count(done, 'request')} done.", err=True, nl=not sys.stderr.isatty())


def _report(saved: Sequence[str], dropped: Sequence[DroppedItem]) -> None:
    """Print what was written and what was dropped, by reason."""
    for line in saved:
        click.echo(line)
    for reason, count in Counter(one.reason for one in dropped).most_common():
        click.echo(f"Dropped {count}: {reason}.", err=True)
        for one in [one for one in dropped if one.reason == reason][:_EXAMPLES]:
            click.echo(f"  {one.digest}: {one.text[:200]}", err=True)
