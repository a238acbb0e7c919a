"""Webbee kernel: exact, bounded memory for chat agents on AWS Lambda."""

__version__ = "0.1.0"
