"""The script for clients of older queues: its text, and how it gets to a server."""

from __future__ import annotations

from contextlib import closing

from stanchion.client.open import open_engine
from stanchion.client.urls import without_password
from stanchion.commands import AllConfig
from stanchion.engine.redis import library
from stanchion.errors import BadURL


def script_text() -> str:
    """The script, which old clients load in place of their own: one for all of them."""
    return library.script()


def load_script(url: str) -> str:
    """Give the script to the server at a URL, so that clients find it there; by which digest it is called.

    A server forgets it when it restarts. Raises what opening a queue raises, and :class:`~stanchion.errors.BadURL` for a queue that
    is no server's.
    """
    if url.startswith("sqlite:"):
        raise BadURL(url=without_password(url), problem="only Redis and Valkey take a script")
    asking = url if "face=script" in url else f"{url}{'&' if '?' in url else '?'}face=script"
    with closing(open_engine(asking)) as engine:
        engine.run(AllConfig())  # whatever is called first loads it
    return library.script_digest()
