"""Paying with x402: an authorisation that the payer signs, settled by a facilitator, over HTTP.

Source: the x402 specification, version 2, and its scheme ``exact`` on EVM networks (EIP-3009).
"""
