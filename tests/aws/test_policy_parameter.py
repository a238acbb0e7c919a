"""The operator's rules are read out of Parameter Store when the function starts, or it does not."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from local.aws import local_aws
from webbee_kernel.aws.parameters import read_policy
from webbee_kernel.bootstrap import bootstrap, make_kernel
from webbee_kernel.config import Settings
from webbee_kernel.errors import SettingsError

NAME = "/webbee-settings/shop/policy"


def test_the_text_is_what_the_parameter_holds() -> None:
    with local_aws():
        boto3.client("ssm").put_parameter(Name=NAME, Value="п" * 2_000, Type="String")
        assert read_policy(NAME) == "п" * 2_000


def test_without_its_rules_a_function_does_not_start() -> None:
    settings = Settings.from_env({"WEBBEE_POLICY_PARAMETER": NAME})
    with local_aws():
        app = bootstrap(settings)
        with pytest.raises(SettingsError, match="ParameterNotFound") as caught:
            make_kernel(app)
    assert caught.value.field == "WEBBEE_POLICY_PARAMETER"


def test_it_may_name_a_file_of_the_function_as_the_variable_may(tmp_path: Any) -> None:
    file = tmp_path / "policy.md"
    file.write_text("Ask first. " * 1_000, "utf-8")
    with local_aws():
        boto3.client("ssm").put_parameter(Name=NAME, Value=f"file:{file}", Type="String")
        text = Settings.from_env({"WEBBEE_POLICY": read_policy(NAME)}).policy_text()
    assert text == "Ask first. " * 1_000
