"""The examples in docstrings run."""

import doctest
import importlib
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
