"""Rules for the settings of signing agents beyond their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aitp_desk.config.problem import Problem
from aitp_desk.config.sections.access.signatures import SignatureAgent
from aitp_desk.model.access.scope import is_open_scope
from aitp_desk.model.web_address import origin_of, web_address, wrong_address


def check_signature_agents(
    agents: Sequence[SignatureAgent], *, allow_loopback: bool
) -> Iterator[Problem]:
    """Yield the faults of listed agents.

    Parameters:
        allow_loopback: whether URLs of this machine are allowed.
    """
    for number, agent in enumerate(agents, 1):
        if wrong := _wrong_origin(agent.origin, allow_loopback=allow_loopback):
            yield Problem(
                "signature_agents.origin",
                f"the value of table {number} {wrong}; it takes an origin such as"
                " https://agent.example.",
            )
        elif any(agent.origin == other.origin for other in agents[: number - 1]):
            yield Problem("signature_agents.origin", f"{agent.origin} is used twice.")
        for scope in agent.scopes:
            if not is_open_scope(scope):
                yield Problem(
                    "signature_agents.scopes",
                    f"{scope!r} cannot be granted to a signature; it takes threads, "
                    "actions and actions:NAME.",
                )


def _wrong_origin(origin: str, *, allow_loopback: bool) -> str | None:
    if wrong := wrong_address(origin, allow_loopback=allow_loopback):
        return wrong
    address = web_address(origin)
    if address is None or address.path or address.query or address.fragment:
        return "has more than scheme, host and port"
    written = origin_of(address)
    return None if origin == written else f"must be written as {written}"
