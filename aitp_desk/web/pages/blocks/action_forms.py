"""Buttons for actions that change something or are paid in advance."""

from __future__ import annotations

from collections.abc import Iterable

from aitp_desk.model.calls.action import Action
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import Texts

_ACTS = """\
<h2>$title</h2>
$hint
<ul>
$buttons
</ul>"""
_HINT = '<p class="hint">$hint</p>'
_SIGN_IN = '<p class="hint"><a href="$url">{{acts.done.sign_in}}</a></p>'
_KEY = '<p class="hint">{{acts.done.hint}} <a href="$url">{{layout.contact}}</a></p>'
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


def render_actions(
    acts: Iterable[Action], texts: Texts, sign_in: str = "", contact: str = ""
) -> Markup:
    """Render a button for each, which starts it; nothing where there are none.

    The conversation asks for its arguments.

    Parameters:
        sign_in: the page where visitors sign in; empty without one.
        contact: the page or address where they may ask for a key; empty without one.
    """
    offered = tuple(acts)
    bought = tuple(act for act in offered if act.is_prepaid and act.open_to == "anyone")
    done = tuple(act for act in offered if act not in bought)
    groups = (
        (_DONE, done, _render_access(done, texts, sign_in, contact)),
        (_BOUGHT, bought, fill_template(_HINT, hint=texts.say("acts.bought.hint"))),
    )
    return join_markup([_render(words, held, hint, texts) for words, held, hint in groups if held])


def _render_access(acts: Iterable[Action], texts: Texts, sign_in: str, contact: str) -> Markup:
    """Render how visitors come to use actions; nothing for those that are open to anyone."""
    if all(act.open_to == "anyone" for act in acts):
        return Markup()
    if sign_in:
        return fill_template(texts.template(_SIGN_IN), url=sign_in)
    if contact:
        return fill_template(texts.template(_KEY), url=contact)
    return fill_template(_HINT, hint=texts.say("acts.done.hint"))


def _render(words: str, acts: Iterable[Action], hint: Markup, texts: Texts) -> Markup:
    buttons = [
        fill_template(
            _BUTTON,
            name=act.name,
            label=act.name.replace("_", " ").capitalize(),
            summary=act.summary,
        )
        for act in acts
    ]
    return fill_template(_ACTS, title=texts.say(words), hint=hint, buttons=join_markup(buttons))
