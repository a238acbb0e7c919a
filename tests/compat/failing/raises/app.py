"""Breaks a rule of the SDK itself."""

from imperal_sdk import Extension

ext = Extension("raises")
ext.skeleton("a:b")
