"""Programs on GPUs of several ranks: on the emulator, and on devices where there are some."""

from __future__ import annotations

import os

import pytest

from gpop.apps import sssp
from gpop.common.errors import UsageError
from gpop.generate import generate
from gpop.gpu.device import cupy
from gpop.io import binary_csr
from tests.ranks.gpu_agreement import CHECKS
from tests.ranks.mpi import mpiexec


def agree(ranks: int, where: str, *names: str, seconds: int = 240, visible: str | None = None) -> None:
    """All checks of these names agree."""
    with pytest.MonkeyPatch.context() as patch:
        if visible is not None:
            patch.setenv("CUDA_VISIBLE_DEVICES", visible)
        done = mpiexec(ranks, "-m", "tests.ranks.gpu_agreement", where, *names, seconds=seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"runs agree on {ranks} ranks" in done.stdout


def test_two_ranks_agree_with_one_gpu_on_the_emulator():
    agree(2, "emulated", "smallest:sc:8")


@pytest.mark.slow
def test_three_ranks_that_reach_each_others_memory_agree_with_one_gpu():
    agree(3, "peers", "rank:pc:8", "drift:auto:8", "search:sc:64", "asking:auto:64")


@pytest.mark.slow
def test_three_ranks_that_reach_each_others_memory_agree_on_other_programs():
    agree(3, "peers", "smallest:auto:8", "along:auto:8", "settled:pc:8", "spread:sc:64", "many:auto:64")


@pytest.mark.slow
def test_bits_of_vertices_that_lie_in_one_partition_are_counted_together():
    agree(2, "peers", "spread:sc:1024")


@pytest.mark.slow
def test_where_one_cannot_reach_the_others_memory_all_use_the_host():
    agree(2, "refused", "smallest:sc:8")


@pytest.mark.slow
@pytest.mark.timeout(900)  # to compile a kernel takes ten seconds, and there are up to a dozen
@pytest.mark.parametrize("name", [*CHECKS, "streamed"])
@pytest.mark.parametrize("where", ["emulated", "peers"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_program_in_all_modes_on_the_emulator(ranks, where, name):
    agree(ranks, where, name, seconds=800)


OF_A_USER = """
import sys
from gpop.apps import sssp
from gpop.gpu.engine import calibrate
from tests.gpu.emulator import emulated
calibrate.device_ratio = lambda engine: 1.0
with emulated():
    sys.exit(sssp.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_what_a_user_types_writes_the_whole_table(tmp_path):
    graph, alone, together = tmp_path / "graph.bin", tmp_path / "alone.csv", tmp_path / "together.csv"
    binary_csr.write(generate("rmat", scale=8, degree=8, seed=3, weights=(1, 9)), graph)
    words = str(graph), "--source", "5", "--output"
    assert sssp.main([*words, str(alone)]) == 0
    done = mpiexec(2, "-c", OF_A_USER, *words, str(together), "--target", "gpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert together.read_text() == alone.read_text()
    assert "256 rows" in done.stdout


QUICK = (
    "search:sc", "asking:auto", "smallest:auto", "rank:pc", "rank:sc", "buckets:auto", "marked:auto",
    "weighted:pc", "drift:auto",
)  # fmt: skip


@pytest.mark.gpu
@pytest.mark.timeout(900)
def test_two_devices_agree_with_one():
    if _devices() < 2:
        pytest.skip("one device only: two ranks need two to use NCCL")
    agree(2, "devices", *QUICK, seconds=800)


@pytest.mark.gpu
@pytest.mark.timeout(900)
def test_two_ranks_share_a_device():
    _devices()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    agree(2, "devices", "smallest:auto", "rank:pc", seconds=800, visible=visible)


def _devices() -> int:
    try:
        return cupy().cuda.runtime.getDeviceCount()
    except UsageError as error:
        pytest.skip(str(error))
