"""Lambda entry point of `tool_dispatch`: reads the event, calls the kernel, shapes the answer."""

from webbee_kernel.api.function import Function
from webbee_kernel.api.tool_dispatch import tool_service

lambda_handler = Function("tool_dispatch", tool_service)
