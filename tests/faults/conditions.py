"""What may be wrong with the system around the tool, beside single calls that fail. See faults.py."""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time

from tool_runs import BEFORE, SECONDS, commands, problem

NOBODY = 65534


def short_moves(runner):
    """One byte at a time, with interruptions, everything is as ever."""
    problems = []
    for command in commands(runner.inputs):
        expected = runner.run(command, f"expected {command.name}")
        process, files = runner.run(command, f"{command.name} short", {"MFGA_FAULT_SHORT": "1"})
        found = problem(command, process, files, expected)
        if found is None and process.returncode != 0:
            found = f"exit code {process.returncode}: {process.stderr.decode()}"
        if found:
            problems.append(f"{command.name}, short reads and writes: {found}")
    return problems


def refused(name, process, codes, files=()):
    """What is wrong with a run that had to end with a message and one of these codes."""
    problems = []
    if process is None or process.returncode not in codes or b"mfga: " not in process.stderr:
        what = process and (process.returncode, process.stderr.decode())
        problems.append(f"{name}: {what}; expected a message and {codes}")
    if files:
        problems.append(f"{name}: leaves {sorted(files)}")
    return problems


def bad_places(runner):
    """Outputs where nothing can be written, and inputs that are not there."""
    problems = []
    for command in commands(runner.inputs):
        bare = dataclasses.replace(command, outputs=[], copies=[])
        name = command.name
        if command.outputs and name != "resume":
            target = command.outputs[0]
            for place, codes in (("/dev/full", (3,)), ("/no such folder/x", (2,)), ("/proc/x", (2, 3))):
                arguments = [place if argument == target else argument for argument in command.arguments]
                process, files = runner.run(bare, f"{name} to a bad place", (), arguments)
                rest = {file for file in files if file not in command.outputs and file != command.checkpoint}
                problems += refused(f"{name} to {place}", process, codes, rest)
        given = [argument for argument in command.arguments if argument.startswith(str(runner.inputs))]
        for path in given:
            arguments = ["/no such folder/x" if argument == path else argument for argument in command.arguments]
            process, files = runner.run(bare, f"{name} from a bad place", (), arguments)
            rest = set(files) - {command.checkpoint}
            problems += refused(f"{name} without {pathlib.Path(path).name}", process, (2,), rest)
        if not command.outputs:
            with open("/dev/full", "wb") as full:
                process = subprocess.run([runner.tool, *command.arguments], stdout=full, stderr=subprocess.PIPE,
                                         timeout=SECONDS, check=False)  # fmt: skip
            problems += refused(f"{name} > /dev/full", process, (3,))
    return problems


def small_files(runner):
    """A file may have so many bytes: whole or not at all."""
    problems = []
    for command in commands(runner.inputs):
        expected = runner.run(command, f"expected {command.name}")
        largest = max([len(expected[1][name]) for name in command.outputs], default=0)
        for most in (0, 1, 500):
            if most >= largest:
                continue
            process, files = runner.run(command, f"{command.name} {most} bytes", most_bytes=most)
            found = problem(command, process, files, expected)
            if found is None and process.returncode != 3:
                found = f"exit code {process.returncode}, not 3: {process.stderr.decode()}"
            if found:
                problems.append(f"{command.name}, files of at most {most} bytes: {found}")
    return problems


