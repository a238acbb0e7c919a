"""Lambda entry point of `chat_turn`: reads the event, calls the kernel, shapes the answer."""

from webbee_kernel.api.chat_turn import ChatService
from webbee_kernel.api.function import Function

lambda_handler = Function("chat_turn", ChatService)
