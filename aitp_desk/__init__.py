"""aitp-desk: a desk beside a website that agents and people can ask."""
