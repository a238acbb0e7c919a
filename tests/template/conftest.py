from __future__ import annotations

from typing import Any

import boto3
import pytest
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from local.template import Template, load_template, resources


@pytest.fixture(scope="session")
def template() -> Template:
    """template.yaml as written."""
    return load_template()


@pytest.fixture(scope="session")
def transformed() -> Template:
    """template.yaml after SAM's own transform, as CloudFormation gets it."""
    source = load_template()
    for _, properties in [*resources(source, "AWS::Serverless::Function"), *resources(source, "AWS::Serverless::LayerVersion")]:
        properties["CodeUri" if "CodeUri" in properties else "ContentUri"] = "s3://bucket/key"  # what `sam package` fills in
    parameters = {"JwtIssuer": "https://login.example.com", "JwtAudience": "webbee"}
    session = boto3.session.Session(region_name="eu-central-1")
    result: Template = Translator({}, Parser(), boto_session=session).translate(source, parameters)
    return result


@pytest.fixture(scope="session")
def functions(template: Template) -> dict[str, dict[str, Any]]:
    return dict(resources(template, "AWS::Serverless::Function"))
