"""Payments by card, through the site's account at Stripe. It needs the extra ``stripe``."""
