"""Card payments through the site's Stripe account, with the extra ``stripe``."""
