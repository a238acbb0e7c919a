"""The floor: boto3 alone. One Query of the last turns, the tool, one PutItem of the turn."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import boto3

from benchmarks.peer.play import REPLY, message, number_in, orders


def player(url: str, pem: str) -> Callable[[str, int], str]:
    """Plays a turn of a session."""
    client = boto3.client("dynamodb", endpoint_url=url, verify=pem)

    def play(session: str, turn: int) -> str:
        pk = {"S": f"acme#alice#{session}"}
        client.query(
            TableName=os.environ["PEER_TABLE"],
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": pk},
            ConsistentRead=True,
        )
        told = {"message": message(turn), "data": orders(number_in(message(turn))), "reply": REPLY}
        client.put_item(
            TableName=os.environ["PEER_TABLE"],
            Item={"pk": pk, "sk": {"S": f"turn#{turn % 5}"}, "turn": {"S": json.dumps(told)}},
        )
        return REPLY

    return play
