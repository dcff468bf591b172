"""What must hold of the database's file before SQLite may open it, and while it is open."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

from stanchion.engine.sqlite.url import Location
from stanchion.errors import FileReplaced, NetworkFileSystem, NotAQueueFile, ReadOnlyStore

BALLAST_BYTES = 1_000_000

# f_type of statfs(2), from linux/magic.h: file systems where locks or shared memory cannot be trusted.
NETWORK_FILE_SYSTEMS = {
    0x6969: "NFS",
    0x517B: "SMB",
    0xFF534D42: "CIFS",
    0xFE534D42: "SMB2",
    0x01021997: "9p",
    0x65735546: "FUSE",
    0x00C36400: "Ceph",
    0x5346414F: "AFS",
    0x0BD00BD0: "Lustre",
    0x47504653: "GPFS",
    0x01161970: "GFS2",
    0x7461636F: "OCFS2",
}

Identity = tuple[int, int]


def check(location: Location) -> None:
    """Refuse a path that cannot hold a database, before anything is opened."""
    folder, writable = os.path.dirname(location.path), location.mode == "rw"
    if not os.path.isdir(folder):
        raise ReadOnlyStore(path=location.path, problem=f"there is no folder {folder}")
    _check_file_system(location, folder)
    if os.path.lexists(location.path) and not os.path.isfile(location.path):
        raise NotAQueueFile(path=location.path, problem="it is not a regular file")
    if not os.path.exists(location.path) and not writable:
        raise ReadOnlyStore(path=location.path, problem="it does not exist, and was to be opened for reading")
    if writable and not os.access(folder, os.W_OK):
        raise ReadOnlyStore(path=location.path, problem=f"the folder {folder} cannot be written; mode=ro reads only")
    if writable and os.path.exists(location.path) and not os.access(location.path, os.W_OK):
        raise ReadOnlyStore(path=location.path, problem="the file is read-only; mode=ro reads only")


def identity(path: str) -> Identity:
    """Which file a path names now."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise FileReplaced(path=path) from None
    return status.st_dev, status.st_ino


class Ballast:
    """A file of nothing beside the database: when the disk is full, its space lets running work finish."""

    def __init__(self, path: str) -> None:
        self._path = path + "-ballast"

    def fill(self) -> bool:
        """Take the space, if there is enough for it and as much again; True if the ballast is there."""
        if os.path.exists(self._path):
            return True
        disk = os.statvfs(os.path.dirname(self._path))
        if disk.f_bavail * disk.f_frsize < 2 * BALLAST_BYTES:
            return False
        try:
            with open(self._path, "xb") as file:
                os.posix_fallocate(file.fileno(), 0, BALLAST_BYTES)
        except FileExistsError:
            return True
        except OSError:
            self.drop()
            return False
        return True

    def drop(self) -> None:
        """Give the space back."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)


def _check_file_system(location: Location, folder: str) -> None:
    kind = NETWORK_FILE_SYSTEMS.get(_file_system(folder))
    if kind and location.network == "refuse":
        raise NetworkFileSystem(path=location.path, kind=kind)


def _file_system(folder: str) -> int:
    """f_type of statfs(2); 0 where the system has no such call. The struct is longer than any that Linux fills."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = (ctypes.c_long * 64)()
    if not hasattr(libc, "statfs") or libc.statfs(os.fsencode(folder), buffer) != 0:
        return 0
    return int(buffer[0]) & 0xFFFFFFFF
