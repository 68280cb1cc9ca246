"""AITP-05, signing: messages and transactions that are asked to be signed, and their signatures."""

from aitp_sign.capability import Sign
from aitp_sign.evm.wallet import EvmWallet
from aitp_sign.near.wallet import NearWallet

__all__ = ["EvmWallet", "NearWallet", "Sign"]
