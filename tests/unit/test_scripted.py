"""The models for tests fail loudly when a test and its script disagree."""

import asyncio

import pytest

from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import FunctionModel, ScriptedModel

REQUEST = ModelRequest(role="classifier", system="s", prompt="p")


def ask(model: ScriptedModel | FunctionModel, request: ModelRequest = REQUEST) -> ModelResponse:
    return asyncio.run(model.complete(request))


def test_steps_play_in_order_and_requests_are_recorded() -> None:
    model = ScriptedModel(
        [ModelResponse(text="one"), lambda request: ModelResponse(text=request.prompt)]
    )

    assert [ask(model).text, ask(model).text] == ["one", "p"]
    assert model.requests == [REQUEST, REQUEST]
    model.assert_finished()


def test_an_exception_step_is_raised() -> None:
    model = ScriptedModel([ModelUnavailable("busy")])

    with pytest.raises(ModelUnavailable, match="busy"):
        ask(model)
    model.assert_finished()


def test_a_request_past_the_script_fails_and_shows_the_prompt() -> None:
    model = ScriptedModel([])

    with pytest.raises(
        AssertionError, match=r"(?s)request 1 \(classifier\) is past the script's 0 steps.*p"
    ):
        ask(model)


def test_unused_steps_fail_at_the_end_of_the_block() -> None:
    with (
        pytest.raises(AssertionError, match="1 of 1 scripted steps were not used"),
        ScriptedModel([ModelResponse(text="never")]),
    ):
        pass


def test_a_failing_block_keeps_its_own_error() -> None:
    with pytest.raises(ZeroDivisionError), ScriptedModel([ModelResponse(text="never")]):
        raise ZeroDivisionError


def test_a_function_answers_every_request() -> None:
    model = FunctionModel(lambda request: ModelResponse(text=request.role))

    assert [ask(model).text, ask(model).text] == ["classifier", "classifier"]
    assert len(model.requests) == 2
