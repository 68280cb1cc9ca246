"""Settings of actions that an OpenAPI file describes."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_desk.config.sections.actions.action_terms import ActionTerms, Prefix, Variable
from aitp_desk.config.units import Url


class OperationTerms(ActionTerms, frozen=True, kw_only=True):
    """Changes to the file's description of one operation."""

    operation: Annotated[str, Meta(description="The operationId, one of openapi.operations.")] = ""


class OpenApi(msgspec.Struct, frozen=True, kw_only=True):
    """A service of the site whose operations become actions. Repeatable.

    An OpenAPI file (3.0 or 3.1) describes them. Only the operations named here are offered.
    """

    file: Annotated[
        str,
        Meta(
            extra={"unit": "a path"},
            description="The OpenAPI file, YAML or JSON, relative to the site's folder.",
        ),
    ] = ""
    operations: Annotated[
        tuple[str, ...],
        Meta(
            extra={"unit": "operationIds"},
            description='The offered operations; "*" alone offers all.',
        ),
    ] = ()
    prefix: Prefix = ""
    base_url: Annotated[
        Url,
        Meta(
            description="The service's URL; it may be on this machine or a private network. By "
            "default the first of the file's servers.",
        ),
    ] = ""
    bearer_env: Annotated[
        Variable,
        Meta(description="The environment variable with the token that is sent to the service."),
    ] = ""
    basic_env: Annotated[
        Variable,
        Meta(
            description=(
                "The environment variable with the service's user name and password, joined by a"
                " colon."
            )
        ),
    ] = ""
    header_env: Annotated[
        dict[str, str],
        Meta(
            extra={"unit": "the name of an environment variable"},
            description="Further request headers by name, such as X-Api-Key.",
        ),
    ] = {}
    max_bytes: Annotated[
        Annotated[int, Meta(ge=1024, le=64 * 1024 * 1024)],
        Meta(extra={"unit": "bytes"}, description="The largest response that the desk reads."),
    ] = 1024 * 1024
    terms: tuple[OperationTerms, ...] = ()
