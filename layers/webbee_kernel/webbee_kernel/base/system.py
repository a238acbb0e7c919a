"""Who acts where no user does."""

from __future__ import annotations

SYSTEM_USER = "__system__"
"""Jobs, signals and health checks run as this user of a tenant."""

WEBHOOK_USER = "__webhook__"
"""Webhooks run as this one."""

SIGNIN_USER = "__oauth__"
"""Sign-ins with other services that have begun stand under this one."""
