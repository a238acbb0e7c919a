"""Lambda entry point of `skeleton_refresh`: reads the event, calls the kernel, shapes the
answer."""

from webbee_kernel.api.function import Function
from webbee_kernel.api.skeleton_refresh import RefreshService

lambda_handler = Function("skeleton_refresh", RefreshService)
