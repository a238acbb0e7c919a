from __future__ import annotations

from typing import Any

import pytest

from local.aws import local_aws
from webbee_kernel.aws.clients import aws_client, forget_clients


@pytest.fixture
def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)


@pytest.mark.usefixtures("no_region")
def test_the_kernels_own_client_works_there_and_is_made_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget_clients(is_lazy=True)
    with local_aws():
        client = aws_client("dynamodb")
        assert client.list_tables()["TableNames"] == []
        assert aws_client("dynamodb") is client
        assert aws_client("dynamodb", read_timeout=20) is not client
        config = client.meta.config
        assert (config.retries["mode"], config.retries["total_max_attempts"]) == ("standard", 4)
        assert (config.connect_timeout, config.read_timeout) == (1, 3)
        assert config.max_pool_connections == 20


def test_a_deployment_gets_no_client_that_an_earlier_one_made_for_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def deployed(region: str, endpoint: str) -> Any:
        monkeypatch.setenv("AWS_DEFAULT_REGION", region)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", endpoint)
        forget_clients(is_lazy=True)
        return aws_client("sqs")

    here = "http://127.0.0.1:1"
    first = deployed("eu-west-1", here)
    assert deployed("eu-west-1", here) is first
    second = deployed("us-west-2", here)
    assert second.meta.region_name == "us-west-2"
    assert deployed("us-west-2", "http://127.0.0.1:2").meta.endpoint_url == "http://127.0.0.1:2"
