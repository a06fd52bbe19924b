"""The watch over the server can see what it is there for."""

import subprocess
import sys
from pathlib import Path

import pytest
from booting import TREE, WATCH, Server, alarms, environment

OURS = "Traceback (most recent call last):\n  File x\n    raise BadRequest\nbackends.errors.BadRequest: The question is empty.\n"


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ("[info] all is well\n", 0),
        (OURS, 0),
        (OURS + "Traceback (most recent call last):\n  File x\nKeyError: 'decided'\n", 1),
        ("[error] Blocking call to sqlite3.connect\n", 1),
        ("[warning] Deserializing unregistered type graph.x from checkpoint\n", 1),
    ],
)
def test_an_alarm_is_found(log: str, found: int) -> None:
    assert len(alarms(log)) == found


def test_leaving_the_machine_is_noted_and_refused(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    reach = "import socket\ntry: socket.create_connection(('example.com', 80), 1)\nexcept OSError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", reach], env=environment(tmp_path, {}), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "this test has no network"
    assert (tmp_path / "watched.txt").read_text().split() == ["resolves", "example.com"]


def test_this_tree_is_served(server: Server) -> None:
    assert server.watched[0] == f"imports {TREE / 'graph' / 'build.py'}"


def test_what_the_server_keeps_stays_in_its_folder(server: Server) -> None:
    assert (server.folder / ".langgraph_api").is_dir()
