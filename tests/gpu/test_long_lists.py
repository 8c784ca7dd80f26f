"""Long lists of a block (kernels/long_lists.cuh): every edge is walked, and by one of its warps.

The emulator has one warp to a block, for which there is nothing to share; here the struct is asked by itself.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpop.gpu import kernel, limits

SOURCE = Path(kernel.__file__).parent / "kernels" / "long_lists.cuh"
MOST = 256
AROUND = """
#include <algorithm>
using std::min;
typedef long long int64;
#define __device__
#define __forceinline__
#define __shared__ static
struct Place { unsigned x; };
static Place threadIdx, blockDim;
void __syncthreads();
unsigned lane_id();
static unsigned others;  // that another warp takes in the same moment
static unsigned atomicAdd(unsigned* at, unsigned x) {
  const unsigned before = *at += others;
  *at += x;
  return before;
}
template <class Each> void walk_edges(unsigned, int64, int, Each);
#include "long_lists.cuh"
static LongLists lists;
extern "C" bool take(unsigned v, int64 first, int degree) { return lists.take(v, first, degree); }
extern "C" void others_take(unsigned count) { others = count; }
extern "C" unsigned size() { return lists.size(); }
extern "C" void slice(unsigned i, unsigned warp, unsigned warps, unsigned* v, int64* first, int* degree) {
  threadIdx.x = 32 * warp + 5;
  blockDim.x = 32 * warps;
  lists.slice(i, *v, *first, *degree);
}
"""


@pytest.fixture
def lists(tmp_path):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ on this machine")
    shutil.copy(SOURCE, tmp_path)
    (tmp_path / "walk.cuh").write_text("")  # of which only a name is wanted
    (tmp_path / "around.cpp").write_text(f"#define LONG_LIST {limits.LONG_LIST}\n{AROUND}")
    library = tmp_path / "lists.so"
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-w", "-shared", "-fPIC", tmp_path / "around.cpp", "-o", library],
        check=True,
    )
    found = ctypes.CDLL(str(library))
    found.take.argtypes, found.take.restype = (ctypes.c_uint, ctypes.c_longlong, ctypes.c_int), ctypes.c_bool
    return found


@pytest.mark.parametrize("warps", [1, 2, 16, 32])
def test_slices_of_all_warps_are_the_list(lists, warps):
    degrees = [limits.LONG_LIST + 1, 100, limits.HEAVY, limits.LEVEL_DEGREE]
    for i, degree in enumerate(degrees):
        assert lists.take(7 + i, 1 << 40, degree)
    assert lists.size() == len(degrees)
    v, first, size = ctypes.c_uint(), ctypes.c_longlong(), ctypes.c_int()
    for i, degree in enumerate(degrees):
        walked = np.zeros(degree, int)
        for warp in range(warps):
            lists.slice(i, warp, warps, *map(ctypes.byref, (v, first, size)))
            begin = first.value - (1 << 40)
            walked[begin : begin + size.value] += 1
            assert v.value == 7 + i and abs(size.value - degree / warps) < 1
        assert (walked == 1).all()


def test_short_lists_and_what_finds_no_room_are_not_taken(lists):
    assert not lists.take(1, 0, limits.LONG_LIST) and lists.size() == 0
    taken = [lists.take(v, 0, limits.LONG_LIST + 1) for v in range(MOST + 3)]
    assert taken == [True] * MOST + [False] * 3 and lists.size() == MOST


def test_who_is_late_for_the_last_place_walks_its_list_itself(lists):
    """Two warps have seen that there is room for one."""
    assert all(lists.take(v, 0, limits.LONG_LIST + 1) for v in range(MOST - 1))
    lists.others_take(1)
    assert not lists.take(7, 0, limits.LONG_LIST + 1) and lists.size() == MOST
