"""Trees in files: what is written is read again, and whatever is not a tree is refused in one line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import gpop
from gpop.common.errors import UsageError
from gpop.model.features import FEATURES
from gpop.model.trees import ARRAYS, NO_STRATEGY, digest_of, read_tree, stump, write_tree

SCHEMA = json.loads((Path(gpop.__file__).parent / "schemas" / "tree.json").read_text())
TREE = stump("edges rel", 0.1, "sc", "pull")


@pytest.fixture
def path(tmp_path):
    write_tree(TREE, tmp_path / "tree.json")
    return tmp_path / "tree.json"


def test_read_again(path):
    found = read_tree(path)
    assert found.said() == TREE.said()
    for name, dtype in ARRAYS.items():
        assert getattr(found, name).dtype == dtype
    jsonschema.validate(json.loads(path.read_text()), SCHEMA, jsonschema.Draft202012Validator)
    write_tree(found, path.with_name("again.json"))
    assert path.with_name("again.json").read_text() == path.read_text()


def test_thresholds_are_compared_with_float32():
    near = float(np.nextafter(0.1, 1))  # above 0.1 in float64, the same number in float32
    tree = replace(TREE, threshold=np.array([float(np.float32(0.1)), 0, 0]))
    samples = np.zeros((3, len(FEATURES)))
    samples[:, FEATURES.index("edges rel")] = 0.1, near, 0.2
    assert tree.predict(samples).tolist() == [0, 0, 1]


def test_a_leaf_may_predict_nothing():
    tree = replace(TREE, right=np.array([2, 0, -1]), sets=(((0, 1), 4),))
    samples = np.ones((1, len(FEATURES)))
    assert tree.predict(samples).tolist() == [NO_STRATEGY]


def written(said, path):
    """A file whose digest is right, whatever it says."""
    path.write_text(json.dumps(said | {"digest": digest_of(said)}))
    return path


def refused(path, match):
    with pytest.raises(UsageError, match=match) as raised:
        read_tree(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def test_what_is_no_file_of_a_tree(path, tmp_path):
    refused(tmp_path / "none.json", "No such file or directory: expected a file of")
    text = path.read_text()
    for end in (0, 1, len(text) // 2, len(text) - 3):
        path.write_text(text[:end])
        refused(path, "is no JSON, or cut short")
    path.write_bytes(b"\xff\xfe\x00")
    refused(path, "is no text")
    for other in ("[1, 2]", "3", '{"kind": "something else"}'):
        path.write_text(other)
        refused(path, "is no decision tree of gpop")
    path.write_text(text.replace('"format": 1', '"format": 2'))
    refused(path, "has format 2: expected 1")


def test_what_was_edited(path):
    path.write_text(path.read_text().replace("0.1", "0.2"))
    refused(path, "is not as it was written")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"features": ["colour"]}, "feature 'colour': expected some of vertices"),
        ({"strategies": ["sc", "walk"]}, "strategy 'walk': expected one of auto, sc"),
        ({"strategies": ["sc", "tree"]}, "strategy 'tree': expected one of auto, sc"),
        ({"left": [0, -1, -1]}, "its nodes are no tree"),  # a circle
        ({"left": [9, -1, -1]}, "its nodes are no tree"),
        ({"left": [1, -1]}, "its nodes are no tree"),
        ({"right": [2, 0, 5]}, "its nodes are no tree"),
        ({"right": [2, 0, -1]}, "its nodes are no tree"),  # a set that is not there
        ({"feature": [7, 0, 0]}, "its nodes are no tree"),
        ({"threshold": ["a", 0, 0]}, "could not convert"),
        ({"sets": 3}, "not iterable"),
    ],
)
def test_what_has_a_digest_but_is_no_tree(path, change, match):
    refused(written(TREE.said() | change, path), re.escape(match) if "(" not in match else match)
