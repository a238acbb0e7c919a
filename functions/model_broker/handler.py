"""Lambda entry point of `model_broker`: reads the event, asks the model, shapes the answer."""

from webbee_kernel.api.function import Function
from webbee_kernel.llm.options import BrokerService

lambda_handler = Function("model_broker", BrokerService)
