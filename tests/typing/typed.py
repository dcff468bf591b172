"""What a type checker must accept, and, on the lines marked so, refuse."""

from __future__ import annotations

from stanchion import App, Handle

app = App("sqlite://")


@app.task
def add(a: int, b: int = 1) -> int:
    return a + b


@app.task(queue="mail", retries=3)
def send(to: str, *, subject: str) -> str:
    return to + subject


@app.task
async def fetch(url: str) -> bytes:
    return url.encode()


total: int = add(1, b=2)
handle: Handle[int] = add.put(1)
result: int = handle.result()
sent: Handle[str] = send.options(queue="slow").put("ada", subject="hi")
fetched: Handle[bytes] = fetch.put("x")


async def main() -> None:
    content: bytes = await fetch("x")
    later: Handle[int] = await add.aput(1, 2)
    print(content, later)


add.put("one")  # refused
add.put()  # refused
send.put("ada")  # refused
send.put("ada", subject=1)  # refused
send.options(queue="slow").put(5, subject="x")  # refused
wrong: Handle[str] = add.put(1)  # refused
