"""Signing in on the page with OpenID Connect, in Chromium against an issuer on loopback."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.conftest import ROOT, folder_of, served
from tests.page.test_page import write


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Those of a deployment and of its issuer."""
    folder = folder_of(tmp_path_factory.mktemp("extensions"), ROOT / "extensions/notes")
    with served(folder, "issuer") as found:
        yield found


@pytest.fixture(scope="module")
def url(addresses: list[str]) -> str:
    return addresses[0]


@pytest.fixture(scope="module")
def issuer(addresses: list[str]) -> str:
    return addresses[1]


def got(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return json.loads(answer.read())


def sign_in(page: Any) -> None:
    page.get_by_role("button", name="Sign in").click()
    page.locator("#composer-text").wait_for()


def test_a_person_signs_in_no_token_is_stored_and_a_reload_leads_back(visit: Any) -> None:
    from playwright.sync_api import expect

    page = visit()
    assert page.locator("#token").count() == 0, "nobody pastes a token here"
    sign_in(page)
    assert page.locator(".who-am-i").inner_text() == "bob"
    assert "code=" not in page.url and "state=" not in page.url
    stored = page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")
    assert "eyJ" not in stored and "verifier" not in stored
    page.locator("#composer-text").fill("half a thought")
    page.reload()
    expect(page.locator("#composer-text")).to_have_value("half a thought")


def test_an_ended_token_is_renewed_and_a_sign_out_ends_the_session(visit: Any, issuer: str) -> None:
    page = visit(expected="401")
    sign_in(page)
    got(f"{issuer}/revoke")
    page.get_by_role("button", name="Apps").click()
    page.get_by_role("dialog").wait_for()
    page.evaluate("fetch('/')")
    page.keyboard.press("Escape")
    write(page, "hello")
    page.locator(".turn.webbee").first.wait_for()
    assert "POST /token" in got(f"{issuer}/requests")["requests"]
    page.get_by_role("button", name="Sign out").click()
    page.locator("#sign-in").wait_for()
    page.reload()
    page.locator("#sign-in").wait_for()
    assert any(r.startswith("/logout") for r in got(f"{issuer}/requests")["requests"])


def test_an_answer_to_another_tabs_question_is_refused(visit: Any, url: str) -> None:
    page = visit()
    page.goto(f"{url}/?code=stolen&state=foreign")
    assert page.get_by_role("alert").inner_text() == "Signing in did not work. Please try again."
    assert "stolen" not in page.url
