"""Runs a program in a terminal of its own: waits for a text, types an answer, and so on.

Usage: terminal.py STEPS PROGRAM ARGUMENT...
STEPS is JSON: [[wait for, type], ...]. A step that waits for "" types before the program is started. A step with a third
element, a port of this machine, connects to it after typing: that is how a test learns that what was typed has arrived.
What the terminal showed goes to stdout; the exit code is the program's, or 99 when a text never came.
"""

import json
import os
import pty
import select
import socket
import sys

# For a machine with much other work, in seconds.
PATIENCE = 300

steps, program = json.loads(sys.argv[1]), sys.argv[2:]
begin, started = os.pipe()
child, terminal = pty.fork()
if child == 0:
    os.read(begin, 1)
    os.execv(program[0], program)

shown, seen = b"", 0


def read():
    """Adds what is shown next; False at the end."""
    global shown
    ready, _, _ = select.select([terminal], [], [], PATIENCE)
    if not ready:
        return None
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        return False
    shown += piece
    return bool(piece)


def fail():
    os.kill(child, 9)
    sys.stdout.buffer.write(shown)
    sys.exit(99)


early = [typed for wanted, typed, *_ in steps if not wanted]
for typed in early:
    os.write(terminal, typed.encode())
    # The terminal echoes what has arrived.
    while typed.strip().encode() not in shown:
        if not read():
            fail()
os.write(started, b".")
for wanted, typed, *port in steps[len(early) :]:
    while (at := shown.find(wanted.encode(), seen)) < 0:
        if not read():
            fail()
    seen = at + len(wanted.encode())
    os.write(terminal, typed.encode())
    for number in port:
        socket.create_connection(("127.0.0.1", number)).close()
while (more := read()):
    pass
if more is None:
    fail()
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
