"""A person connects an account of another service, in a real browser: the panel's button, the
provider, the question, the news."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.page.conftest import ROOT, served
from tests.stand_ins.sign_in import CLIENT, Provider, provider


@pytest.fixture(scope="module")
def acme() -> Iterator[Provider]:
    with provider() as running:
        yield running


@pytest.fixture(scope="module")
def url(acme: Provider) -> Iterator[str]:
    """A deployment of its own, whose one extension connects accounts of that provider."""
    folder = ROOT / "tests/functions/connectable"
    with served(folder, WEBBEE_OAUTH_PROVIDERS=acme.configuration) as [address]:
        yield address


def test_an_operator_configures_and_a_person_connects(visit: Any, acme: Provider) -> None:
    operator = visit("ops", expected="500")  # its panel cannot be shown before the secrets are set
    operator.get_by_role("button", name="Apps").click()
    for name, value in CLIENT.items():
        operator.get_by_label(f"Value of acme_{name}").fill(value)
        operator.get_by_label(f"Value of acme_{name}").press("Enter")
        operator.locator(f"p:has(code:text-is('acme_{name}')) .badge.green").wait_for()

    page = visit("bob")
    page.get_by_role("button", name="Apps").click()
    page.get_by_text("for all users, set by the operator").nth(1).wait_for()
    assert page.get_by_label("Value of acme_client_id").count() == 0
    page.keyboard.press("Escape")

    def agree(route: Any) -> None:
        asked = route.request.url
        back = parse_qs(urlsplit(asked).query)["redirect_uri"][0]
        route.fulfill(status=302, headers={"location": f"{back}?{urlencode(acme.consent(asked))}"})

    page.context.route(f"{acme.address}/authorize*", agree)
    page.get_by_role("tab", name="Accounts").click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Connect").click()
    question = opened.value
    question.get_by_text("bob@personal.com").wait_for()
    assert acme.requests == []
    question.get_by_role("button", name="Connect").click()
    question.get_by_role("heading", name="Connected").wait_for()
    question.reload()  # the browser sends the form again: nothing happens twice
    question.get_by_role("heading", name="Connected").wait_for()
    assert [r["path"] for r in acme.requests] == ["/token"]
    page.bring_to_front()
    page.get_by_text("acme account sarah@acme.example connected").first.wait_for()
