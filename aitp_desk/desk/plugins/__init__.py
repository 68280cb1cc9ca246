"""Capabilities at work: found, read, judged, told in words. See :mod:`aitp_desk.capability`."""
