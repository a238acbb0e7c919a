"""AWS services other than the tables: clients, Lambda, SQS.

May import: catalogue, values, errors, base.
Entrance: `clients.aws_client`; `invoke` and `parameters` are plugged in by `bootstrap`.
"""
