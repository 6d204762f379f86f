"""What the tests share: small tables with fixed seeds, options that make fits quick, the command line's tool and a
database."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Fits of milliseconds.
QUICK = {"terms": 5, "features": "linear + hinge", "tune": False, "ridge": 1e-3}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where everything was installed, as by `./dev test`, a test that is skipped is one that nobody runs."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("MFGA_ALL_TESTS") == "yes":
        report.outcome = "failed"
        report.longrepr = f"skipped, though MFGA_ALL_TESTS=yes: {report.longrepr[-1]}"
    return report


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


@pytest.fixture(scope="session")
def cases():
    """Models to export, made once for the tests of all formats."""
    from export_cases import all_cases

    return all_cases()


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


@pytest.fixture(scope="module")
def postgres():
    """Runs scripts in a database server of its own, as another user than root."""
    folders = [*pathlib.Path("/usr/lib/postgresql").glob("*/bin"), *filter(None, [shutil.which("initdb")])]
    if not folders or shutil.which("psql") is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    programs = pathlib.Path(folders[-1])
    programs = programs if programs.is_dir() else programs.parent
    user = []
    folder = pathlib.Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no setpriv")
        os.chown(folder, 65534, 65534)
        user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    run = {"check": True, "capture_output": True, "text": True, "cwd": folder}
    settings = "-c listen_addresses= -c fsync=off -k " + str(folder)
    try:
        subprocess.run([*user, programs / "initdb", "-D", folder / "db", "-U", "tester", "-N", "-E", "UTF8"], **run)
        subprocess.run(
            [*user, programs / "pg_ctl", "-D", folder / "db", "-w", "-o", settings, "-l", folder / "log", "start"],
            **run,
        )
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.fail(f"PostgreSQL does not start here: {error.stderr}")

    def script(text):
        command = ["psql", "-X", "-q", "-h", str(folder), "-U", "tester", "-d", "postgres", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run([*command, "--csv", "-f", "-"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    yield script
    subprocess.run([*user, programs / "pg_ctl", "-D", folder / "db", "-m", "immediate", "stop"], capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark():
    """A session with a cluster of its own: two executors, each a process that runs one task at a time."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no Java (Debian's package default-jre-headless)")
    folder = tempfile.mkdtemp()
    # Executors run this Python; their logs, and what they keep on the way, are removed with the folder.
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=spark_home(folder))
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.local.dir", folder)
        .config("spark.sql.warehouse.dir", folder)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


def spark_home(folder):
    """Links to pyspark in a folder of one's own: its cluster writes beside its programs."""
    import pyspark

    home = pathlib.Path(folder, "spark")
    home.mkdir()
    for part in pathlib.Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    return str(home)
