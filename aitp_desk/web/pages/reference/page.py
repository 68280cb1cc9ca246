"""Renders the page: an index, the operations by task, and the schemas.

The page is made from the document alone, and complete without its script, which adds the filter,
the copies of examples and the requests sent from the page.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.config import Site
from aitp_desk.web.pages.assets import API_SCRIPT, API_STYLE
from aitp_desk.web.pages.blocks.brand import PLAIN, Brand
from aitp_desk.web.pages.blocks.samples import choose_question, write_samples
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import ENGLISH, find_texts
from aitp_desk.web.pages.reference.operation import find_common_refusals, write_operation
from aitp_desk.web.pages.reference.schema import SchemaIndex
from aitp_desk.web.pages.reference.task import TASKS, Operation, group_operations
from aitp_desk.web.pages.renderer import NOTHING, read_template, render_frame

_API = read_template("api.html")
_SAMPLES = read_template("samples.html")
_INDEX = '<li><a href="#task.$id">$title</a> <span>$count</span></li>'
_GROUP = (
    '<details class="group" id="task.$id"$open>\n'
    "<summary><h2>$title</h2> <span>$count</span></summary>\n$lines\n</details>"
)


def render_api(
    site: Site,
    encoded: bytes,
    path: str,
    examples: Sequence[str] = (),
    brand: Brand = PLAIN,
    *,
    has_samples: bool = True,
) -> bytes:
    """Render the page.

    Parameters:
        encoded: the document.
        path: of the document.
        examples: questions for the examples of requests.
        has_samples: whether its end has two requests to the site's main agent.
    """
    texts = find_texts(ENGLISH)
    samples = NOTHING
    if has_samples:
        samples = fill_template(texts.template(_SAMPLES), **write_samples(site.url, examples))
    document = msgspec.json.decode(encoded)
    operations = [
        Operation(method.upper(), address, item)
        for address, methods in document["paths"].items()
        for method, item in methods.items()
    ]
    schemas = SchemaIndex(document, operations)
    common = find_common_refusals(operations)
    question = choose_question(examples)
    groups = [
        (
            task.id,
            task.title,
            tuple(write_operation(site.url, one, schemas, common, question) for one in members),
        )
        for task, members in group_operations(operations).items()
    ]
    groups.append(("schemas", "Schemas", schemas.write_schemas()))
    main = fill_template(
        _API,
        site=site.name,
        style=API_STYLE.url,
        script=API_SCRIPT.url,
        document=path,
        samples=samples,
        total=str(len(operations)),
        common=", ".join(sorted(common)),
        index=join_markup(
            fill_template(_INDEX, id=id_, title=title, count=str(len(lines)))
            for id_, title, lines in groups
        ),
        groups=join_markup(_write_group(*group) for group in groups),
    )
    return render_frame(
        site,
        main,
        title=f"{site.name} for programs",
        description=f"What programs can call at {site.name}, and how.",
        texts=texts,
        language=ENGLISH,
        brand=brand,
    )


def _write_group(id_: str, title: str, lines: tuple[Markup, ...]) -> Markup:
    """Show a group; the site's actions are open from the start."""
    return fill_template(
        _GROUP,
        id=id_,
        open=Markup(" open") if id_ == TASKS[0].id else NOTHING,
        title=title,
        count=str(len(lines)),
        lines=join_markup(lines),
    )