def mounts():
    """How to begin a command that may mount a file system that nobody else sees, or None."""
    for begin in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if not shutil.which(begin[0]):
            return None
        tried = subprocess.run([*begin, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
        if tried.returncode == 0:
            return begin
    return None


def full_disk(runner):
    """A disk with room for what is there, and a little more."""
    begin = mounts()
    if begin is None:
        print("nothing can be mounted here: the full disk is left out")
        return []
    script = """
        mount -t tmpfs -o size="$1" none "$2" && cp "$3"/* "$2" && cd "$2" || exit 99
        shift 3
        "$@"
        code=$?
        mkdir -p "$COPY" && cp -p ./* "$COPY"
        exit $code"""
    problems = []
    for command in commands(runner.inputs):
        expected = runner.run(command, f"expected {command.name}")
        before = runner.folder / "before"
        for pages in (0, 1, 2, 8):
            before.mkdir()
            for name in command.outputs:
                (before / name).write_bytes(BEFORE)
            for name in command.copies:
                shutil.copy(runner.inputs / name, before / name)
            disk, after = runner.folder / "disk", runner.folder / "after"
            disk.mkdir()
            page = os.sysconf("SC_PAGE_SIZE")
            used = sum(-(-path.stat().st_size // page) for path in before.iterdir())
            if used + pages > 0:
                size = str(page * (used + pages))
                process = subprocess.run([*begin, "sh", "-c", script, "sh", size, disk, before, runner.tool,
                                          *command.arguments], env=dict(os.environ, COPY=str(after)),
                                         stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                                         check=False) if command.outputs else None  # fmt: skip
                if process is not None:
                    files = {path.name: path.read_bytes() for path in after.iterdir()}
                    found = problem(command, process, files, expected)
                    if found is None and process.returncode not in (0, 3):
                        found = f"exit code {process.returncode}, not 3: {process.stderr.decode()}"
                    if found is None and pages == 0 and process.returncode != 3:
                        found = "there was no room, and yet it ends with 0"
                    if found:
                        problems.append(f"{command.name}, a disk with {pages} free pages: {found}")
            for folder in (before, disk, after):
                shutil.rmtree(folder, ignore_errors=True)
    return problems


def closed_folders(runner):
    """A folder that may only be read, and one that is no longer there when the tool begins."""
    problems = []
    os.chmod(runner.folder, 0o755)  # for another user
    tool = runner.folder / "mfga"
    shutil.copy(runner.tool, tool)
    for command in commands(runner.inputs):
        if not command.outputs:
            continue
        folder = runner.folder / "closed"
        folder.mkdir()
        for name in command.outputs:
            (folder / name).write_bytes(BEFORE)
        for name in command.copies:
            shutil.copy(runner.inputs / name, folder / name)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
        # Nothing is closed to root.
        other = {"user": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        process = subprocess.run([tool, *command.arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                 timeout=SECONDS, check=False, **other)  # fmt: skip
        folder.chmod(stat.S_IRWXU)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        problems += refused(f"{command.name} in a folder that may only be read", process, (2,))
        if files != before:
            problems.append(f"{command.name} in a folder that may only be read: has {sorted(files)}")
        shutil.rmtree(folder)
        bare = dataclasses.replace(command, outputs=[], copies=[])
        process, files = runner.run(bare, "vanished", preexec_fn=lambda: os.rmdir(os.getcwd()))
        problems += refused(f"{command.name} in a folder that is not there", process, (2,), files)
    return problems


@contextlib.contextmanager
def begun(runner, arguments, files):
    """The tool at work in a folder with these files, and signals as they are from the beginning."""
    folder = runner.folder / "begun"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)

    def usual_signals():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)

    process = subprocess.Popen([runner.tool, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, preexec_fn=usual_signals)  # fmt: skip
    try:
        yield process, folder
    finally:
        process.kill()
        process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(process, is_there):
    while not is_there() and process.poll() is None:
        time.sleep(0.001)


# Long enough to be told in the midst of it.
GENERATE = ["generate", "--rows", "100000000", "--output", "g.csv"]


def signals(runner):
    """Who is told to end leaves nothing behind, and what was there before."""
    problems = []
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGINT, signal.SIGPIPE):
        with begun(runner, GENERATE, {"g.csv": BEFORE}) as (process, folder):
            wait_for(process, lambda folder=folder: len(list(folder.iterdir())) > 1)
            process.send_signal(number)
            process.communicate(timeout=SECONDS)
            files = {path.name: path.read_bytes() for path in folder.iterdir()}
            if process.returncode != -number or files != {"g.csv": BEFORE}:
                problems.append(f"{number.name}: exit code {process.returncode}, leaves {sorted(files)}")
    # A folder that goes while it is written to.
    with begun(runner, GENERATE[:1] + ["--rows", "300000"] + GENERATE[3:], {"g.csv": BEFORE}) as (process, folder):
        wait_for(process, lambda: len(list(folder.iterdir())) > 1)
        os.rename(folder, runner.folder / "gone")
        shutil.rmtree(runner.folder / "gone")
        _, message = process.communicate(timeout=SECONDS)
        if process.returncode not in (2, 3) or b"mfga: g.csv" not in message:
            problems.append(f"a folder that goes: {process.returncode}, {message.decode()}")
    # Who reads the output has gone.
    with begun(runner, ["predict", str(runner.inputs / "m.json"), str(runner.inputs / "t.csv")], {}) as (process, _):
        process.stdout.close()
        process.stderr.read()
        if process.wait(timeout=SECONDS) not in (-signal.SIGPIPE, 2, 3):
            problems.append(f"a closed pipe: exit code {process.returncode}")
        process.stdout = process.stderr = None
    return problems


def ended_fits(runner):
    """A fit that is told to end, or killed, while it keeps checkpoints: the next one goes on from the file."""
    problems = []
    train = ["train", "g.csv", "--terms", "30", "--threads", "2", "--model", "m.json", "--checkpoint", "c.ckpt",
             "--checkpoint-every", "0"]  # fmt: skip
    with begun(runner, ["generate", "--rows", "4000", "--output", "g.csv"], {}) as (process, folder):
        process.communicate(timeout=SECONDS)
        table = (folder / "g.csv").read_bytes()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGKILL):
        with begun(runner, train, {"g.csv": table, "m.json": BEFORE}) as (process, folder):
            wait_for(process, (folder / "c.ckpt").exists)
            process.send_signal(number)
            process.communicate(timeout=SECONDS)
            files = {path.name: path.read_bytes() for path in folder.iterdir()}
        # Who is killed cannot remove anything; the next run does.
        stray = set(files) - {"g.csv", "m.json", "c.ckpt"} if number != signal.SIGKILL else set()
        if process.returncode != -number or stray or files["m.json"] != BEFORE:
            problems.append(f"train, {number.name}: exit code {process.returncode}, leaves {sorted(files)}")
        with begun(runner, [*train, "--resume"], files) as (process, folder):
            _, message = process.communicate(timeout=SECONDS)
            left = sorted(path.name for path in folder.iterdir())
        if process.returncode != 0 or left != ["g.csv", "m.json"]:
            problems.append(f"train after {number.name}: {process.returncode}, has {left}: {message.decode()}")
    return problems


CONDITIONS = [bad_places, short_moves, small_files, full_disk, closed_folders, signals, ended_fits]
