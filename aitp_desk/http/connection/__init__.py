"""HTTP/1.1 connections: framing, heads, and the calls of the dispatcher."""
