"""Imports the SDK and makes nothing of it."""

import imperal_sdk  # noqa: F401
