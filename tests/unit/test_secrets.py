"""ctx.secrets: declared names, one owner each, and values that show up nowhere."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webbee_kernel.config import Settings
from webbee_kernel.extensions.context.secrets_client import SecretsClient, path
from webbee_kernel.extensions.redaction import hidden
from webbee_kernel.sdk import (
    Extension,
    SecretNotDeclaredError,
    SecretTooLargeError,
    SystemContextRequired,
)
from webbee_kernel.sdk.definitions import SecretDef
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import UserKey

ALICE, BOB = UserKey("acme", "alice"), UserKey("acme", "bob")


def extension(app_id: str = "mail") -> Extension:
    ext = Extension(app_id)
    ext.secret("password", "The mailbox's password", required=True)
    ext.secret("token", "Kept by the extension", write_mode="extension", max_bytes=8)
    ext.secret("shared", "One for all users", scope="app", write_mode="both")
    return ext


@pytest.fixture
def harness() -> ExtensionHarness:
    return ExtensionHarness(extension(), secrets={"password": "hunter2"})


def client(
    harness: ExtensionHarness, user: UserKey = ALICE, *, app_id: str = "mail", system: bool = False
) -> SecretsClient:
    return SecretsClient(
        harness.app.stores.secrets, user, app_id, extension().secrets, system=system
    )


@pytest.mark.parametrize("method", ["get", "is_set", "delete"])
def test_a_name_that_was_never_declared_is_refused_in_words_that_help(
    harness: ExtensionHarness, method: str
) -> None:
    with pytest.raises(SecretNotDeclaredError, match=r"@ext\.secret\('pasword'"):
        harness.run(getattr(harness.context().secrets, method)("pasword"))
    with pytest.raises(SecretNotDeclaredError):
        harness.run(harness.context().secrets.set("pasword", "x"))


def test_a_value_of_the_declared_size_fits_and_a_byte_more_is_refused_without_showing_it(
    harness: ExtensionHarness,
) -> None:
    secrets = harness.context().secrets
    harness.run(secrets.set("token", "x" * 8))
    for value in ("secretxxx", "ключ!!!"):
        with pytest.raises(
            SecretTooLargeError, match="limit is 8, max_bytes= of its declaration"
        ) as caught:
            harness.run(secrets.set("token", value))
        assert value not in str(caught.value)
    assert harness.run(secrets.get("token")) == "x" * 8


@pytest.mark.parametrize("value", ["", None, 5, b"x"])
def test_only_text_is_a_secret(harness: ExtensionHarness, value: Any) -> None:
    with pytest.raises(ValueError, match="non-empty string"):
        harness.run(harness.context().secrets.set("token", value))


def test_an_app_wide_secret_is_shared_within_the_app_and_the_tenant_only(
    harness: ExtensionHarness,
) -> None:
    harness.run(client(harness).set("shared", "ours"))
    assert harness.run(client(harness, BOB).get("shared")) == "ours"
    assert harness.run(client(harness, UserKey("other", "alice")).get("shared")) is None
    assert harness.run(client(harness, BOB, app_id="notes").get("shared")) is None


def test_another_users_secrets_open_in_system_context_only(harness: ExtensionHarness) -> None:
    harness.run(client(harness).set("token", "alices"))
    with pytest.raises(SystemContextRequired):
        client(harness, BOB).for_user("alice")
    assert harness.run(client(harness, BOB, system=True).for_user("alice").get("token")) == "alices"


PARTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)


@given(
    st.lists(
        st.tuples(PARTS, PARTS, PARTS, st.sampled_from(["user", "app"])),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_two_secrets_never_share_a_path(both: list[tuple[str, str, str, str]]) -> None:
    one, two = (
        path(UserKey(tenant, user), "mail", SecretDef(name, "", scope=scope))
        for tenant, user, name, scope in both
    )
    same = [(t, n, u if s == "user" else None) for t, u, n, s in both]
    assert (one == two) == (same[0] == same[1])
    assert all(c.isascii() and (c.isalnum() or c in "-_/") for c in one) and one.count("/") == 3


def test_an_app_wide_secret_nobody_set_is_the_variable_it_names_and_a_users_own_never() -> None:
    ext = Extension("mail")
    for name, scope in (("shared", "app"), ("own", "user"), ("unnamed", "app")):
        ext.secret(
            name,
            "A key",
            scope=scope,
            write_mode="both",
            env_fallback="" if name == "unnamed" else "IMPERAL_APPSECRET_KEY",
        )
    env = {
        "IMPERAL_APPSECRET_KEY": "from the environment",
        "IMPERAL_APPSECRET_OTHER": "x",
        "APPSECRET": "y",
    }
    settings = Settings.from_env(env)
    assert set(settings.app_secrets) == {"IMPERAL_APPSECRET_KEY", "IMPERAL_APPSECRET_OTHER"}
    assert "from the environment" not in f"{settings!r}{settings.model_dump_json()}"
    harness = ExtensionHarness(ext)
    secrets = SecretsClient(
        harness.app.stores.secrets, ALICE, "mail", ext.secrets, fallbacks=settings.app_secrets
    )
    assert [harness.run(secrets.get(name)) for name in ("shared", "own", "unnamed")] == [
        "from the environment",
        None,
        None,
    ]
    assert harness.run(secrets.is_set("shared"))
    harness.run(secrets.set("shared", "set by the app"))
    assert harness.run(secrets.get("shared")) == "set by the app"


@pytest.mark.parametrize(
    ("secret", "text", "left"),
    [
        ("k", "This key is 'k'.", "This key is '[secret]'."),
        ("hunter2", "url=xhunter2y", "url=x[secret]y"),
        ("1234", "pin1234", "pin[secret]"),
        ("", "as it was", "as it was"),
    ],
)
def test_a_secret_of_a_letter_is_hidden_where_it_stands_alone(
    secret: str, text: str, left: str
) -> None:
    assert hidden(text, {secret}) == left
