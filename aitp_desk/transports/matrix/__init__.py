"""Matrix: rooms of any homeserver, as a client or as an application service."""
