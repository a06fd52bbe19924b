"""Which files of a folder are met, and what is said of the others."""

import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from backends.walk import Found, LeftOut, files_under


def made(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(root: Path) -> list[str]:
    return [str(met.path.relative_to(root)) for met in files_under(root) if isinstance(met, Found)]


def left_out(root: Path) -> dict[str, tuple[str, str]]:
    met = [met for met in files_under(root) if isinstance(met, LeftOut)]
    return {os.path.relpath(m.path, root): (m.why, m.reason) for m in met}


def test_the_order_is_fixed_and_the_walk_is_lazy(tmp_path: Path) -> None:
    made(tmp_path, "b/z.md", "b/a.md", "a/a.md", "z.md", "c.md", "a/b/c.md")
    assert found(tmp_path) == ["c.md", "z.md", "a/a.md", "a/b/c.md", "b/a.md", "b/z.md"]
    walk = files_under(tmp_path)
    first = next(walk)
    assert isinstance(first, Found)
    assert first.stat.st_size == 1
    shutil.rmtree(tmp_path / "b")
    assert [m.reason for m in walk if isinstance(m, LeftOut)] == [
        "The folder cannot be listed: No such file or directory."
    ]


def test_hidden_files_and_folders_are_named_once(tmp_path: Path) -> None:
    made(tmp_path, "a.md", ".b.md", ".git/config", ".git/objects/x", ".venv/lib/y.md", "node_modules/z.md")
    assert found(tmp_path) == ["a.md", "node_modules/z.md"]
    assert left_out(tmp_path) == dict.fromkeys(
        (".b.md", ".git", ".venv"), ("hidden", "It is hidden (its name begins with a dot).")
    )


def test_links_are_never_followed(tmp_path: Path) -> None:
    made(tmp_path, "outside/secret.md", "root/a.md", "root/sub/b.md")
    root = tmp_path / "root"
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "in.md").symlink_to(root / "sub" / "b.md")
    (root / "loop").symlink_to(root)
    (root / "self").symlink_to("self")
    assert found(root) == ["a.md", "sub/b.md"]
    said = left_out(root)
    assert {why for why, _ in said.values()} == {"link"}
    assert said["out"][1] == said["out.md"][1] == "It is a link that leads out of the folder."
    assert said["in.md"][1] == said["loop"][1] == "It is a link; what it leads to is read at its own place."
    assert said["self"][1] == "It is a link that leads nowhere."


def test_what_is_no_regular_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.txt")
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        assert found(tmp_path) == ["a.md"]
        said = "It is no regular file (a pipe, a socket or a device)."
        assert left_out(tmp_path) == dict.fromkeys(("pipe.txt", "socket.md"), ("special", said))
        assert [m.reason for m in files_under(tmp_path / "pipe.txt") if isinstance(m, LeftOut)] == [said]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    made(tmp_path, "a.md")
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    assert found(tmp_path) == ["a.md"]
    assert left_out(tmp_path) == {"caf?.md": ("name", "The name is not UTF-8: rename it.")}


def test_what_is_excluded(tmp_path: Path) -> None:
    made(tmp_path, "a.md", "workspace/record.md")
    met = list(files_under(tmp_path, exclude=(tmp_path / "workspace",)))
    assert [type(m) for m in met] == [Found, LeftOut]
    assert isinstance(met[1], LeftOut)
    assert met[1].why == "excluded"


def test_a_named_file_is_taken_whatever_names_it(tmp_path: Path) -> None:
    made(tmp_path, "a.md", ".hidden.md", "b.md")
    (tmp_path / ".gitignore").write_text("*.md\n")
    assert found(tmp_path) == []
    for name in ("a.md", ".hidden.md"):
        assert [type(met) for met in files_under(tmp_path / name)] == [Found]
    assert [m.why for m in files_under(tmp_path / "gone.md") if isinstance(m, LeftOut)] == ["unreadable"]


