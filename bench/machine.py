"""The machine: what it is, what it can do at most, and whether it is busy with other work."""

import os
import re
import resource
from pathlib import Path

# Of the machine's processor time, taken by other processes while measuring. Above it the figures mean little:
# BLAS threads wait for one another, and with too few free cores matrix products were seen to take ten times
# as long.
BUSY_TOLERANCE = 0.05


def available_cores():
    return len(os.sched_getaffinity(0))


def cpu_model():
    match = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else "unknown processor"


def peak_memory_mib():
    """Of this process."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status).group(1)) / 1024


class OtherLoad:
    """The share of the machine's processor time that goes to other processes than our children."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        # Jiffies of user, nice, system, idle, iowait, irq, softirq, steal.
        fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        tick = os.sysconf("SC_CLK_TCK")
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(fields) / tick, (fields[3] + fields[4]) / tick, children.ru_utime + children.ru_stime

    def share(self):
        total, idle, children = (now - then for now, then in zip(self.now(), self.start))
        return max(0.0, (total - idle - children) / total) if total > 0 else 0.0
