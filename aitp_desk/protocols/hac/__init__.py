"""HTTP Agent Context (HAC 1.0): a second representation of HTTP responses, for agents.

Nothing here depends on the desk, a server or a network. Any program may choose the representation
of a response (:func:`negotiate`) and write it (:func:`wrap`, :func:`write_error`,
:func:`write_discovery`). :mod:`aitp_desk.protocols.hac.linter` checks the responses of other
servers; :mod:`aitp_desk.protocols.hac.middleware` adds all of it to an aiohttp application. Neither
is imported here.
"""

from aitp_desk.protocols.hac.envelope import (
    Action,
    Context,
    Cost,
    Discovery,
    Field,
    HacError,
    NotHac,
    Recovery,
    Related,
    Resource,
    Safety,
)
from aitp_desk.protocols.hac.negotiation import (
    MEDIA_TYPE,
    VERSION,
    Face,
    content_type,
    negotiate,
)
from aitp_desk.protocols.hac.writer import wrap, wrapping, write_discovery, write_error

__all__ = [
    "MEDIA_TYPE",
    "VERSION",
    "Action",
    "Context",
    "Cost",
    "Discovery",
    "Face",
    "Field",
    "HacError",
    "NotHac",
    "Recovery",
    "Related",
    "Resource",
    "Safety",
    "content_type",
    "negotiate",
    "wrap",
    "wrapping",
    "write_discovery",
    "write_error",
]
