"""What a local run keeps for the next one."""

from __future__ import annotations

from pathlib import Path

from local.keeping import KEY, Keeper
from local.mail_servers import MailServers
from local.stack import local_stack


def test_a_run_has_a_webhook_key_of_its_own_and_the_next_one_has_it_again(tmp_path: Path) -> None:
    """Else addresses that services were given would be dead after each start, or anybody's."""
    keeper = Keeper(tmp_path)
    assert keeper.settings() == {}
    with local_stack() as stack, MailServers(demo=False) as mail:
        first = stack.env[KEY]
        keeper.save(stack.env, mail)
    with local_stack() as stack:
        assert len(first) > 30 and stack.env[KEY] != first
    with local_stack(env=Keeper(tmp_path).settings()) as stack:
        assert stack.env[KEY] == first
