"""An answer says where each value of its reply comes from."""

from webbee_kernel.llm.protocol import ModelResponse, ToolCall
from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension
from webbee_kernel.testing import TestKernel


def shop() -> Extension:
    ext = Extension("shop", display_name="Shop")
    chat = ChatExtension(ext)

    @chat.function("orders", "List orders")
    async def orders(ctx: Context) -> ActionResult:
        rows = [
            {"id": "A-17", "customer": "anna@example.com", "amount": 120.5},
            {"id": "A-18", "customer": "bert@example.com", "amount": 79.5},
        ]
        return ActionResult.success({"orders": rows, "currency": "EUR"}, "")

    @chat.function("cancel", "Cancel an order", action_type="write")
    async def cancel(ctx: Context, order_id: str) -> ActionResult:
        return ActionResult.error("the order was shipped already")

    return ext


def kernel(*replies: ModelResponse, **env: str) -> TestKernel:
    return TestKernel([shop()], script=list(replies), env=env)


def call(name: str, **arguments: str) -> ModelResponse:
    return ModelResponse(tool_calls=(ToolCall(f"shop__{name}", arguments),))


def say(text: str) -> ModelResponse:
    return ModelResponse(text=text)


def shown(body: dict[str, object]) -> dict[str, object]:
    text, sources = body["reply"], body["sources"]
    assert isinstance(text, str) and isinstance(sources, list)
    return {text[s["start"] : s["end"]]: s.get("path") or s.get("formula", "") for s in sources}


def test_each_value_of_a_reply_names_its_field() -> None:
    reply = "Order A-17 is 120.50 EUR; both together are 200 EUR."
    body = kernel(call("orders"), say(reply)).chat("my orders?").body
    told = shown(body)
    assert told["A-17"] == "data.orders[0].id"
    assert told["120.50"] == "data.orders[0].amount"
    assert told["200"] == "sum(data.orders[].amount)"
    assert body["sourced"] is True


def test_spans_fit_the_reply_that_the_user_reads_with_the_values_behind_the_mask() -> None:
    k = kernel(call("orders"), say("<EMAIL_1> ordered A-17."))
    body = k.chat("my orders?").body
    assert body["reply"] == "anna@example.com ordered A-17."
    assert shown(body)["A-17"] == "data.orders[0].id"


def test_a_sentence_without_ground_is_corrected_once_and_then_left_out() -> None:
    reply = say("A-17 is 120.50 EUR. A-18 is 999 EUR.")
    body = kernel(call("orders"), reply, reply).chat("my orders?").body
    assert body["reply"] == "A-17 is 120.50 EUR."


def test_a_value_of_another_record_is_left_out_too() -> None:
    reply = say("A-18 comes to 79.50 EUR. A-17 comes to 79.50 EUR.")
    body = kernel(call("orders"), reply, reply).chat("my orders?").body
    assert body["reply"] == "A-18 comes to 79.50 EUR."


def test_a_failure_that_the_reply_hides_is_told_by_the_kernel() -> None:
    k = kernel(call("cancel", order_id="A-17"), say("Order A-17."), say("Order A-17."))
    reply = k.chat("cancel order A-17").text
    assert "Shop" in reply and "the order was shipped already" in reply


def test_when_nothing_remains_the_data_itself_is_the_reply() -> None:
    reply = say("You have 50 orders.")
    text = kernel(call("orders"), reply, reply).chat("my orders?").text
    assert "A-17" in text or "120.5" in text
    assert "list" not in text and "shop.orders" not in text


def test_a_deployment_may_believe_its_model() -> None:
    reply = say("You have 50 orders.")
    text = kernel(call("orders"), reply, WEBBEE_GROUNDING="off").chat("my orders?").text
    assert text == "You have 50 orders."
