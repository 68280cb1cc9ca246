"""Buttons for actions that change something or are paid in advance."""

from __future__ import annotations

from collections.abc import Iterable

from aitp_desk.model.calls.action import Action
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import Texts

_ACTS = """\
<h2>$title</h2>
<p class="hint">$hint</p>
<ul>
$buttons
</ul>"""
_DONE = "acts.done"
_BOUGHT = "acts.bought"
_BUTTON = (
    '<li><button class="chip" type="button" data-action="$name" title="$summary">$label</button>'
    "</li>"
)


def list_offered_actions(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions to offer to visitors; plain queries are simply asked."""
    return tuple(
        one
        for one in actions
        if (one.kind != "query" or one.is_prepaid) and one.open_to != "operators"
    )


def render_actions(acts: Iterable[Action], texts: Texts) -> Markup:
    """Render a button for each, which starts it; nothing where there are none.

    The conversation asks for its arguments.
    """
    offered = tuple(acts)
    bought = tuple(act for act in offered if act.is_prepaid and act.open_to == "anyone")
    done = tuple(act for act in offered if act not in bought)
    groups = ((_DONE, done), (_BOUGHT, bought))
    return join_markup([_render(words, held, texts) for words, held in groups if held])


def _render(words: str, acts: Iterable[Action], texts: Texts) -> Markup:
    buttons = [
        fill_template(
            _BUTTON,
            name=act.name,
            label=act.name.replace("_", " ").capitalize(),
            summary=act.summary,
        )
        for act in acts
    ]
    return fill_template(
        _ACTS, title=texts.say(words), hint=texts.say(f"{words}.hint"), buttons=join_markup(buttons)
    )
