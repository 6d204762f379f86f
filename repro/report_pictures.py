"""The pictures of docs/report.md: report pages of adult, year and letter as a browser shows them.

build/mfga must be there (./dev build), Chromium as well; DATA is the folder of data sets.
python3 repro/report_pictures.py DATA
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "build" / "mfga"
# adult.data has no header.
ADULT_NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)


def run_tool(*arguments):
    subprocess.run([TOOL, *map(str, arguments)], check=True)


def named_adult(source, target):
    lines = [line for line in source.read_text().splitlines() if line and not line.startswith("|")]
    target.write_text("\n".join([ADULT_NAMES, *lines]) + "\n")


def make_pages(data, folder):
    """Train with the defaults, or 40 and 100 terms, and write the page of rows that were not trained on."""
    named_adult(data / "adult" / "adult.data", folder / "adult.csv")
    named_adult(data / "adult" / "adult.test", folder / "adult_test.csv")
    run_tool(
        "train", folder / "adult.csv", "--test", folder / "adult_test.csv", "--report", folder / "adult.html", "--quiet"
    )
    year = ["--header", "no", "--terms", "40", "--quiet"]
    run_tool("train", data / "year" / "train.csv", "--target", "0", "--test", data / "year" / "test.csv", *year,
             "--report", folder / "year.html")  # fmt: skip
    letter = ["--test-fraction", "0.2", "--terms", "100", "--quiet"]
    run_tool("train", data / "letter" / "letter.csv", *letter, "--report", folder / "letter.html")


def take_picture(browser, page, picture, *, width, height, offset, is_dark):
    """What a window of this size shows, so many pixels below the head of the page."""
    with tempfile.TemporaryDirectory() as profile:
        window = pathlib.Path(profile, "window.html")
        window.write_text(
            "<!DOCTYPE html><style>body { margin: 0; overflow: hidden } iframe { border: 0; display: block; "
            f"margin-top: -{offset}px; width: {width}px; height: 12000px }}</style><iframe src='{page.as_uri()}'></iframe>"
        )
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--hide-scrollbars", f"--user-data-dir={profile}/profile", "--allow-file-access-from-files",
                f"--blink-settings=preferredColorScheme={0 if is_dark else 1}", f"--window-size={width},{height}",
                f"--screenshot={picture}", window.as_uri(),
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    browser = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("there is no chromium in PATH")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_pages(pathlib.Path(sys.argv[1]).resolve(), folder)
        for page, pictures in {
            "adult": [(1280, 1400, 0, False), (1280, 1300, 2850, True)],
            "year": [(1280, 1400, 900, False)],
            "letter": [(1280, 1300, 1100, False), (360, 1300, 0, False)],
        }.items():
            for number, (width, height, offset, is_dark) in enumerate(pictures, start=1):
                picture = ROOT / "docs" / f"report-{page}-{number}.png"
                take_picture(
                    browser,
                    folder / f"{page}.html",
                    picture,
                    width=width,
                    height=height,
                    offset=offset,
                    is_dark=is_dark,
                )
                print(f"{picture.name}: {picture.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
