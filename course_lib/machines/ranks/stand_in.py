"""Under mpiexec in the place of a rank, which the supervisor forks: passes on to it what MPI gives to a rank.

Run as a script, with the address of the supervisor's socket. It ends when the rank does, and says with which status:
mpiexec kills all ranks when one is killed by a signal, and the others shall still be asked where they are.
"""

import json
import os
import socket
import sys


def main(address):
    """Send environment and open files; wait for the rank's end."""
    files = [1, 2, *(int(os.environ[name]) for name in ("PMI_FD",) if name in os.environ)]
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        # a sandbox counts files that wait in a socket as large: they are sent when somebody takes them
        line.recv(1)
        socket.send_fds(line, [b"\n"], files)
        line.sendall(json.dumps(dict(os.environ)).encode() + b"\n")
        status = line.recv(16).decode()
    if status:
        print(f"rank {os.environ.get('PMI_RANK')} ended with status {status}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
