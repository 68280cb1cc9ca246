"""Where the MCP SDK's client keeps its tokens, in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken


class Memory:
    """Keeps them as long as it lasts.

    Parameters:
        token: that it begins with; None for none.
        scope: what that opens.
    """

    def __init__(self, token: str | None = None, scope: str | None = None) -> None:
        from mcp.shared.auth import OAuthToken

        self.tokens = None if token is None else OAuthToken(access_token=token, scope=scope)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise AssertionError("these credentials were given by the owner")
