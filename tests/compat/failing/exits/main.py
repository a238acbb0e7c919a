"""Exits at import."""

import sys

import imperal_sdk  # noqa: F401

sys.exit(4)
