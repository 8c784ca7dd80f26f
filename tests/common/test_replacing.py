"""What is written over: files and what links point to are replaced, a FIFO is written to."""

import os
import stat
import threading

import pytest

from gpop.common.errors import GraphFileError
from gpop.common.replacing import replacing


def test_link_stays_and_its_target_is_replaced(tmp_path):
    folder, link = tmp_path / "real", tmp_path / "link.txt"
    folder.mkdir()
    (folder / "file.txt").write_text("old")
    link.symlink_to("real/file.txt")
    with replacing(link) as temporary:
        assert temporary.parent == folder
        temporary.write_text("new")
    assert link.is_symlink()
    assert (folder / "file.txt").read_text() == "new"
    assert os.listdir(folder) == ["file.txt"]


def test_link_to_nothing_makes_its_target(tmp_path):
    link = tmp_path / "link.txt"
    link.symlink_to("file.txt")
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["file.txt", "link.txt"]


def test_link_to_itself_is_refused(tmp_path):
    link = tmp_path / "link.txt"
    link.symlink_to("link.txt")
    with pytest.raises(GraphFileError, match="link.txt: cannot be written: Too many levels"), replacing(link):
        raise AssertionError
    assert link.is_symlink()


def test_fifo_is_written_to(tmp_path):
    fifo, link, read = tmp_path / "fifo", tmp_path / "link", []
    os.mkfifo(fifo)
    link.symlink_to("fifo")
    for path in (fifo, link):
        reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
        reader.start()
        with replacing(path) as temporary:
            assert temporary == path
            temporary.write_text("told")
        reader.join(60)
    assert read == ["told", "told"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["fifo", "link"]


def test_fifo_that_nobody_reads_any_more(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with (
        pytest.raises(GraphFileError, match="fifo: cannot be written: Broken pipe"),
        replacing(fifo) as temporary,
        open(temporary, "wb") as file,
    ):
        os.close(reader)
        file.write(b"told")
        file.flush()
    assert stat.S_ISFIFO(fifo.stat().st_mode)
