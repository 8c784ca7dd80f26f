"""The site: its code runs and prints what it says, its links and names exist, and it builds without warnings.

The fast tests need no Sphinx. The slow ones build everything as CONTRIBUTING.md says, and run the commands of
all pages.
"""

from __future__ import annotations

import contextlib
import doctest
import gzip
import importlib.util
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import gpop
from gpop.apps.bfs import BFSResult
from tests.networkx.registered import register
from tests.site_pages import CHECKED, DOCS, PAGES, ROOT, SHOWN, anchors, blocks, commands, prose
from tests.test_guides import resolves

PYTHON = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]
WITH_COMMANDS = [page for page in PAGES if commands(page)]
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A directory with the bundled graphs, where pages may write; NetworkX knows the backend."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    register()


@pytest.mark.parametrize("page", PYTHON)
def test_python_runs_and_prints_what_the_page_says(page, elsewhere):
    names = {"__name__": "__main__"}
    code = [block for block in blocks(page) if block.language in ("python", "output")]
    for block, following in zip(code, [*code[1:], None], strict=True):
        if block.language == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile("\n" * block.line + block.text, f"docs/{page}.md", "exec"), names)
            if following is not None and following.language == "output":
                same = doctest.OutputChecker().check_output(following.text, said.getvalue(), SAME)
                assert same, f"docs/{page}.md, line {following.line}: printed\n{said.getvalue()}"


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_checked_or_plainly_shown(page):
    languages = [block.language for block in blocks(page) if not block.language.startswith("{")]
    assert set(languages) <= {*CHECKED, *SHOWN}
    for before, after in zip(["", *languages], languages, strict=False):
        assert after != "output" or before == "python"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.startswith("migration/") and page[-5:] != "index"]
)
def test_migration_pages_have_both_sides(page):
    languages = {block.language for block in blocks(page)}
    other = page.rpartition("/")[2]
    assert "python" in languages
    assert other == "networkx" or languages & {*SHOWN}  # networkx is run as well
    assert "## What is different" in PAGES[page]


def test_tutorials_are_those_promised():
    promised = {"first_graph", "write_a_program", "choose_a_mode", "l2_misses", "gpu", "ranks"}
    assert promised == {page.partition("/")[2] for page in PAGES if page.startswith("tutorials/")} - {"index"}


def linked(page: str) -> list[str]:
    """Targets of the links of a page, and its entries in tables of contents."""
    entries = [
        f"{line.strip()}.md"
        for block in blocks(page)
        if block.language == "{toctree}"
        for line in block.text.splitlines()
        if line.strip() and not line.startswith(":")
    ]
    return re.findall(r"\]\(((?!https?:)[^)]+)\)", prose(page)) + entries


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_headings(page):
    for target in linked(page):
        path, _, anchor = target.partition("#")
        found = (DOCS / page).parent / path if path else DOCS / f"{page}.md"
        name = found.resolve().relative_to(DOCS).with_suffix("").as_posix()
        if name.split("/")[0] in ("gallery", "reference") and "/" in name:
            assert name in ("reference/index", "gallery/programs/index", "gallery/answers/index"), target
        else:
            assert name in PAGES, f"{page}: {target}"
            assert not anchor or anchor in anchors(PAGES[name]), target


def test_every_page_is_in_a_table_of_contents():
    listed = {
        ((DOCS / page).parent / entry).resolve().relative_to(DOCS).with_suffix("").as_posix()
        for page in PAGES
        for entry in linked(page)
        if entry.endswith(".md") and any(block.language == "{toctree}" for block in blocks(page))
    }
    assert {*PAGES} - {"index"} <= listed


@pytest.mark.parametrize("page", PAGES)
def test_files_and_names_exist(page):
    text = prose(page)
    for path in re.findall(r"`((?:gpop|tests|perf|apps|data|docs)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`(gpop(?:\.\w+)+)[`(]", text):
        assert resolves(name), name


