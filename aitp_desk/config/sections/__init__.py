"""The sections of ``desk.toml`` as Structs."""
