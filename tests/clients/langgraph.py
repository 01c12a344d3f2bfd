"""LangGraph's own Python client against a server: `python langgraph.py URL KEY [oracle]`. As langgraph.mjs."""
import asyncio
import sys
import time
import uuid
from importlib.metadata import version

import httpx
from langgraph_sdk import get_client

URL, KEY = sys.argv[1], sys.argv[2]
KIND = sys.argv[3] if sys.argv[3:] else ""
OURS, NPM = not KIND, KIND == "oracle-js"
HANG_S = 60
client = get_client(url=URL, api_key=KEY)
human = lambda text: {"messages": [{"type": "human", "content": text}]}
SLOW = human("one two three four five six seven eight") | {"pause_ms": 250}
tests = []


def test(f):
    tests.append(f)


async def until(what, ask):
    end = time.monotonic() + HANG_S
    while time.monotonic() < end:
        got = await ask()
        if got:
            return got
        await asyncio.sleep(0.02)
    raise AssertionError(f"it did not happen: {what}")


async def throws(status, awaitable):
    try:
        await awaitable
    except httpx.HTTPStatusError as e:
        assert e.response.status_code in (status, 422 if NPM else status), e
        return
    except Exception as e:  # the client's own, of the same
        assert getattr(e, "status_code", None) in (status, 422 if NPM else status), repr(e)
        return
    raise AssertionError(f"nothing was raised, and {status} was to be")


async def all_of(stream):
    return [e async for e in stream if e.event != "end"]


async def values(t, end):  # npm's tells whoever waits for a run that asks of the question alone
    return (await client.threads.get_state(t))["values"] if NPM else end


@test
async def assistants():
    own = (await client.assistants.search(graph_id="letters", metadata={"created_by": "system"}))[0]
    mine = await client.assistants.create(graph_id="letters", name="mine", metadata={"x": 1})
    changed = await client.assistants.update(mine["assistant_id"], name="ours", graph_id="letters")
    assert (changed["name"], changed["version"]) == ("ours", 2)
    assert len(await client.assistants.get_versions(mine["assistant_id"])) == 2
    assert (await client.assistants.set_latest(mine["assistant_id"], 1))["name"] == "mine"
    graph = await client.assistants.get_graph(own["assistant_id"], xray=True)
    assert any(n["id"] == "write" for n in graph["nodes"])
    assert NPM or (await client.assistants.get_schemas(own["assistant_id"]))["graph_id"] == "letters"
    await client.assistants.delete(mine["assistant_id"])
    await throws(404, client.assistants.get(mine["assistant_id"]))


@test
async def threads():
    mark = str(uuid.uuid4())
    t = await client.threads.create(metadata={"mark": mark}, graph_id="letters")
    tid = t["thread_id"]
    assert (await client.threads.create(thread_id=tid, if_exists="do_nothing"))["thread_id"] == tid
    await throws(409, client.threads.create(thread_id=tid, if_exists="raise"))
    await client.threads.update(tid, metadata={"room": 3})
    found = await client.threads.search(metadata={"mark": mark})
    assert [x["thread_id"] for x in found] == [tid] and found[0]["metadata"]["room"] == 3
    assert await client.threads.count(metadata={"mark": mark}) == 1
    await client.runs.wait(tid, "letters", input={"wanted": 1})
    copy = await client.threads.copy(tid)
    if copy:
        assert (await client.threads.get_state(copy["thread_id"]))["values"]["letters"] == ["letter 1"]
    await client.threads.delete(tid)
    await throws(404, client.threads.get(tid))


@test
async def a_run_in_every_mode():
    t = (await client.threads.create())["thread_id"]
    modes = ["values", "updates", "custom", "tasks", "checkpoints", "debug", "messages-tuple"]
    created = []
    events = await all_of(client.runs.stream(t, "letters", input={"wanted": 2}, stream_mode=modes, on_run_created=created.append))
    assert created[0]["run_id"] == events[0].data["run_id"] and events[0].event == "metadata"
    assert {"values", "updates", "custom", "tasks", "checkpoints", "debug"} <= {e.event for e in events}
    assert [e.data for e in events if e.event == "custom"] == [{"writing": 1}, {"writing": 2}]
    assert [e for e in events if e.event == "values"][-1].data["__interrupt__"][0]["value"] == "post 2 letters?"
    state = await client.threads.get_state(t)
    assert state["next"] == ["ask"] and state["tasks"][0]["interrupts"][0]["value"] == "post 2 letters?"
    end = await client.runs.wait(t, "letters", command={"resume": "yes"})
    assert end["posted"] is True
    assert (await client.threads.get(t))["status"] == "idle"


@test
async def what_callbacks_say():
    events = await all_of(client.runs.stream(None, "parrot", input=human("hello"), stream_mode=["events"]))
    said = [e.data for e in events if e.event == "events"]
    root = said[0]["run_id"]
    assert said[0]["event"] == "on_chain_start"
    assert said[-1]["event"] == "on_chain_end" and said[-1]["run_id"] == root
    assert said[-1]["data"]["output"]["messages"][-1]["content"] == "hello"
    if NPM:
        return  # no parents there
    assert said[0]["parent_ids"] == []
    nodes = [(e["event"], e["name"]) for e in said if e["parent_ids"] == [root]]
    assert nodes == [(f"on_chain_{what}", name) for name in ("listen", "speak", "finish") for what in ("start", "stream", "end")], nodes


