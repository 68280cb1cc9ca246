"""HTTP Agent Context (HAC 1.0): the second face of an HTTP answer, for agents.

Nothing here knows the desk, a server or a network: any program may choose the face of an answer
(:func:`negotiate`) and write it (:func:`wrap`, :func:`write_error`, :func:`write_discovery`). What
somebody else has answered is checked by :mod:`aitp_desk.protocols.hac.linter`; an aiohttp
application is given all of it by :mod:`aitp_desk.protocols.hac.middleware`. Neither is imported
here.
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
