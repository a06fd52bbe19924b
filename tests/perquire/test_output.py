"""What a command writes stands whole or not at all, and never in the place of something that is no file."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from backends.errors import BadRequest
from perquire.cli import app
from perquire.output import writable, write_lines


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_lines_take_the_place_of_what_was_there_and_leave_nothing_beside(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    (tmp_path / "out.jsonl.part").write_text("mine")
    file.write_text("old")
    write_lines(file, ["a", "b"])
    assert file.read_text() == "a\nb\n"
    assert (tmp_path / "out.jsonl.part").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.part"]


def test_a_link_stays_a_link_and_its_file_gets_the_lines(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "far" / "file")
    write_lines(link, ["a"])
    assert link.is_symlink()
    assert (tmp_path / "far" / "file").read_text() == "a\n"


def test_a_pipe_or_device_is_refused_and_stays(pipe: Path) -> None:
    with pytest.raises(BadRequest, match="pipe is a device or a pipe"):
        write_lines(pipe, ["a"])
    assert pipe.is_fifo()
    with pytest.raises(BadRequest, match="/dev/null is a device"):
        writable(Path("/dev/null"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="is a folder: name a file in it"):
        writable(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ["ask", "How heavy is the Q4 pump?", "--record"],
        ["ask", "--questions", "rows.jsonl", "--out"],
        ["plan", "--questions", "rows.jsonl", "--out"],
        ["search", "--queries", "rows.jsonl", "--run"],
    ],
)
def test_every_command_that_writes_refuses_before_it_works(
    command: list[str], pipe: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pipe.parent)
    Path("rows.jsonl").write_text('{"id": "1", "text": "How heavy is the Q4 pump?"}\n')
    done = CliRunner().invoke(app, [*command, str(pipe), "-w", str(workspace)])
    assert done.exit_code == 2
    assert "name a file" in done.output
    assert pipe.is_fifo()
