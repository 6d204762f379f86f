"""Progress of a fit, for a terminal or a notebook."""

import contextlib
import sys
import time

INTERVAL = 0.1


def progress_text(progress):
    """Say where a fit stands, as the command line does."""
    if progress.validated < 1:
        return f"cross-validation, {100 * progress.validated:.0f} %, {progress.seconds:.1f} s"
    phase = f"{progress.phase}: " if progress.phase else ""
    tuning = f"tuning, step {progress.tuning_steps}, " if progress.tuning_steps > 0 else ""
    return (
        f"{phase}{tuning}{progress.terms} of {progress.terms_wanted} terms, risk {progress.risk:.5g}, "
        f"{progress.seconds:.1f} s"
    )


class _Line:
    """A line that is rewritten; terminals and notebooks both know a carriage return."""

    def __init__(self, callback, stream):
        self.callback = callback
        self.stream = stream
        self.shown = -INTERVAL
        self.width = 0

    def __call__(self, progress):
        now = time.monotonic()
        if now - self.shown >= INTERVAL:
            self.shown = now
            text = progress_text(progress)
            self.stream.write("\r" + text.ljust(self.width))
            self.stream.flush()
            self.width = len(text)
        return self.callback(progress) if self.callback is not None else None


@contextlib.contextmanager
def with_line(callback, verbose, stream=None):
    """Show progress if asked for; yields the callback for the fit."""
    if not verbose:
        yield callback
        return
    line = _Line(callback, stream or sys.stderr)
    try:
        yield line
    finally:
        if line.width:
            line.stream.write("\n")
