"""What the tests share: small tables with fixed seeds, options that make fits quick, and the command line's tool."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Fits of milliseconds.
QUICK = {"terms": 5, "features": "linear + hinge", "tune": False, "ridge": 1e-3}


@pytest.fixture
def quick():
    return dict(QUICK)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4))
    y = x[:, 0] + np.maximum(0, x[:, 1]) + 0.1 * rng.normal(size=300)
    return x, y


@pytest.fixture
def classes():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    y = np.where(x[:, 0] > 0.5, "high", np.where(x[:, 1] > 0, "middle", "low"))
    return x, y


@pytest.fixture
def tool():
    """Runs the command line's tool; skipped, saying so, where it was not built."""
    path = pathlib.Path(os.environ.get("MFGA_TOOL", ROOT / "build" / "mfga"))
    if not path.exists():
        pytest.skip(f"there is no tool at {path}")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
