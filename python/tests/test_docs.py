"""The examples in docstrings run; the site of the documentation builds; no link is dead."""

import ast
import doctest
import importlib
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import mfga
import mfga.paper
import mfga.plot

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Beside the modules there are two libraries, that of the package and that for GPUs where it was built.
LIBRARIES = ("_core", "libmfga_cuda")
NAMES = [module.name for module in pkgutil.iter_modules(mfga.__path__) if module.name not in LIBRARIES]
MODULES = ["mfga", *(f"mfga.{name}" for name in NAMES)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, request):
    if name == "mfga.plot":
        pytest.importorskip("matplotlib").use("Agg")
    if name == "mfga.dask":
        pytest.importorskip("distributed")
    if name in ("mfga.spark", "mfga._spark"):  # in the session that is there
        request.getfixturevalue("spark")
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    others = [name for name in MODULES if name not in ("mfga.dask", "mfga.spark", "mfga._spark")]
    examples = [test for name in others for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 12


PUBLIC = {f"{module}.{name}" for module in ("mfga", "mfga.paper", "mfga.plot") for name in sys.modules[module].__all__}
PUBLIC |= {f"mfga.{cluster}.{name}" for cluster in ("dask", "spark") for name in ("MFGARegressor", "MFGAClassifier")}
PUBLIC |= {f"mfga.spark.{name}Model" for name in ("MFGARegressor", "MFGAClassifier")}


def in_reference():
    """What the reference shows, with the module that it is of."""
    module, found = "", set()
    for kind, name in re.findall(r"^\.\. (\w+):: (\S+)$", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE):
        if kind in ("automodule", "currentmodule"):
            module = name
        elif kind in ("autoclass", "autofunction"):
            found.add(f"{module}.{name}")
    return found


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_everything_public_is_documented(name):
    module, _, member = name.rpartition(".")
    if module in ("mfga.dask", "mfga.spark"):
        pytest.importorskip("distributed" if module == "mfga.dask" else "pyspark")
    thing = getattr(importlib.import_module(module), member)
    assert set(importlib.import_module(module).__all__) <= {public.rpartition(".")[2] for public in PUBLIC}
    assert ">>> " in (thing.__doc__ if thing.__module__ != "mfga.paper" else mfga.paper.__doc__)
    assert name in in_reference()
    for method in [member for member in vars(thing) if not member.startswith("_")] if isinstance(thing, type) else []:
        assert getattr(thing, method).__doc__, method


def test_the_stubs_are_those_of_the_extension():
    """`python -m nanobind.stubgen -m mfga._core -o python/mfga/_core.pyi` writes them."""
    stubs = ast.parse(pathlib.Path(mfga.__path__[0], "_core.pyi").read_text())
    names = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert set(names) == {name for name in dir(mfga._core) if not name.startswith("_")}
    for kind in ("Dictionary", "Model", "Progress", "Statistics"):
        members = {node.name for node in names[kind].body if isinstance(node, ast.FunctionDef)}
        public = {name for name in vars(getattr(mfga._core, kind)) if not name.startswith("_")}
        assert {name for name in members if not name.startswith("_")} == public


def build_site(sources, folder):
    return subprocess.run([sys.executable, sources / "build.py", folder], capture_output=True, text=True)


def test_the_site_has_all_pages_and_no_dead_links(tmp_path):
    """`./dev docs` builds the same."""
    pytest.importorskip("sphinx")
    done = build_site(ROOT / "docs", tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {file.stem for file in (ROOT / "docs").glob("*.md")}
    assert pages <= {file.stem for file in (tmp_path / "site").glob("*.html")}
    reference = (tmp_path / "site" / "reference.html").read_text()
    assert 'id="mfga.MFGARegressor.fit"' in reference and "make_friedman1" in reference
    # What the search looks in, without a network.
    assert "decision_function" in (tmp_path / "site" / "searchindex.js").read_text()


def test_dead_links_are_found(tmp_path):
    pytest.importorskip("sphinx")
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("conf.py", "build.py"):
        (docs / name).write_text((ROOT / "docs" / name).read_text())
    (docs / "python.md").write_text("# Here\n")
    links = "[one](lost.md) [two](python.md#absent) ![three](away.svg)"
    (docs / "index.md").write_text(f"# Start\n\n{links}\n\n```{{toctree}}\npython\n```\n")
    done = build_site(docs, tmp_path / "site")
    assert done.returncode != 0
    for name in ("lost.md", "absent", "away.svg"):
        assert name in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["README.md", "HACKING.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_outside_of_the_site(name):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", (ROOT / name).read_text()):
        assert "://" in target or (ROOT / target).exists(), target
