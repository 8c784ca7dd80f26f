"""Programs on GPUs of several ranks: on the emulator, and on devices where there are some."""

from __future__ import annotations

import os

import pytest

from gpop.common.errors import UsageError
from gpop.gpu.device import cupy
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
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_all_programs_in_all_modes_on_the_emulator(ranks):
    agree(ranks, "emulated", seconds=3500)


QUICK = "smallest:auto", "rank:pc", "rank:sc", "buckets:auto", "marked:auto", "weighted:pc", "drift:auto"


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
