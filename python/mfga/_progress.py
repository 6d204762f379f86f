"""Progress of a fit, for a terminal or a notebook."""

import contextlib
import sys
import time

INTERVAL = 0.1
WIDTH = 24


def bar(part):
    """Draw a bar of which a part, from 0 to 1, is done.

    >>> bar(0.5)
    '[############            ]'
    """
    done = round(WIDTH * min(max(part, 0.0), 1.0))
    return f"[{'#' * done}{' ' * (WIDTH - done)}]"


def part_done(progress):
    """Tell the part of the work that is done, roughly: of all of it where that is known, else of this phase."""
    if progress.validated < 1:
        return progress.validated
    return progress.done if progress.done >= 0 else progress.terms / max(1, progress.terms_wanted)


def progress_text(progress, part):
    """Say where a fit stands: a bar, and what the command line says."""
    drawn = bar(part)
    if progress.validated < 1:
        return f"{drawn} cross-validation, {100 * progress.validated:.0f} %, {progress.seconds:.1f} s"
    phase = f"{progress.phase}: " if progress.phase else ""
    tuning = f"tuning, step {progress.tuning_steps}, " if progress.tuning_steps > 0 else ""
    return (
        f"{drawn} {phase}{tuning}{progress.terms} of {progress.terms_wanted} terms, "
        f"risk {progress.risk:.5g}, {progress.seconds:.1f} s"
    )


class _Line:
    """A line that is rewritten; terminals and notebooks both know a carriage return."""

    def __init__(self, callback, stream):
        self.callback = callback
        self.stream = stream
        self.shown = -INTERVAL
        self.width = 0
        self.last = None

    def __call__(self, progress):
        self.last = progress
        now = time.monotonic()
        if now - self.shown >= INTERVAL:
            self.shown = now
            self.show(progress_text(progress, part_done(progress)))
        return self.callback(progress) if self.callback is not None else None

    def show(self, text):
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)


@contextlib.contextmanager
def with_line(callback, verbose, stream=None):
    """Show progress if asked for; yields the callback for the fit."""
    if not verbose:
        yield callback
        return
    line = _Line(callback, stream or sys.stderr)
    is_complete = False
    try:
        yield line
        is_complete = True
    finally:
        # What was reached: the last word may have come too soon after the one before.
        if line.last is not None:
            line.show(progress_text(line.last, 1 if is_complete else part_done(line.last)))
            line.stream.write("\n")
            line.stream.flush()
