"""What a folder takes the place of: a link's target, nothing that another process writes, nothing else."""

import os
import threading
from pathlib import Path

import pytest

from gpop.common.errors import GraphFileError
from gpop.common.replacing_folder import replacing_folder


def write(path, text):
    with replacing_folder(path, "index") as folder:
        (folder / "index").write_text(text)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    path, link = tmp_path / "real", tmp_path / "link"
    write(path, "old")
    link.symlink_to("real")
    write(link, "new")
    assert link.is_symlink() and (path / "index").read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_an_empty_folder_is_replaced_and_another_is_not(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    write(path, "new")
    (path / "index").rename(path / "notes")
    with pytest.raises(GraphFileError, match="folder: is something else, expected a folder with index to"):
        write(path, "newer")
    assert [*tmp_path.iterdir()] == [path] and (path / "notes").read_text() == "new"


@pytest.mark.parametrize("seen", [True, False])
def test_threads_that_write_the_same_are_not_in_each_others_way(seen, tmp_path, monkeypatch):
    """``seen``: or the other is done between a look whether something is there, and the renaming."""
    path = tmp_path / "folder"
    with replacing_folder(path, "index") as folder:
        (folder / "index").write_text("mine")
        other = threading.Thread(target=write, args=(path, "another's"))
        other.start()
        other.join()
        assert (path / "index").read_text() == "another's"
        if not seen:
            monkeypatch.setattr(Path, "exists", lambda self: False)
    monkeypatch.undo()
    assert (path / "index").read_text() == "mine"
    assert [*tmp_path.iterdir()] == [path]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    alive = tmp_path / f".folder.{os.getppid()}"
    alive.mkdir()
    write(tmp_path / "folder", "new")
    assert alive.is_dir()
