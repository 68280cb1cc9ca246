"""What several platforms share: marks, payloads, long texts, uploads."""
