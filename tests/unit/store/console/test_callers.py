"""The names that the owner gave to callers, on every engine."""

from __future__ import annotations

from aitp_desk.store.base import Store
from aitp_desk.store.reads.console.callers import AT_ONCE, names
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.keys.tokens import create_token


async def test_keys_are_named_and_other_callers_are_not(store: Store) -> None:
    ids = [f"{number:016x}" for number in range(AT_ONCE + 3)]
    for id_ in ids:
        token = Key(id=id_, name=f"Bot {id_}", hash=b"h", scopes=("threads",), created_at=1)
        await store.run(create_token, token=token)
    keys = [f"key:{id_}" for id_ in ids]
    others = [None, "key:ffffffffffffffff", "jwt:website:aya", "client:nobody", "key:", ""]
    found = await names(store, [*keys, *others])
    assert found == {f"key:{id_}": f"Bot {id_}" for id_ in ids}
    assert await names(store, others) == {}
    assert await names(store, []) == {}