def test_ignored_folders_are_named_once_with_their_ignore_file(tmp_path: Path) -> None:
    made(tmp_path, "a.md", "b.log", "out/a.md", "out/b.md", "docs/out/keep.md", "docs/draft.md", "docs/final.md")
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")
    (tmp_path / "docs" / ".gitignore").write_text("!out/\n")
    (tmp_path / "docs" / ".perquireignore").write_text("draft.*\n")
    assert found(tmp_path) == ["a.md", "docs/final.md", "docs/out/keep.md"]
    assert left_out(tmp_path) == {
        "b.log": ("ignored", ".gitignore names it."),
        "out": ("ignored", ".gitignore names it."),
        "docs/draft.md": ("ignored", ".perquireignore names it."),
    }


def test_perquireignore_goes_over_gitignore(tmp_path: Path) -> None:
    made(tmp_path, "report.pdf", "data.pdf")
    (tmp_path / ".gitignore").write_text("*.pdf\n")
    (tmp_path / ".perquireignore").write_text("!report.pdf\n")
    assert found(tmp_path) == ["report.pdf"]


def test_ignore_files_that_cannot_be_followed_are_said(tmp_path: Path) -> None:
    made(tmp_path, "a.md", "b.md", "sub/c.md")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / ".perquireignore").write_text("b.md\n[z-a].md\n")
    (tmp_path / "sub" / ".gitignore").symlink_to(tmp_path / ".perquireignore")
    assert found(tmp_path) == ["a.md", "sub/c.md"]
    said = left_out(tmp_path)
    assert said.pop("b.md")[0] == "ignored"
    assert {why for why, _ in said.values()} == {"unreadable"}
    assert said[".perquireignore"][1] == "What is no pattern is not followed: line 2."


NAMES = ["foo", "bar", "a.txt", "b.log", "build", "x y", "doc.md"]
PATTERNS = r"""foo /foo foo/ !foo !foo/ * !*/ !*.txt *.log !b.log foo/* !foo/bar **/bar foo/** foo/**/a.txt build/ !build/a.txt
 /bar/a.txt bar/a.txt #c a.* !a.txt x\ y [ab].* \!foo doc.md/ /* !/foo */a.txt ?.txt *** /**/a.txt !/foo/** foo* b[!a]r
 [[:alpha:]]oo {foo,bar} ** **/ !** / [""".replace("\\ ", "\0").split()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what is compared with")
@pytest.mark.parametrize("seed", range(12))
def test_ignore_files_mean_what_they_mean_to_git(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)

    def fill(folder: Path, depth: int) -> None:
        for name in chance.sample(NAMES, chance.randint(2, 6)):
            if "." in name or depth == 3:
                (folder / name).write_text("x")
            else:
                (folder / name).mkdir()
                fill(folder / name, depth + 1)
        if depth == 0 or chance.random() < 0.4:
            lines = [line.replace("\0", "\\ ") for line in chance.choices(PATTERNS, k=chance.randint(1, 6))]
            (folder / ".gitignore").write_text("\n".join(lines) + "\n")

    fill(tmp_path, 0)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    listing = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=", "ls-files", "-o", "--exclude-standard", "-z"]
    said = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split("\0")
    assert sorted(found(tmp_path)) == sorted(name for name in said if name and not name.endswith(".gitignore"))


def test_folders_nested_beyond_what_a_path_can_hold(tmp_path: Path) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(1500):
            os.mkdir("abcd")  # noqa: PTH102 - relative: the whole path is too long to be made at once
            os.chdir("abcd")
        os.chdir(tmp_path)
        (met,) = files_under(tmp_path)
        assert isinstance(met, LeftOut)
        assert met.reason == "The folder cannot be listed: File name too long."
    finally:
        os.chdir(before)
        subprocess.run(["rm", "-rf", tmp_path / "abcd"], check=True)
