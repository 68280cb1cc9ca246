"""``aitp-desk enrich``: a model's questions for each passage, written once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import (
    data_folder,
    fail,
    first_faults,
    mistakes_told,
    overrides,
    site_folder,
)

if TYPE_CHECKING:
    from aitp_desk.config import Config
    from aitp_desk.knowledge.enrichment.coverage import Coverage
    from aitp_desk.knowledge.enrichment.file import Line
    from aitp_desk.knowledge.enrichment.replies import Dropped

_EXAMPLES = 5
"""How many dropped texts are printed for each reason."""
_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@site_folder
@data_folder
@overrides
@click.option("--only", metavar="PAGE", default="", help="Only a page and the pages below it.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many passages.")
@click.option("--check", is_flag=True, help="Only list what is out of date; exit code 1 if any.")
@click.option("--requests", type=_file, help="Write the passages to send into a file; send none.")
@click.option("--results", type=_file, help="Read a model's replies from a file; send nothing.")
def enrich(
    folder: Path,
    data: Path | None,
    overrides: tuple[str, ...],
    only: str,
    limit: int | None,
    check: bool,
    requests: Path | None,
    results: Path | None,
) -> None:
    """Have a model write what visitors may ask of each passage in FOLDER.

    The questions and the quotes that answer them are kept in enriched.jsonl in the content folder.
    The desk uses them to find passages, without network or key. Only passages that are new or have
    changed are sent.
    """
    with mistakes_told():
        from aitp_desk.config import load_config

        config = load_config(folder, overrides, port=0, data=data)
        coverages = _coverages(config)
        for coverage in coverages:
            for problem in first_faults([*map(str, coverage.problems)]):
                click.echo(problem, err=True)
        if check:
            _check(coverages, only)
        elif results is not None:
            _take_results(config, coverages, results)
        elif requests is not None:
            _write_requests(coverages, requests, only, limit)
        else:
            fail(["Give --requests, --results or --check."])


def _coverages(config: Config) -> list[Coverage]:
    """The content of the site and of each further site agent, with what is enriched of it."""
    from aitp_desk.egress import Egress
    from aitp_desk.knowledge.enrichment.coverage import Coverage
    from aitp_desk.knowledge.languages import Languages
    from aitp_desk.knowledge.watch import Knowledge
    from aitp_desk.knowledge.web.rounds import Rounds

    own = [("", config), *((agent.name, config.of_agent(agent)) for agent in config.agents)]
    found = []
    for name, one in own:
        web = one.content.web
        kept = one.data / "agents" / name if name else one.data
        knowledge = Knowledge(
            one.content_folder,
            one.data,
            one.content.synonyms,
            Rounds(web, Egress(), kept) if web.lists else None,
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
        faults += [f"{_name(line)}: the passage changed." for line in coverage.outdated(only)]
        faults += [
            f"{passage.document} > {' / '.join(passage.trail)}: not enriched."
            for passage in coverage.missing(only).values()
        ]
        faults += map(str, coverage.problems)
    if faults:
        fail([*first_faults(faults), "Run `aitp-desk enrich` to write what is missing."])
    click.echo(f"All {sum(map(len, coverages))} passages are enriched.")


def _name(line: Line) -> str:
    return f"{line.page} > {' / '.join(line.headings)}"


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
    click.echo(
        f"Wrote {len(rows)} of {sum(map(len, coverages))} passages to {out}. Write one reply a"
        f" line, as `reply` in the first line shows, and pass that file to --results."
    )


def _take_results(config: Config, coverages: Sequence[Coverage], file: Path) -> None:
    """Validate the replies in a file and merge them."""
    import msgspec

    from aitp_desk.agent.enrichment import Writer
    from aitp_desk.knowledge.enrichment.replies import Dropped, Reply

    dropped: list[Dropped] = []
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
            dropped.append(Dropped(f"line {number}", "not a reply", str(error)))
    writer = Writer(coverages, config.site.url)
    writer.take(replies)
    _report(writer.save(), [*dropped, *writer.dropped])


def _report(saved: Sequence[str], dropped: Sequence[Dropped]) -> None:
    """Print what was written and what was dropped, by reason."""
    for line in saved:
        click.echo(line)
    for reason, count in Counter(one.reason for one in dropped).most_common():
        click.echo(f"Dropped {count}: {reason}.", err=True)
        for one in [one for one in dropped if one.reason == reason][:_EXAMPLES]:
            click.echo(f"  {one.digest}: {one.text[:200]}", err=True)
