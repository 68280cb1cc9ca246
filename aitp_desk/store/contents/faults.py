"""What may go wrong with stored bytes. The messages are sentences for operators, without keys."""

from __future__ import annotations


class ContentsFault(Exception):
    """The bytes of a file could not be kept or read."""


class BytesElsewhere(ContentsFault):
    """The bytes are in a bucket that the settings do not name."""


class BytesChanged(ContentsFault):
    """The bytes are not those that were uploaded."""


class BucketFault(ContentsFault):
    """The bucket could not be used."""


class ObjectMissing(BucketFault):
    """The bucket, or the object, does not exist."""


class AccessRefused(BucketFault):
    """The service refuses the access key, or what it is used for."""
