from typing import Any

import pytest

from local.template import Template, load_template, resources
from tests.deployment import transform


@pytest.fixture(scope="session")
def template() -> Template:
    """template.yaml as written."""
    return load_template()


@pytest.fixture(scope="session")
def transformed() -> Template:
    """template.yaml after SAM's own transform, as CloudFormation gets it."""
    return transform()


@pytest.fixture(scope="session")
def functions(template: Template) -> dict[str, dict[str, Any]]:
    return dict(resources(template, "AWS::Serverless::Function"))


def chosen(value: Any, parameters: dict[str, str]) -> str:
    """What `Fn::Select` takes out of a list parameter; behind a name that `Fn::Split` asks for, where
    it does. IndexError where another name stands there, as CloudFormation refuses it."""
    match value:
        case {"Fn::Select": [int(index), {"Ref": str(name)}]}:
            return parameters[name].split(",")[index]
        case {"Fn::Select": [1, {"Fn::Split": [str(at), text]}]}:
            return chosen(text, parameters).split(at)[1]
    raise AssertionError(value)
