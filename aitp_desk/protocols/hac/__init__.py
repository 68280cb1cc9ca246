"""HTTP Agent Context (HAC 1.0): the second face of an HTTP answer, for agents.

Nothing here knows the desk, a server or a network: any program may choose the face of an answer
(:func:`negotiate`) and write it (:func:`wrap`, :func:`write_error`, :func:`write_discovery`), and
check one of others (:func:`check_document`).
"""

from aitp_desk.protocols.hac.checking import check_document
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
    wrap,
    write_discovery,
    write_error,
)
from aitp_desk.protocols.hac.negotiation import (
    MEDIA_TYPE,
    VERSION,
    Face,
    content_type,
    negotiate,
)
from aitp_desk.protocols.hac.shapes import Finding

__all__ = [
    "MEDIA_TYPE",
    "VERSION",
    "Action",
    "Context",
    "Cost",
    "Discovery",
    "Face",
    "Field",
    "Finding",
    "HacError",
    "NotHac",
    "Recovery",
    "Related",
    "Resource",
    "Safety",
    "check_document",
    "content_type",
    "negotiate",
    "wrap",
    "write_discovery",
    "write_error",
]
