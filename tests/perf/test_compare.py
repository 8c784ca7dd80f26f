"""compare calls a change what is more than noise, and noise what is not."""

from __future__ import annotations

import numpy as np
import pytest

pyperf = pytest.importorskip("pyperf")

from perf.__main__ import main  # noqa: E402
from perf.compare import changes, verdict  # noqa: E402

RNG = np.random.default_rng(20260101)


def benchmark(name, mean, spread=0.01, process_spread=0.0, processes=4, values=5):
    runs = []
    for _ in range(processes):
        centre = mean * (1 + process_spread * RNG.standard_normal())
        seconds = centre * (1 + spread * RNG.standard_normal(values))
        runs.append(pyperf.Run(seconds.tolist(), metadata={"name": name}, collect_metadata=False))
    return pyperf.Benchmark(runs)


def suite(**means):
    return pyperf.BenchmarkSuite([benchmark(name, mean) for name, mean in means.items()])


def test_changes_and_noise():
    found = changes(suite(same=1.0, slow=1.0, fast=1.0), suite(same=1.0, slow=1.1, fast=0.9))
    assert {change.name: verdict(change) for change in found} == {
        "same": "noise",
        "slow": "slower",
        "fast": "faster",
    }
    slow = found[1]
    assert slow.after / slow.before == pytest.approx(1.1, rel=0.02) and 0 < slow.ratio_rse < 0.02


def test_a_hundred_times_nothing_is_noise():
    names = [f"b{number}" for number in range(100)]
    both = [
        pyperf.BenchmarkSuite([benchmark(name, 1.0, process_spread=0.05) for name in names]) for _ in range(2)
    ]
    called = [change for change in changes(*both) if verdict(change) != "noise"]
    # Values of a process belong together; a test of all values would call about 50 of these a change.
    assert len(called) <= 3


def test_one_value_says_nothing():
    lone = [pyperf.BenchmarkSuite([benchmark("b", mean, processes=1, values=1)]) for mean in (1.0, 2.0)]
    assert verdict(changes(*lone)[0]) == "too few values"


def test_command(tmp_path, capsys):
    paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
    suite(shared=1.0, old=1.0).dump(paths[0])
    suite(shared=2.0, new=1.0).dump(paths[1])
    assert main(["compare", *paths]) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if line.startswith("shared"))
    assert line.endswith("slower") and "2.0" in line
    assert f"only in {paths[0]}: old" in out and f"only in {paths[1]}: new" in out
    (tmp_path / "a.json").write_text("{}")
    assert main(["compare", *paths]) == 2
    assert "is no file of bench" in capsys.readouterr().err
