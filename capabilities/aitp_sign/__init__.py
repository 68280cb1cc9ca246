"""AITP-05, signing: requests to sign messages and transactions, and their signatures."""

from aitp_sign.capability import Sign
from aitp_sign.evm.wallet import EvmWallet
from aitp_sign.near.wallet import NearWallet

__all__ = ["EvmWallet", "NearWallet", "Sign"]
