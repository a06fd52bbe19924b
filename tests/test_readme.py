"""The README is true: its drawing is the graph's, and its commands print what it shows."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backends.embeddings import WordLlama
from backends.ingest import Ingestor
from graph.build import graph
from perquire.cli import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n\$ (perquire [^\n]+)\n(.*?)```", README, re.S)
VOLATILE = re.compile(r"\d+(?:\.\d+)? ms|\.demo|p 0\.\d+")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    Ingestor(folder, WordLlama()).ingest([ROOT / "demo" / "corpus"])
    return folder


def test_the_drawing_is_the_graphs_own() -> None:
    (drawn,) = re.findall(r"```mermaid\n(.*?)```", README, re.S)
    assert drawn.strip() == graph.get_graph().draw_mermaid().strip()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run one after another: files that one leaves, the next finds."""
    return tmp_path_factory.mktemp("here")


@pytest.mark.parametrize(
    ("command", "shown"), COMMANDS, ids=[f"{n}-{c.split()[1]}" for n, (c, _) in enumerate(COMMANDS)]
)
def test_commands_print_what_is_shown(
    demo: Path, here: Path, monkeypatch: pytest.MonkeyPatch, command: str, shown: str
) -> None:
    monkeypatch.chdir(here)
    monkeypatch.setenv("PERQUIRE_WORKSPACE", str(demo))
    args = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', command)[1:]]
    result = CliRunner().invoke(app, args)
    printed = result.stdout + result.stderr
    expected = [VOLATILE.sub("~", line) for line in shown.strip().splitlines()]
    assert [VOLATILE.sub("~", line.replace(str(demo), ".demo")) for line in printed.strip().splitlines()] == expected


def test_the_demo_in_the_readme_is_what_it_prints(
    demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from demo import __main__ as script

    monkeypatch.setattr(script, "WORKSPACE", demo)
    script.main()
    printed = VOLATILE.sub("~", capsys.readouterr().out)
    (shown,) = re.findall(r"```text\n(── an exact.*?)```", README, re.S)
    assert VOLATILE.sub("~", shown.strip()) in printed
