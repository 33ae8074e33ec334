"""Answers the questions of `pliant new` on a terminal of its own.

    ask_new.py PLIANT ANSWER...

Each answer is typed once the program waits; prints what the terminal showed and ends with the program's exit status.
"""
import os
import pty
import select
import sys
import time

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["pliant", "new"])
answers, shown, end = sys.argv[2:], b"", time.time() + 60
while time.time() < end:
    ready, _, _ = select.select([terminal], [], [], 0.3)
    if ready:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the program has ended
            break
        if not data:
            break
        shown += data
    elif answers and shown.rstrip().endswith(b":"):
        os.write(terminal, answers.pop(0).encode() + b"\n")
sys.stdout.write(shown.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
