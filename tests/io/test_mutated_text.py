"""Text edge lists that something has happened to: a graph, or one line that says what is wrong."""

from __future__ import annotations

import gzip
import lzma

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.io.mutated import check_mutation

LINE = st.one_of(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda e: b"%d %d" % e),
    st.tuples(st.integers(0, 2**64), st.integers(0, 9), st.floats()).map(lambda e: b"%d\t%d %r" % e),
    st.text("0123456789 \t,.-+eE#%\r", max_size=12).map(str.encode),
    st.binary(max_size=9),
)


TEXT = st.lists(LINE, max_size=12).map(b"\n".join)


@settings(deadline=None, max_examples=300)
@given(TEXT)
def test_mutated_text(tmp_path_factory, data):
    check_mutation(tmp_path_factory.getbasetemp() / "mutated.txt", data)


@settings(deadline=None, max_examples=100)
@given(TEXT, st.sampled_from([gzip.compress, lzma.compress]), st.integers(0, 200), st.binary(max_size=4))
def test_mutated_archives(tmp_path_factory, data, pack, at, change):
    ending = ".gz" if pack is gzip.compress else ".xz"
    packed = bytearray(pack(data))
    packed[at : at + len(change)] = change
    check_mutation(tmp_path_factory.getbasetemp() / f"mutated.el{ending}", bytes(packed))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(deadline=None, max_examples=20_000)
@given(TEXT | st.binary(max_size=300))
def test_mutated_text_at_length(tmp_path_factory, data):
    check_mutation(tmp_path_factory.getbasetemp() / "mutated.csv", data)
