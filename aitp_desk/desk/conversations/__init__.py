"""Questions answered within their request."""
