"""AWS services other than DynamoDB: boto3 clients, credentials, Lambda, Parameter Store.

May import: catalogue, config, types, errors, clock and observability.
Entrance: `clients.aws_client`; `invoke` and `parameters` are plugged in by `bootstrap`.
"""
