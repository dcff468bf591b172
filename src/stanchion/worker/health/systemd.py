"""What systemd wants to hear of a service of Type=notify, by the protocol of sd_notify(3): datagrams to a socket."""

from __future__ import annotations

import os
import socket


def notify(state: str) -> None:
    """Tell systemd a state, such as READY=1; nothing happens where nobody listens."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as one:
        try:
            # An address that begins with @ is one of no file.
            one.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)
        except OSError:
            return


def watchdog_seconds() -> float | None:
    """How often this process must be heard of, in seconds; None if nobody watches."""
    if os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1e6 if microseconds.isdecimal() and int(microseconds) else None
