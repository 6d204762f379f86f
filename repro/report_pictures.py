"""The pictures of docs/report.md and docs/guide.md: report pages as a browser shows them.

Those of report.md are of adult, year and letter; those of guide.md of the page that its own commands make.
build/mfga must be there (./dev build), Chromium as well; DATA is the folder of data sets. The guide's first command
needs scikit-learn, which the environment of ./dev python has:
./dev python repro/report_pictures.py DATA
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "build" / "mfga"
# Neither table has a header.
ADULT_NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)
# Of the timbre of a song: twelve averages and their covariances.
YEAR_NAMES = ",".join(["year", *(f"average_{i}" for i in range(1, 13)), *(f"covariance_{i}" for i in range(1, 79))])


def run_tool(*arguments):
    subprocess.run([TOOL, *map(str, arguments)], check=True)


def with_names(names, source, target):
    """A copy of a table with a line of names in front; adult.test has a remark at its start."""
    lines = [line for line in source.read_text().splitlines() if line and not line.startswith("|")]
    target.write_text("\n".join([names, *lines]) + "\n")


def make_pages(data, folder):
    """Train with the defaults, or 40 and 100 terms, and write the page of rows that were not trained on."""
    with_names(ADULT_NAMES, data / "adult" / "adult.data", folder / "adult.csv")
    with_names(ADULT_NAMES, data / "adult" / "adult.test", folder / "adult_test.csv")
    run_tool(
        "train", folder / "adult.csv", "--test", folder / "adult_test.csv", "--report", folder / "adult.html", "--quiet"
    )
    with_names(YEAR_NAMES, data / "year" / "train.csv", folder / "year.csv")
    with_names(YEAR_NAMES, data / "year" / "test.csv", folder / "year_test.csv")
    year = ["--target", "year", "--terms", "40", "--quiet"]
    run_tool(
        "train", folder / "year.csv", "--test", folder / "year_test.csv", *year, "--report", folder / "year.html"
    )
    letter = ["--test-fraction", "0.2", "--terms", "100", "--quiet"]
    run_tool("train", data / "letter" / "letter.csv", *letter, "--report", folder / "letter.html")


def run_guide(folder):
    """Run the commands of docs/guide.md, which write page.html."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "mfga").symlink_to(TOOL)
    path = os.pathsep.join([str(tools), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    for commands in re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "guide.md").read_text(), flags=re.DOTALL):
        subprocess.run(
            ["bash", "-ec", commands],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PATH": path},
        )


def from_part(text, part):
    """The page without what comes before a part: a browser without a window does not always scroll."""
    style = f"header, nav, section:has(~ #{part}) {{ display: none }} body {{ padding-top: 2rem }}"
    return text.replace("</head>", f"<style>{style} #{part} {{ margin-top: 0 }}</style></head>", 1)


def take_picture(browser, page, picture, *, width, height, part="", is_dark=False):
    """What a window of this size shows of the page, or where a part of it begins."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shown = folder / "page.html"
        text = page.read_text(encoding="utf-8")
        shown.write_text(from_part(text, part) if part else text, encoding="utf-8")
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}",
                f"--blink-settings=preferredColorScheme={0 if is_dark else 1}", f"--window-size={width},{height}",
                f"--screenshot={picture}", shown.as_uri(),
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip


PICTURES = [
    ("adult", "report-adult-1", {"width": 1280, "height": 1400}),
    ("adult", "report-adult-2", {"width": 1280, "height": 1300, "part": "effects", "is_dark": True}),
    ("adult", "report-adult-3", {"width": 1280, "height": 760, "part": "explain"}),
    ("year", "report-year-1", {"width": 1280, "height": 1400, "part": "quality"}),
    ("letter", "report-letter-1", {"width": 1280, "height": 1300, "part": "quality"}),
    ("letter", "report-letter-2", {"width": 390, "height": 1300}),
    ("page", "guide-page", {"width": 1280, "height": 1040}),
    ("page", "guide-effects", {"width": 1280, "height": 1060, "part": "effects"}),
    ("page", "guide-size", {"width": 800, "height": 560, "part": "size"}),
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    browser = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("there is no chromium in PATH")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_pages(pathlib.Path(sys.argv[1]).resolve(), folder)
        run_guide(folder)
        for page, name, how in PICTURES:
            picture = ROOT / "docs" / f"{name}.png"
            take_picture(browser, folder / f"{page}.html", picture, **how)
            print(f"{picture.name}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
