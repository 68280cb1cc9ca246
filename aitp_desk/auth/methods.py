"""Creates the authentication methods that a site's configuration enables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from aitp_desk.auth.console_sessions import ConsoleSessions
from aitp_desk.auth.credentials.api_key import ApiKeys
from aitp_desk.auth.credentials.desk_chain import DESK_ID, make_desk_id
from aitp_desk.auth.credentials.grant_links import GrantLinks
from aitp_desk.auth.credentials.guess_limiter import GuessLimiter
from aitp_desk.auth.credentials.last_use import LastUse
from aitp_desk.auth.credentials.nonces import NonceCache
from aitp_desk.auth.credentials.proof import Head, Proof
from aitp_desk.auth.credentials.proof_cache import CredentialEpoch, ProofCache
from aitp_desk.auth.credentials.signed_request import SignedRequests
from aitp_desk.auth.identifier import AuthMethods, Identifier, SigningAgents
from aitp_desk.auth.jwt.bearer import BearerTokens
from aitp_desk.auth.jwt.claims import ClaimRules
from aitp_desk.auth.jwt.issuers import (
    Issuer,
    IssuerKeys,
    SharedSecret,
    list_token_types,
    make_unrevoked_principal,
    use_once,
)
from aitp_desk.auth.jwt.jwks import RemoteKeys
from aitp_desk.auth.jwt.own_issuer import make_own_issuer
from aitp_desk.auth.jwt.signing_keys import SigningKeys
from aitp_desk.auth.keys.data_keys import DataKeys
from aitp_desk.config import Config
from aitp_desk.config import Issuer as IssuerSettings
from aitp_desk.config.rules.issuers import read_secret
from aitp_desk.config.sections.access.issuers import SHARED_SECRET_ALGORITHMS
from aitp_desk.egress import Egress
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import grants as grant_reads
from aitp_desk.store.units.keys.tokens import note_token_use

SIGNATURES_EXTRA = "http_message_signatures"
"""The package of the extra ``signatures``."""


def make_identifier(
    config: Config,
    *,
    store: Store,
    keys: DataKeys,
    egress: Egress,
    epoch: CredentialEpoch,
    guesses: GuessLimiter | None,
    sessions: ConsoleSessions | None,
    is_shared: bool,
    clock: Callable[[], float],
) -> Identifier:
    """Create the identifier of callers.

    Parameters:
        egress: fetches the keys of others.
        epoch: the epoch of credentials.
        guesses: limits failed lookups of API keys.
        sessions: those of the console, if it is served.
        is_shared: whether other processes work on the same store.
        clock: Unix seconds.
    """
    find_token = partial(reads.token_by_id, store)
    last_use = LastUse(partial(_note_use, store), clock)
    nonces = NonceCache(store, is_shared=is_shared)
    methods = AuthMethods(
        api_keys=ApiKeys(find_token, keys, ProofCache(epoch, clock), last_use, clock),
        jwts=BearerTokens(
            (
                *_issuers(config, store, nonces, egress),
                *_own_issuer(config, store, keys, clock),
            ),
            ProofCache(epoch, clock),
            clock,
        ),
        links=GrantLinks(partial(grant_reads.find_grant_by_hash, store), keys.hash_link, clock),
        signed_requests=SignedRequests(
            find_token,
            keys,
            ProofCache(epoch, clock),
            nonces,
            last_use,
            window_seconds=config.signed_requests.window_seconds,
            clock=clock,
        ),
        sessions=sessions,
    )
    return Identifier(
        methods,
        agents=_agents(config, nonces, egress, clock),
        guesses=guesses,
        trusted_proxies=config.server.trusted_proxies,
        desk_id=make_desk_id(keys.derive(DESK_ID)),
        clock=clock,
    )


def _note_use(store: Store, key_id: str, used_at: int) -> None:
    store.record(note_token_use, id=key_id, used_at=used_at)


def _issuers(config: Config, store: Store, nonces: NonceCache, egress: Egress) -> Iterator[Issuer]:
    """Yield the configured issuers."""
    for settings in config.issuers:
        yield Issuer(
            url=settings.url,
            algorithms=frozenset(settings.algorithms),
            keys=_keys(settings, config.folder, egress),
            bounds=ClaimRules(
                audience=settings.audience or config.site.url,
                leeway=settings.leeway_seconds,
                max_lifetime=settings.max_lifetime_seconds,
            ),
            types=list_token_types(settings.type),
            introduce=partial(make_unrevoked_principal, store, settings),
            use=partial(use_once, nonces, settings.name) if settings.replay == "once" else None,
        )


def _own_issuer(
    config: Config, store: Store, keys: DataKeys, clock: Callable[[], float]
) -> Iterator[Issuer]:
    """Yield the desk itself if it issues tokens."""
    if config.oauth.enabled:
        yield make_own_issuer(store=store, keys=SigningKeys(keys), url=config.site.url, clock=clock)


def _keys(settings: IssuerSettings, folder: Path, egress: Egress) -> IssuerKeys:
    if settings.algorithms == SHARED_SECRET_ALGORITHMS:
        return SharedSecret(read_secret(settings, folder))
    return RemoteKeys(name=settings.name, issuer=settings.url, address=settings.jwks, egress=egress)


def _agents(
    config: Config, nonces: NonceCache, egress: Egress, clock: Callable[[], float]
) -> SigningAgents | None:
    """Return the verifier of message signatures; None if it is not installed or configured."""
    if find_spec(SIGNATURES_EXTRA) is None:
        return None
    if not config.signatures.others and not config.signature_agents:
        return None

    def make() -> SigningAgents:
        from aitp_desk.auth.web_bot_auth.agents import SigningAgentsMethod
        from aitp_desk.auth.web_bot_auth.directories import KeyDirectories

        listed = {agent.origin: frozenset(agent.scopes) for agent in config.signature_agents}
        return SigningAgentsMethod(
            site_url=config.site.url,
            listed=listed,
            takes_others=config.signatures.others,
            max_seconds=config.signatures.max_seconds,
            directories=KeyDirectories(egress, listed, clock),
            nonces=nonces,
            clock=clock,
        )

    return _LazySigningAgents(make)


class _LazySigningAgents:
    """Creates the verifier of agents' signatures at the first signed request."""

    def __init__(self, make: Callable[[], SigningAgents]) -> None:
        self._make = make
        self._made: SigningAgents | None = None

    async def verify(self, head: Head, address: str) -> Proof | None:
        """Verify as :meth:`SigningAgents.verify`."""
        if self._made is None:
            self._made = self._make()
        return await self._made.verify(head, address)
