"""What a type checker must accept, and, on the lines marked so, refuse."""

from __future__ import annotations

from stanchion import App, AsyncClient, Client, Handle, Job, JobHandle

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


client = Client("sqlite://")
jid: str = client.queues["q"].put("k", {"n": 1}, priority=3, tags=["a"], depends=["b"])
popped: JobHandle | None = client.queues["q"].pop("w")
record: Job | None = client.jobs[jid].get()
client.config["heartbeat"] = 30


async def main() -> None:
    content: bytes = await fetch("x")
    later: Handle[int] = await add.aput(1, 2)
    async with AsyncClient("sqlite://") as calm:
        awaited: str = await calm.queues["q"].put("k", retries=0)
        calm.config["heartbeat"] = 30  # refused
        unawaited: str = calm.queues["q"].put("k")  # refused
    print(content, later, awaited, unawaited)


add.put("one")  # refused
add.put()  # refused
send.put("ada")  # refused
send.put("ada", subject=1)  # refused
send.options(queue="slow").put(5, subject="x")  # refused
wrong: Handle[str] = add.put(1)  # refused
add.options(colour="red")  # refused
add.options(delay="soon")  # refused
add.options(timeout=5)  # refused
app.task(retries="three")  # refused
client.queues["q"].put("k", priority="high")  # refused
client.queues["q"].new("k", colour="red")  # refused
