"""The commands of ``aitp-desk``, a module each."""
