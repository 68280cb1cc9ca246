"""The official SDK's server, and requests that it does not take."""
