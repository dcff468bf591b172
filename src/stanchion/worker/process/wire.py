"""What the worker, the server and the children tell each other: frozen messages, never code."""

from __future__ import annotations

import socket
import struct
import threading
from typing import Any

import msgspec

from stanchion.client.data import RawJSON
from stanchion.commands import VOCABULARY, Command, reply_type
from stanchion.errors import StanchionError
from stanchion.records import Job
from stanchion.worker.outcome import Outcome, Raised, Returned, Settled, Unencodable, Verdict

CHUNK = 65536
_HEAD = struct.Struct("!I")


class Message(msgspec.Struct, frozen=True, tag=True):
    """Something that is told."""


class Setup(Message, frozen=True):
    """To the server: where the app is, and the modules of its tasks. ``path`` is where they are looked for; ``url``: its store."""

    module: str
    name: str
    modules: tuple[str, ...]
    path: tuple[str, ...]
    url: str | None


class Prepared(Message, frozen=True):
    """From the server: the app is imported; or why it is not."""

    problem: str = ""


class Death(Message, frozen=True):
    """From the server: how a child ended, its ``wait`` status, and the most memory that it had, in bytes."""

    status: int
    peak: int


class Ready(Message, frozen=True):
    """From a child: it waits for a job."""

    pid: int


class Run(Message, frozen=True):
    """To a child: run the code that is registered for the job's klass."""

    job: Job


class Interrupt(Message, frozen=True):
    """To a child: its job's time is over, or (``why``) its lock is no longer the worker's."""

    why: str | None


class Call(Message, frozen=True):
    """From a child: its job's code calls the queue."""

    number: int
    command: str
    arguments: Any
    now: float | None


class Answer(Message, frozen=True):
    """To a child: what a call gave, or the error it raised."""

    number: int
    reply: Any = None
    error: str | None = None
    details: Any = None


class Done(Message, frozen=True):
    """From a child: what came of the job. ``memory`` is what the child takes now, in bytes."""

    kind: str
    name: str = ""
    text: str | None = None
    memory: int = 0
    verdict: Verdict = "retry"
    delay: float | None = None
    group: str | None = None


Any_ = Setup | Prepared | Death | Ready | Run | Interrupt | Call | Answer | Done
_decoder = msgspec.msgpack.Decoder(Any_)


def encode(message: Message) -> bytes:
    """The bytes of a message."""
    return msgspec.msgpack.encode(message)


def decode(data: bytes) -> Any_:
    """The message of bytes."""
    return _decoder.decode(data)


class Frames:
    """Messages out of a stream, however it is cut."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Any_]:
        """The messages that are whole now."""
        self._rest += data
        found: list[Any_] = []
        while len(self._rest) >= _HEAD.size:
            end = _HEAD.size + _HEAD.unpack_from(self._rest)[0]
            if len(self._rest) < end:
                break
            found.append(decode(bytes(self._rest[_HEAD.size : end])))
            del self._rest[:end]
        return found


class Channel:
    """Messages over a stream socket. Any thread may send; one receives."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self._frames = Frames()
        self._sending = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message whole. OSError if the other side is gone or does not read."""
        data = encode(message)
        with self._sending:
            self.stream.sendall(_HEAD.pack(len(data)) + data)

    def receive(self, *, wait: bool = True) -> list[Any_] | None:
        """The messages that came; with ``wait`` after some bytes did. None once the other side is gone."""
        try:
            data = self.stream.recv(CHUNK, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return self._frames.feed(data) if data else None

    def close(self) -> None:
        """Close the socket."""
        self.stream.close()


def call(number: int, command: Command[Any], now: float | None) -> Call:
    """A command as a message."""
    return Call(number, command.name, msgspec.to_builtins(command), now)


def command_of(message: Call) -> Command[Any]:
    """The command of a message, checked as any other. BadArgument or msgspec.ValidationError if it is none."""
    made: Command[Any] = msgspec.convert(message.arguments, VOCABULARY[message.command])
    return made


def refusal(number: int, error: Exception) -> Answer:
    """An error as an answer."""
    if isinstance(error, StanchionError):
        return Answer(number, error=error.code, details={name: str(value) for name, value in error.details.items()})
    return Answer(number, error=type(error).__name__, details=str(error))


def reply_of(message: Answer, command: Command[Any]) -> Any:
    """What the call gives; raises what it raised."""
    if message.error is None:
        return msgspec.convert(message.reply, reply_type(type(command)))
    kind = _errors().get(message.error)
    if kind is not None:
        raise kind(**message.details)
    builtin = {"TimeoutError": TimeoutError}.get(message.error, RuntimeError)
    raise builtin(message.details)


def done(outcome: Outcome, memory: int) -> Done:
    """An outcome as a message; a value must be a JSON text by now."""
    match outcome:
        case Returned(RawJSON(text)):
            return Done("returned", text=text, memory=memory)
        case Returned(_):
            return Done("returned", memory=memory)
        case Raised(name, message, verdict, delay, group):
            return Done("raised", name, message, memory, verdict, delay, group)
        case Unencodable(message):
            return Done("unencodable", text=message, memory=memory)
        case _:
            return Done("settled", memory=memory)


def outcome_of(message: Done) -> Outcome:
    """The outcome that a message tells."""
    match message.kind:
        case "returned":
            return Returned(None if message.text is None else RawJSON(message.text))
        case "raised":
            return Raised(message.name, message.text or "", message.verdict, message.delay, message.group)
        case "unencodable":
            return Unencodable(message.text or "")
        case _:
            return Settled()


def _errors(kind: type[StanchionError] = StanchionError) -> dict[str, type[StanchionError]]:
    """Every error by its code; a child class without a code of its own leaves its parent's place alone."""
    found = {kind.code: kind}
    for child in kind.__subclasses__():
        found = {**_errors(child), **found}
    return found
