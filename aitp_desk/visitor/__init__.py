"""The visiting side: one call for any site, whichever protocol it speaks.

    async with visit("https://shop.example") as site:
        answer = await site.ask("Do you ship to Norway?")

It uses the model, egress and the protocols' wire forms, and never a desk.
"""

from aitp_desk.visitor.base import (
    Answer,
    Choice,
    Endpoint,
    Outcome,
    Quote,
    SiteAction,
    Source,
    UnusedEndpoint,
)
from aitp_desk.visitor.cache import ResponseCache
from aitp_desk.visitor.errors import (
    BudgetSpent,
    CredentialNeeded,
    NoEndpoint,
    NotConfirmed,
    NotOffered,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
    VisitError,
)
from aitp_desk.visitor.identity import Identity
from aitp_desk.visitor.payments import Payer
from aitp_desk.visitor.policy import Confirm, PlannedCall, Policy
from aitp_desk.visitor.proof.signatures import KeyUnusable, Signer, load_key
from aitp_desk.visitor.site import Site, visit

__all__ = [
    "Answer",
    "BudgetSpent",
    "Choice",
    "Confirm",
    "CredentialNeeded",
    "Endpoint",
    "Identity",
    "KeyUnusable",
    "NoEndpoint",
    "NotConfirmed",
    "NotOffered",
    "Outcome",
    "Payer",
    "PlannedCall",
    "Policy",
    "PolicyRefused",
    "Quote",
    "ResponseCache",
    "Signer",
    "Site",
    "SiteAction",
    "SiteFailed",
    "SiteRefused",
    "Source",
    "UnusedEndpoint",
    "VisitError",
    "load_key",
    "visit",
]
