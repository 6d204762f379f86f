"""The examples in docstrings run."""

import ast
import doctest
import importlib
import pathlib
import pkgutil

import pytest

import mfga

MODULES = ["mfga", *(f"mfga.{module.name}" for module in pkgutil.iter_modules(mfga.__path__) if module.name != "_core")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    examples = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(examples) >= 6


@pytest.mark.parametrize("name", mfga.__all__)
def test_everything_public_is_documented(name):
    thing = getattr(mfga, name)
    assert thing.__doc__
    for method in [member for member in vars(thing) if not member.startswith("_")] if isinstance(thing, type) else []:
        assert getattr(thing, method).__doc__, method


def test_the_stubs_are_those_of_the_extension():
    """`python -m nanobind.stubgen -m mfga._core -o python/mfga/_core.pyi` writes them."""
    stubs = ast.parse(pathlib.Path(mfga.__path__[0], "_core.pyi").read_text())
    names = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert set(names) == {name for name in dir(mfga._core) if not name.startswith("_")}
    for kind in ("Model", "Progress", "Statistics"):
        members = {node.name for node in names[kind].body if isinstance(node, ast.FunctionDef)}
        public = {name for name in vars(getattr(mfga._core, kind)) if not name.startswith("_")}
        assert {name for name in members if not name.startswith("_")} == public
