"""What a graph shows: states, events of streams and snapshots, made of what the engine says."""

import re

from ..checkpoint import iso
from ..constants import INTERRUPT
from ..types import Interrupt, PregelTask, StateSnapshot
from . import _calls
from .message import from_wire

SKIP = object()  # an event that is not shown


def interrupts(found):
    return tuple(Interrupt(value=i["value"], id=i["id"]) for i in found)


def _error(line):
    """What a node raised, as Python writes it."""
    found = line and re.fullmatch(r"python: (\w+)(?:: (.*))? \[thread .*\]", line, re.S)
    return f"{found[1]}({found[2] or ''!r})" if found and found[2] else f"{found[1]}()" if found else line


class Shown:
    """Has `channels`, `outputs` and `checkpointer`."""

    def _output(self, state, keys):
        if keys is not None:
            return state.get(keys) if isinstance(keys, str) else {k: v for k, v in state.items() if k in keys}
        return {k: v for k, v in state.items() if k in self.outputs}

    def _value(self, name, v):
        channel = self.channels.get(name)
        return from_wire(v) if channel is not None and channel.messages else v

    def _values(self, state, whole=False):
        if not whole:
            return {k: self._value(k, v) for k, v in state.items()}
        made = {}
        for k, channel in self.channels.items():  # in their order
            if k in state:
                made[k] = self._value(k, state[k])
            elif channel.initial is not None:
                made[k] = channel.empty()
        return made

    def _shown(self, mode, v, keys=None):
        if mode == "values":
            asked = v.pop(INTERRUPT, None)
            v = self._output(self._values(v, True), keys)
            if not isinstance(v, dict):
                return v
            return v if asked is None else {**v, INTERRUPT: interrupts(asked)}
        if mode == "updates":
            if INTERRUPT in v:
                return {INTERRUPT: interrupts(v[INTERRUPT])}
            return {_calls.shown_name(k): self._update(u) for k, u in v.items()}
        if mode == "messages":
            if not hasattr(self.checkpointer, "c"):
                v[1].pop("thread_id", None)  # of no store: the program has not named it
            return from_wire(v[0]), v[1]
        if mode == "tasks":
            return self._task(v)
        if mode == "checkpoints":
            return {**v, "values": self._values(v["values"], True)}
        if mode == "debug":
            inner = "checkpoints" if v["type"] == "checkpoint" else "tasks"
            return {**v, "payload": self._shown(inner, v["payload"])}
        return v

    def _task(self, v):
        made = {k: x for k, x in v.items() if k != "cached"}
        made["name"] = _calls.shown_name(v["name"])
        if "triggers" in v:
            made["triggers"] = tuple(v["triggers"])
            if isinstance(v["input"], dict) and made["triggers"] != ("__pregel_push",):  # the state; else what a Send brings
                made["input"] = self._values(v["input"], True)
        return made

    def _below(self, ns):
        """The graph whose events have this namespace: `sub:id|inner:id`."""
        graph = self
        for part in ns.split("|") if ns else ():
            nodes = graph.builder.nodes if hasattr(graph, "builder") else {}
            found = nodes.get(part.split(":")[0], {}).get("action")
            if not isinstance(found, Shown):
                return self
            graph = found
        return graph

    def _update(self, u):
        if isinstance(u, list):
            return [self._update(x) for x in u]
        return self._values(u) if isinstance(u, dict) else u

    def _changed(self, s, after):
        """The result of the one task of a superstep that has none kept: what the step has changed beyond the others' results."""
        tasks, missing, made = s["tasks"], [i for i, t in enumerate(s["tasks"]) if t.get("result") is None], {}
        if after is None or len(missing) != 1 or any(isinstance(t.get("result"), list) for t in tasks):
            return
        before, given = s.get("values") or {}, [t.get("result") or {} for t in tasks]
        for name, v in (after.get("values") or {}).items():
            channel, old = self.channels.get(name), before.get(name)
            others = [r[name] for r in given if name in r]
            if channel is None or (name in before and old == v):
                continue
            if channel.listed and isinstance(v, list) and v[: len(old or ())] == (old or []):
                first = sum(len(r.get(name, ())) for r in given[: missing[0]])
                last = sum(len(r.get(name, ())) for r in given[missing[0] + 1 :])
                part = v[len(old or ()) + first : len(v) - last]
                if part or not others:
                    made[name] = part
            elif channel.messages and isinstance(v, list):
                made[name] = [m for m in v if m not in (old or []) and not any(m in r for r in others)]
            elif channel.reducer or channel.listed or channel.messages:
                return  # what was folded can't be told from what came of it
            elif not others:
                made[name] = v
        tasks[missing[0]]["result"] = made

    def _snapshot(self, s):
        def config(checkpoint):
            at = {"thread_id": s["thread"], "checkpoint_ns": s["ns"], "checkpoint_id": checkpoint}
            if s["ns"]:  # a subgraph's: with where those around it are
                at["checkpoint_map"] = {**s["metadata"].get("parents", {}), s["ns"]: checkpoint}
            return {"configurable": at}

        tasks = tuple(
            PregelTask(id=t["id"], name=t["name"], path=("__pregel_push" if "arg" in t else "__pregel_pull", t["name"]),
                       error=_error(t.get("error")), interrupts=interrupts(t["interrupts"]), result=self._update(t.get("result")),
                       state=self._below(t["state"]["ns"].split("|")[-1])._snapshot(t["state"]) if isinstance(t.get("state"), dict)
                       else {"configurable": {"thread_id": s["thread"], "checkpoint_ns": t["ns"]}} if t.get("ns") else None)
            for t in s["tasks"]
        )  # fmt: skip
        return StateSnapshot(
            values=self._values(s.get("values") or {}, True), next=tuple(s["next"]), config=config(s["checkpoint_id"]),
            metadata=s["metadata"], created_at=iso(s["ts_ms"]), parent_config=config(s["parent_id"]) if s.get("parent_id") else None,
            tasks=tasks, interrupts=interrupts(s["interrupts"]),
        )  # fmt: skip
