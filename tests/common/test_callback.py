"""Kernels that are called by their address."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from gpop.common.by_reference import Reference, opener
from gpop.common.callback import callback
from gpop.common.foreign import call_c
from gpop.common.inlined import KERNEL

Total = namedtuple("Total", "numbers")
_open = opener(Reference(Total(np.zeros(1, np.int64))).kind)


def add_up(one, other, address):
    _open(address).numbers[0] += one + other


def test_a_kernel_calls_another_by_its_address():
    total = Total(np.zeros(1, np.int64))
    reference = Reference(total)
    address = callback(lambda: add_up, "add_up_of_this_test", __file__, 3, **KERNEL)

    @njit
    def twice(address, place):
        call_c(address, (np.int64(1), np.int64(2), place))
        call_c(address, (np.int64(30), np.int64(4), place))

    twice(address, reference.address)
    assert total.numbers[0] == 37
