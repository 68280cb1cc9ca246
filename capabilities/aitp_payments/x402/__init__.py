"""Payments with x402: an authorisation that the payer signs and a facilitator settles.

Source: the x402 specification, version 2, and its scheme ``exact`` on EVM networks (EIP-3009).
"""
