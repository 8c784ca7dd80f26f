"""``--json`` of every command prints one object, and nothing else, by the schema in gpop/schemas/."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import jsonschema
import pytest

import gpop
from gpop import __main__ as listing
from gpop import compare, convert, info
from gpop.generate import __main__ as generating
from gpop.generate import generate
from tests.cli.commands import APPS, run_app

SCHEMAS = {
    path.stem: json.loads(path.read_text())
    for path in (Path(gpop.__file__).parent / "schemas").glob("*.json")
}


def valid(out: str, schema: str) -> dict:
    """The object, which is all that was printed."""
    told = json.loads(out)
    jsonschema.validate(told, SCHEMAS[schema], jsonschema.Draft202012Validator)
    return told


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "road.bin"
    generate("road", width=15, height=12, seed=3).save(path)
    return path


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas_and_strict(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    with pytest.raises(jsonschema.ValidationError, match="is a required property"):
        jsonschema.validate({"gpop": "1", "command": name}, SCHEMAS[name])


def test_every_command_has_a_schema():
    commands = {name for name, _ in listing.commands(listing.PACKAGE)}
    assert commands | {"app", "tree"} == {*SCHEMAS}


@pytest.mark.parametrize("app", APPS)
def test_apps(app, road, capsys, tmp_path):
    files = [] if app == "triangles" else ["--output", tmp_path / "out.csv"]
    assert (
        run_app(app, road, "--json", "--rounds", 2, "--verify", "--report", tmp_path / "r.html", *files) == 0
    )
    out, err = capsys.readouterr()
    told = valid(out, "app")
    assert (told["command"], told["gpop"], told["verified"], err) == (app, gpop.__version__, True, "")
    assert told["graph"] == {
        "name": "road", "vertices": 180, "edges": gpop.load(road).m, "original_ids": False,
        "weights": "uint32" if app == "sssp" else told["graph"]["weights"],
    }  # fmt: skip
    assert len(told["seconds"]["rounds"]) == 2 and min(told["seconds"]["rounds"]) <= told["seconds"]["median"]
    assert told["run"]["iterations"] == told["run"]["summary"].get("iterations", told["run"]["iterations"])
    assert set(told["files"]) == {"report", *(["output"] if files else [])}
    assert all(Path(path).exists() for path in told["files"].values())
    assert told["options"]["rounds"] == 2
    assert (told["top"] is None) == (app in ("triangles", "independent_set"))  # no numbers


def test_the_answer_speaks_in_original_ids(tmp_path, capsys):
    path = tmp_path / "named.wel"
    path.write_text("70000 30 4\n30 9 1\n9 30 2\n")
    assert run_app("sssp", path, "--json", "--source", 70000, "--rounds", 1) == 0
    told = valid(capsys.readouterr().out, "app")
    assert told["answer"] == {"source": 70000}
    assert told["top"] == {"by": "distance", "rows": [[9, 5], [30, 4], [70000, 0]]}


def test_a_failed_verification_is_told(road, capsys, monkeypatch):
    monkeypatch.setattr("gpop.apps.bfs.verify", lambda *given: "a tree is wrong")
    assert run_app("bfs", road, "--json", "--verify", "--rounds", 1) == 1
    out, err = capsys.readouterr()
    assert valid(out, "app")["verified"] is False and err == "gpop: verification failed: a tree is wrong\n"


def test_info(road, capsys):
    assert info.main([str(road), "--json"]) == 0
    told = valid(capsys.readouterr().out, "info")
    assert (told["vertices"], told["weights"]["type"]) == (180, "uint32")


def test_convert(road, tmp_path, capsys):
    out = tmp_path / "out.el"
    given = [str(road), str(out), "--weights", "none", "--reverse", "--relabel", "degree", "--json"]
    with pytest.warns(UserWarning, match="without 2 of 180 vertices, which have no edges"):
        assert convert.main(given) == 0
    told = valid(capsys.readouterr().out, "convert")
    assert [step["name"] for step in told["steps"]] == ["reverse", "relabel by degree"]
    assert told["output"]["file"] == str(out) and told["output"]["weights"] is None
    assert told["original_ids"] is True and told["ids"] is None


def test_generate(tmp_path, capsys):
    path = tmp_path / "g.bin"
    assert generating.main(["chain", "--vertices", "9", "--weights", "1:5", "--json", str(path)]) == 0
    told = valid(capsys.readouterr().out, "generate")
    assert told["graph"] == {"name": "chain-9", "vertices": 9, "edges": 16, "weights": "uint32"}
    assert told["options"]["weights"] == [1, 5] and Path(told["output"]).exists()
    assert told["remark"] is None


def test_compare(road, capsys, monkeypatch):
    monkeypatch.setattr(compare, "_limit", lambda target, threads: 1e9)
    arguments = ["--apps", "bfs,cc", "--modes", "sc,pc", "--rounds", "1", "--threads", "1", "--json"]
    assert compare.main([str(road), *arguments]) == 0
    told = valid(capsys.readouterr().out, "compare")
    assert [row["app"] for row in told["rows"]] == ["bfs", "bfs", "cc", "cc"]
    assert set(told["not_compared"]) <= {"gpu"}


def test_an_error_is_a_line_and_no_object(tmp_path, capsys):
    assert importlib.import_module("gpop.apps.bfs").main([str(tmp_path / "none.bin"), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("gpop: ") and err.count("\n") == 1
