"""Documents about the whole site, for crawlers, catalogs of APIs and finders of faults."""
