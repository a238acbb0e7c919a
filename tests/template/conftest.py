from __future__ import annotations

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
    """What `Fn::Select` takes out of a parameter that holds several values."""
    match value:
        case {"Ref": str(name)}:
            return parameters[name]
        case {"Fn::Select": [int(index), {"Fn::Split": [str(at), text]}]}:
            return chosen(text, parameters).split(at)[index]
    raise AssertionError(value)
