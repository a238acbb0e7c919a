"""The generated Python client in argv[1] against the API at argv[2]: what it was told, as JSON."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[1])))

from webbee_kernel_client import AuthenticatedClient, models
from webbee_kernel_client.api.chat import post_v1_chat
from webbee_kernel_client.api.confirmations import post_v1_confirmations_id
from webbee_kernel_client.api.extensions import get_v1_extensions, post_v1_extensions_app_id_call
from webbee_kernel_client.api.health import get_v1_health
from webbee_kernel_client.api.me import get_v1_me_export
from webbee_kernel_client.api.sessions import get_v1_sessions, get_v1_sessions_id

client = AuthenticatedClient(base_url=sys.argv[2], token="bob", timeout=60)


def say(message):
    body = models.ChatBody(message=message, session_id="generated")
    return post_v1_chat.sync(client=client, body=body)


added = say("add a task: buy milk")
listed = post_v1_extensions_app_id_call.sync(
    "tasks", client=client, body=models.CallBody(function="list_tasks")
)
asked = say("delete the task buy milk")
done = post_v1_confirmations_id.sync(
    asked.confirmation.id, client=client, body=models.ConfirmationBody(accept=True)
)
session = get_v1_sessions_id.sync("generated", client=client)
wrong = post_v1_extensions_app_id_call.sync(
    "nothing", client=client, body=models.CallBody(function="x")
)
told = {
    "added": added,
    "listed": listed,
    "asked": asked,
    "done": done,
    "sessions": get_v1_sessions.sync(client=client, limit=5),
    "wrong": wrong,
    "apps": get_v1_extensions.sync(client=client),
    "health": get_v1_health.sync(client=client),
}
told = {name: answer.to_dict() for name, answer in told.items()}
turns = [turn.to_dict() for turn in session.turns]
told |= {"turns": turns, "export": get_v1_me_export.sync(client=client)}
print(json.dumps(told))
