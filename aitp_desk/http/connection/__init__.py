"""HTTP/1.1 connections: framing, heads, and the way to the dispatcher."""
