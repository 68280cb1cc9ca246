"""``python -m aitp_desk`` is the command ``aitp-desk``."""

from aitp_desk.cli import main

main(prog_name="aitp-desk")
