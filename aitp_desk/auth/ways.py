"""All ways to prove who one is, put together as a site's configuration has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aitp_desk.auth.api_key import ApiKeys
from aitp_desk.auth.identify import Identifier
from aitp_desk.auth.keys import MasterKey
from aitp_desk.auth.verified import Epoch, Verified
from aitp_desk.config import Config
from aitp_desk.store import reads
from aitp_desk.store.base import Store
from aitp_desk.store.work.tokens import TOKENS_EPOCH


def make_identifier(
    config: Config, store: Store, key: MasterKey, clock: Callable[[], float]
) -> Identifier:
    """Put together what tells who is calling.

    Parameters:
        key: the desk's master key.
        clock: Unix seconds.
    """
    epoch = Epoch(partial(reads.epoch, store, TOKENS_EPOCH))
    return Identifier(
        api_keys=ApiKeys(partial(reads.token_by_id, store), key, Verified(epoch, clock)),
        trusted_proxies=config.server.trusted_proxies,
    )