@test
async def approvals():
    for decision, text in (
        ({"type": "approve"}, "please say hello"),
        ({"type": "edit", "edited_action": {"name": "speak", "args": {"text": "good day"}}}, "good day"),
        ({"type": "reject", "message": "not now"}, "I say nothing: not now"),
    ):
        t = (await client.threads.create())["thread_id"]
        asked = await client.runs.wait(t, "parrot", input=human("please say hello"))
        assert asked["__interrupt__"][0]["value"]["action_requests"][0]["args"]["text"] == "please say hello"
        end = await client.runs.wait(t, "parrot", command={"resume": {"decisions": [decision]}})
        assert end["messages"][-1]["content"] == text, end


@test
async def history_and_forks():
    t = (await client.threads.create())["thread_id"]
    await client.runs.wait(t, "letters", input={"wanted": 3})
    past = await client.threads.get_history(t, limit=20)
    second = next(s for s in past if len(s["values"].get("letters", [])) == 1)
    at = await client.threads.get_state(t, checkpoint_id=second["checkpoint"]["checkpoint_id"])
    assert at["values"]["letters"] == ["letter 1"]
    forked = await values(t, await client.runs.wait(t, "letters", checkpoint_id=second["checkpoint"]["checkpoint_id"]))
    assert len(forked["letters"]) == 3
    changed = await client.threads.update_state(t, {"letters": ["by hand"]}, as_node="write")
    assert changed["checkpoint"]["checkpoint_id"]
    assert (await client.threads.get_state(t))["values"]["letters"][-1] == "by hand"


@test
async def runs_in_the_background():
    t = (await client.threads.create())["thread_id"]
    one = await client.runs.create(t, "letters", input={"wanted": 2}, stream_mode=["values", "updates"], stream_resumable=True)
    await client.runs.join(t, one["run_id"])
    two = await client.runs.create(t, "letters", command={"resume": "no"})
    await client.runs.join(t, two["run_id"])
    listed = [r["run_id"] for r in await client.runs.list(t)]
    assert (listed[::-1] if NPM else listed) == [two["run_id"], one["run_id"]]
    if OURS:
        events = await all_of(client.runs.join_stream(t, one["run_id"], last_event_id="-1"))
        assert [e.event for e in events][:2] == ["metadata", "values"]
        for i, e in enumerate(events):
            rest = await all_of(client.runs.join_stream(t, one["run_id"], last_event_id=e.id))
            assert [x.id for x in rest] == [x.id for x in events[i + 1:]]
    await client.runs.delete(t, one["run_id"])
    await throws(404, client.runs.get(t, one["run_id"]))


@test
async def cancel_and_multitask():
    t = (await client.threads.create())["thread_id"]
    one = await client.runs.create(t, "parrot", input=SLOW)

    async def status(run, word):
        return (await client.runs.get(t, run["run_id"]))["status"] == word

    await until("it runs", lambda: status(one, "running"))
    await throws(409, client.runs.create(t, "parrot", input=SLOW, multitask_strategy="reject"))
    if not NPM:
        await throws(409, client.threads.update_state(t, {"said": "x"}))
    two = await client.runs.create(t, "parrot", input=SLOW, multitask_strategy="interrupt")
    await until("it gave way", lambda: status(one, "interrupted"))
    await until("it runs", lambda: status(two, "running"))
    await client.runs.cancel(t, two["run_id"], wait=True, action="rollback")
    if not NPM:
        await throws(404, client.runs.get(t, two["run_id"]))


@test
async def failures():
    t = (await client.threads.create())["thread_id"]
    events = await all_of(client.runs.stream(t, "parrot", input=human("an error")))
    assert any(e.event == "error" and "does not say that" in e.data["message"] for e in events)
    try:
        await client.runs.wait(t, "parrot", input=human("error"))
    except Exception as e:
        assert "does not say that" in str(e), e
        return
    raise AssertionError("wait did not raise")


@test
async def runs_without_a_thread():
    events = await all_of(client.runs.stream(None, "letters", input={"wanted": 1}, stream_mode="updates"))
    assert any(e.event == "updates" for e in events)
    assert NPM or (await client.runs.wait(None, "letters", input={"wanted": 1}))["letters"] == ["letter 1"]
    batch = await client.runs.create_batch([{"assistant_id": "letters", "input": {"wanted": n}} for n in (1, 2)])
    assert len(batch) == 2


@test
async def store():
    space = ("tests", uuid.uuid4().hex)
    await client.store.put_item(space, "k", {"author": "mara", "n": 1})
    one = await client.store.get_item(space, "k")
    await client.store.put_item(space, "k", {"author": "mara", "n": 2})
    two = await client.store.get_item(space, "k")
    assert two["value"]["n"] == 2 and (not OURS or two["created_at"] == one["created_at"])
    assert len((await client.store.search_items(space, filter={"author": "mara"}))["items"]) == 1
    assert list(space) in (await client.store.list_namespaces(prefix=["tests"]))["namespaces"]
    await client.store.delete_item(space, "k")


@(lambda f: f if NPM else test(f))
async def crons():
    one = await client.crons.create("letters", schedule="*/5 * * * *", input={"wanted": 1})
    found = await client.crons.search(assistant_id=one["assistant_id"], limit=50)
    assert any(c["cron_id"] == one["cron_id"] for c in found)
    assert await client.crons.count() >= 1
    await client.crons.delete(one["cron_id"])


async def main():
    failed = 0
    print(f"# langgraph-sdk {version('langgraph-sdk')} (Python) at {URL}")
    for f in tests:
        try:
            await f()
            print(f"ok    {f.__name__}")
        except Exception as e:
            failed += 1
            print(f"FAIL  {f.__name__}\n      {type(e).__name__}: {e}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return failed


sys.exit(1 if asyncio.run(main()) else 0)
