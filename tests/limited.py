"""Work in a process of its own, with limits on its processor time and memory."""

import os
import resource
import traceback
from pathlib import Path


def ended_within(work, seconds, memory):
    """Call `work` in a child that may use `seconds` of processor time and `memory` bytes more than this process has.

    Returns the exit status: 0 where `work` returned, 1 where it raised, negative where a limit ended it.
    """
    child = os.fork()  # limits hold for a process
    if child == 0:
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory,) * 2)
        used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (used + seconds,) * 2)
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
            status = 1
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
