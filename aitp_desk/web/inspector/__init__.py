"""The panel of ``aitp-desk dev`` that shows how each answer was found."""