@pytest.fixture(scope="module")
def help_of():
    """What ``--help`` of a command prints; each is asked once."""
    known: dict[tuple[str, ...], str] = {}

    def ask(*words: str) -> str:
        if words not in known:
            said = io.StringIO()
            with (
                pytest.MonkeyPatch.context() as patch,
                contextlib.redirect_stdout(said),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore", RuntimeWarning)  # the module may be imported already
                patch.setattr(sys, "argv", [*words, "--help"])
                with contextlib.suppress(SystemExit):
                    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
            known[words] = said.getvalue()
        return known[words]

    return ask


def test_options_of_the_guide_are_those_of_an_app(help_of):
    table = re.search(r"^\| option \|.*?\n\n", PAGES["guide/commands"], re.MULTILINE | re.DOTALL)[0]
    options = set(re.findall(r"--[a-z][a-z-]+", table))
    taken = set(re.findall(r"--[a-z-]+", help_of("gpop.apps.sssp").partition("options:")[2]))
    of_files_or_of_one = {
        "--help",
        "--delimiter",
        "--columns",
        "--header",
        "--no-header",
        "--delta",
        "--method",
    }
    assert options <= taken
    assert taken - options <= of_files_or_of_one, "say it in docs/guide/commands.md"


def public_names():
    """docs/public_names.py, which is no package's."""
    spec = importlib.util.spec_from_file_location("public_names", DOCS / "public_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_public_name_once_and_all_results():
    page = public_names().text()
    listed = re.findall(r"^   (gpop[\w.]*)$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {f"gpop.{name}" for name in gpop.__all__} <= set(listed)
    results = [name for name in listed if name.startswith("gpop.apps.")]
    assert "gpop.apps.bfs.BFSResult" in results and "gpop.apps.result.AppResult" in results
    assert {*listed} == {f"gpop.{name}" for name in gpop.__all__} | {*results}
    assert "\nMore\n" not in page, "a room without a section in docs/public_names.py"


def test_a_new_name_comes_into_the_reference_by_itself(monkeypatch):
    monkeypatch.setitem(gpop._HOMES, "apart", "gpop.apps.apart")
    monkeypatch.setattr(gpop, "__all__", [*gpop._HOMES])
    monkeypatch.setitem(vars(gpop), "apart", lambda graph: None)
    gpop.apart.__annotations__["return"] = BFSResult
    algorithms = public_names().text().partition("Results\n")[0]
    assert "   gpop.apart\n" in algorithms


def copy_of_the_repository(folder: Path) -> Path:
    """What the build reads, where it may write."""
    for name in ("apps", "data", "docs", "gpop", "perf"):
        left_out = shutil.ignore_patterns(
            "__pycache__", "_build", "reference", *(() if name != "docs" else ("gallery",))
        )
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    for guide in ROOT.glob("*.md"):
        shutil.copy(guide, folder)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built by the command of CONTRIBUTING.md, and what Sphinx said."""
    for package in (
        "sphinx",
        "pydata_sphinx_theme",
        "sphinx_gallery",
        "numpydoc",
        "myst_parser",
        "matplotlib",
    ):
        pytest.importorskip(package)
    command = re.search(
        r"^python (-m sphinx .*?)\s*(#.*)?$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    folder = copy_of_the_repository(tmp_path_factory.mktemp("site"))
    done = subprocess.run(
        [sys.executable, *command[1].split()], cwd=folder, capture_output=True, text=True, timeout=1500
    )
    return folder / "docs" / "_build", done


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_it_builds_without_warnings_and_executes_every_example(site):
    built, done = site
    assert done.returncode == 0, done.stderr[-4000:]
    examples = [*(ROOT / "apps").glob("*.py"), *(DOCS / "examples").glob("*.py")]
    said = re.search(r"successfully executed (\d+) out of (\d+) files", done.stdout)
    assert [int(count) for count in said.groups()] == [len(examples)] * 2
    for page in PAGES:
        assert (built / f"{page}.html").exists(), page
    for name in gpop.__all__:
        assert (built / "reference" / "generated" / f"gpop.{name}.html").exists(), name
    pictures = {path.stem for path in (built / "_images").glob("sphx_glr_*_001.png")}
    for example in examples:
        assert f"sphx_glr_{example.stem}_001" in pictures, f"{example.name} draws nothing"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_pages_load_nothing_from_elsewhere(site):
    built, _ = site
    loads = re.compile(
        r"<(?:script|img|iframe|source|link(?=[^>]*stylesheet|[^>]*preload))[^>]*(?:src|href)=\"(?:https?:)?//"
    )
    for path in built.rglob("*.html"):
        assert not loads.search(path.read_text()), path
    for path in built.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )['\"]?(?:https?:)?//", path.read_text()), path


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_links_inside_the_built_site_exist(site):
    built, _ = site
    ids = {}
    for path in built.rglob("*.html"):
        text = path.read_text()
        ids[path] = set(re.findall(r"\bid=\"([^\"]+)\"", text))
    for path in ids:
        for target in re.findall(r"<a [^>]*href=\"([^\"]+)\"", path.read_text()):
            if re.match(r"\w+:", target):
                continue
            place, _, anchor = target.partition("#")
            found = (path.parent / place).resolve() if place else path
            assert found.exists(), f"{path}: {target}"
            assert not anchor or found not in ids or anchor in ids[found] or anchor == "", f"{path}: {target}"


RUN = [page for page in WITH_COMMANDS if page not in ("guide/measure", "index")]
"""Pages whose commands are run; measuring takes minutes (tests/perf has small ones), installing a network."""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", RUN)
def test_commands_run_as_they_stand(page, tmp_path):
    """In a folder with what the repository has; what needs a GPU may say in a line that none is there."""
    for name in ("apps", "perf"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "data", tmp_path / "data")
    with gzip.open(tmp_path / "web.txt.gz", "wt") as file:
        file.write("# from to\n0 1\n1 2\n2 0\n")
    for name, like in {"road.bin": "road.bin", "web.bin": "lesmis.bin"}.items():
        shutil.copy(ROOT / "data" / like, tmp_path / name)  # commands write there
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for line in commands(page):
        if line.startswith("pip install"):
            continue
        program, *words = shlex.split(line)
        words = [sys.executable, *(["-m", "gpop"] if program == "gpop" else []), *words]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )
        no_device = "gpu" in line and done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert done.returncode == 0 or no_device, f"{line}\n{done.stderr}"
