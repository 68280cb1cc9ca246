"""Runs capability plugins: discovers them, judges and renders their messages.

See :mod:`aitp_desk.capability`.
"""
