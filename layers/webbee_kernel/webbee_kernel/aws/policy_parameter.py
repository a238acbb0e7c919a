"""The operator's rules out of Parameter Store: a function's variables have no room for them."""

from __future__ import annotations

from ..errors import SettingsError
from .clients import ClientFactory, aws_client, error_code


def read_policy(name: str, client_factory: ClientFactory = aws_client) -> str:
    """The parameter's text as it is when the function starts. A deployment that changes it
    publishes versions, whose processes are new; one that is rolled back reads the newer text.

    SettingsError where it cannot be read: nobody is answered without the rules.
    """
    from aws_lambda_powertools.utilities.parameters import SSMProvider
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        return str(SSMProvider(boto3_client=client_factory("ssm")).get(name))
    except GetParameterError as error:
        cause = error.__cause__ or error.__context__
        why = (error_code(cause) if cause else "") or type(cause or error).__name__
        raise SettingsError(
            f"environment variable WEBBEE_POLICY_PARAMETER: {name} cannot be read ({why})",
            field="WEBBEE_POLICY_PARAMETER",
        ) from None
