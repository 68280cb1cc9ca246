"""How well visitors' words reach the actions that they ask for, by words and by meaning.

    python -m tests.answers.actions           # the figures
    python -m tests.answers.actions practice  # those of one group of files
    python -m tests.answers.actions --show    # and what is missed of those that may be seen
    python -m tests.answers.actions --write   # put the figures into the documentation

needs the extra `semantic`.
"""

from __future__ import annotations

import argparse
import asyncio

from tests.answers.actions.figures import PAGE, measure, with_figures, write_table
from tests.answers.actions.table import GROUPS, SEEN


async def main() -> None:
    """Print the figures; with options also the misses, and into the documentation."""
    parser = argparse.ArgumentParser(prog="tests.answers.actions", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is missed of the seen ones")
    parser.add_argument("--write", action="store_true", help="put the figures into the page")
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all if none is named")
    given = parser.parse_args()
    groups = given.groups or [*GROUPS]
    if unknown := set(groups) - GROUPS.keys():
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    results = [await measure(groups, by_meaning=by_meaning) for by_meaning in (False, True)]
    print(write_table(results, groups))
    if given.show:
        for result in results:
            print("by meaning" if result.by_meaning else "by words")
            for missed in result.missed:
                if missed.file in SEEN:
                    print(f"  {missed.said.desk:6} {missed.said.text}")
                    print(f"         is {missed.found or '-'}, wanted {missed.said.action or '-'}")
    if given.write:
        PAGE.write_text(with_figures(PAGE.read_text("utf-8"), results, groups), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
