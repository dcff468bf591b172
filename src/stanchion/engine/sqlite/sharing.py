"""One store per file and process. SQLite's locks belong to the process, and so must what keeps them.

After a fork the child opens everything anew: the stores it inherited are kept, untouched, for ever, since closing one would
drop the parent's locks, and another thread of the parent may have been inside it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from stanchion.engine.sqlite import files
from stanchion.engine.sqlite.store import Store
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.engine.sqlite.url import Location
from stanchion.errors import BadURL, FileReplaced, StoreClosed

_Key = tuple[str, str]


class SharedStore:
    """A client's hold on a store: it follows the process across forks, and closes the store with the last hold."""

    def __init__(self, location: Location, shift_leases: Callable[[Transaction, float], None]) -> None:
        self._location = location
        self._shift_leases = shift_leases
        self._pid = os.getpid()
        self._closed = False
        self._store = _borrow(location, shift_leases)

    def get(self) -> Store:
        """The store of this process."""
        if self._pid != os.getpid():
            self._follow()
        if self._closed:
            raise StoreClosed(path=self._location.path)
        return self._store

    def close(self) -> None:
        """Let go."""
        if not self._closed:
            self._closed = True
            if self._pid == os.getpid():
                _give_back(self._store)

    def _follow(self) -> None:
        if self._location.in_memory:
            raise StoreClosed(path="in memory: it is the parent process's, and")
        self._pid = os.getpid()
        if not self._closed:
            self._store = _borrow(self._location, self._shift_leases)


_lock = threading.Lock()
_stores: dict[_Key, Store] = {}
_holds: dict[Store, int] = {}
_inherited: list[Store] = []


def _borrow(location: Location, shift_leases: Callable[[Transaction, float], None]) -> Store:
    if location.in_memory:
        return Store(location, shift_leases)
    key = (os.path.realpath(location.path), location.mode)
    with _lock:
        store = _stores.get(key)
        if store is None or _replaced(store):
            store = _stores[key] = Store(location, shift_leases)
        if store.location.durability != location.durability:
            raise BadURL(
                url=location.url,
                problem=f"this process has it open with durability={store.location.durability}",
            )
        _holds[store] = _holds.get(store, 0) + 1
        return store


def _give_back(store: Store) -> None:
    with _lock:
        _holds[store] = _holds.get(store, 1) - 1
        if _holds[store] > 0:
            return
        del _holds[store]
        for key in [key for key, kept in _stores.items() if kept is store]:
            del _stores[key]
    store.close()


def _replaced(store: Store) -> bool:
    try:
        return files.identity(store.location.path) != store.identity
    except FileReplaced:
        return True


def _after_fork() -> None:
    global _lock  # noqa: PLW0603 - another thread of the parent may have held it
    _lock = threading.Lock()
    _inherited.extend({*_stores.values(), *_holds})
    for store in _inherited:
        store.abandon()
    _stores.clear()
    _holds.clear()


os.register_at_fork(after_in_child=_after_fork)
