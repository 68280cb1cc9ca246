"""Who may do what with a thread: the one rule, for what is written and for what is read."""

from __future__ import annotations

from aitp_desk.model.principal import Principal, may_read_every_thread


def may_know_parent(principal: Principal, fork_owner: str | None, parent_owner: str | None) -> bool:
    """Whether a reader of a fork may be told its parent's id, being allowed to read that parent.

    The id of an anonymous parent is a secret that opens it. Whoever owns the fork has shown that
    they hold it; whoever else reads the fork has not, and is not given it.
    """
    if parent_owner is not None or may_read_every_thread(principal):
        return True
    return fork_owner is not None and fork_owner == principal.id


def may_delete(principal: Principal, owner: str | None) -> bool:
    """Whether the caller may delete a thread that it may use, and whatever was said there.

    Its owner may, of an anonymous thread whoever has its id, and who looks after the desk.
    """
    return owner is None or owner == principal.id or may_read_every_thread(principal)
