"""StateGraph: what is recorded in Python is built and compiled by the engine."""

import asyncio
import inspect
import typing
import weakref

from .._library import NULL, Names, c_name, check, ffi, lib, new_error
from .._typing import is_typeddict
from ..checkpoint import saver_of
from ..constants import END, START
from ..errors import GraphBubbleUp, NodeError
from ..store.base import BaseStore
from ..types import Command, TimeoutPolicy
from . import _calls
from ._alone import Alone
from ._board import run_task
from ._at import timed
from ._made import Made, free, policies, retries_of
from ._schema import channels_of, hints, is_schema, json_schema
from ._task import add, found, name_of

_EXTRA = ("config", "writer", "runtime", "store", "previous")


class Node:
    """A function with what it reads: a node or a router."""

    def __init__(self, name, fn, schema, channels):
        self.name, self.schema, self.channels = name, schema, channels
        runs = not callable(fn) or hasattr(fn, "get_graph")  # LangChain's Runnable, or a graph
        self.fn = getattr(fn, "invoke", fn) if runs else fn
        self.awaited = getattr(fn, "ainvoke", None) if runs and not isinstance(fn, Made) else None  # under ainvoke
        try:
            parameters = list(inspect.signature(self.fn).parameters.values())
        except (ValueError, TypeError):
            parameters = []
        self.wants = [p.name for p in parameters if p.name in _EXTRA and p is not parameters[0]]
        self.metadata = None  # what its config's metadata have besides
        self.failure = None  # of an error handler: the parameter that takes the error, "" where none does
        if parameters and schema is None and _first_schema(self.fn, parameters[0]):
            self.schema = _first_schema(self.fn, parameters[0])
        self.targets, self.reads, self.messages, self.tasks = None, (), (), {}  # tasks: of its graph, by name
        self.retries, self.handled = (), False
        self.made_of = None  # the class that it is given the state as, unless that is a dict

    def handles(self):
        """It is an error handler."""
        takes = [n for n, t in hints(self.fn).items() if t is NodeError and n != "return"]
        named = [p for p in inspect.signature(self.fn).parameters if p == "error"]
        self.failure = (takes or named or [""])[0]
        if self.failure:
            self.wants.append(self.failure)

    def fails_for_good(self, exc):
        """Neither tried again nor handled."""
        wrong = isinstance(exc, (Exception, asyncio.CancelledError)) and not isinstance(exc, GraphBubbleUp)
        return wrong and not self.handled and not any(p.takes(exc) for p in self.retries)

    def settle(self, state_schema, all_channels):
        """Once all channels are known: which of them it is given, and as what."""
        schema = self.schema or state_schema
        self.reads = [(n, n.encode()) for n in channels_of(schema)]
        self.messages = [n for n, _ in self.reads if all_channels[n].messages]
        self.schema = schema
        self.made_of = schema if is_schema(schema) and not is_typeddict(schema) else None

    def cast(self, state):
        return state if self.made_of is None or not isinstance(state, dict) else self.made_of(**state)


def _first_schema(fn, parameter):
    t = hints(fn).get(parameter.name) if callable(fn) else None
    return t if is_schema(t) else None


class StateGraph:
    """Records nodes and edges; compile() gives what runs."""

    def __init__(self, state_schema, context_schema=None, *, input_schema=None, output_schema=None):
        self.state_schema, self.context_schema = state_schema, context_schema
        self.input_schema, self.output_schema = input_schema or state_schema, output_schema or state_schema
        self.nodes, self.edges, self.joins, self.routers = {}, [], [], []

    def add_node(self, node, action=None, *, defer=False, metadata=None, input_schema=None, retry_policy=None,
                 cache_policy=None, destinations=None, error_handler=None, timeout=None):  # fmt: skip
        if not isinstance(node, str):
            action, node = node, getattr(node, "name", None) or node.__name__
        if node in self.nodes:
            raise ValueError(f"there is a node '{node}' already")
        if node in (START, END):
            raise ValueError(f"'{node}' is where a graph begins or ends, and no node")
        if any(c in node for c in "|:\0"):
            raise ValueError(f"{node[:40]!r} can't be a node's name: '|', ':' and NUL are reserved")
        if timeout is not None:
            action = timed(node, action, TimeoutPolicy.coerce(timeout))
        retries, handler = retries_of(retry_policy), None
        if error_handler is not None:
            if hasattr(action, "get_graph"):
                raise ValueError(f"'{node}' is a graph: the error handlers are its nodes'")
            handler = _calls.handler_name(node)
            self.nodes[handler] = {"action": error_handler, "defer": False, "input": input_schema, "retries": [], "cache": None,
                                   "goes": _commanded(error_handler), "handler": None, "handles": True, "metadata": None}  # fmt: skip
        self.nodes[node] = {"action": action, "defer": defer, "input": input_schema, "retries": retries, "cache": cache_policy,
                            "goes": list(destinations) if destinations else _commanded(action), "handler": handler,
                            "handles": False, "metadata": metadata}  # fmt: skip
        return self

    def add_edge(self, start_key, end_key):
        legs = [start_key] if isinstance(start_key, str) else list(start_key)
        if END in legs or end_key == START:
            raise ValueError(f"no edge leaves END or leads to START: {start_key!r} -> {end_key!r}")
        if isinstance(start_key, str):
            self.edges.append((start_key, end_key))
        else:
            self.joins.append((legs, end_key))
        return self

    def add_conditional_edges(self, source, path, path_map=None):
        if not isinstance(path_map, (dict, list, tuple)):
            said = hints(path).get("return") if callable(path) else None
            path_map = [*typing.get_args(said)] if typing.get_origin(said) is typing.Literal else None
        if not isinstance(path_map, dict):
            path_map = {n: n for n in path_map} if isinstance(path_map, (list, tuple)) else None
        self.routers.append((source, path, path_map))
        return self

    def add_sequence(self, nodes):
        last, names = None, [n[0] if isinstance(n, tuple) else getattr(n, "name", None) or n.__name__ for n in nodes]
        if not names:
            raise ValueError("a sequence has at least one node")
        for name, node in zip(names, nodes):
            if names.count(name) > 1:
                raise ValueError(f"a sequence has the node '{name}' twice: give one as (name, function)")
            self.add_node(*(node if isinstance(node, tuple) else (node,)))
            if last:
                self.add_edge(last, name)
            last = name
        return self

    def set_entry_point(self, key):
        return self.add_edge(START, key)

    def set_conditional_entry_point(self, path, path_map=None):
        return self.add_conditional_edges(START, path, path_map)

    def set_finish_point(self, key):
        return self.add_edge(key, END)

    def compile(self, checkpointer=None, *, cache=None, store=None, interrupt_before=None, interrupt_after=None,
                debug=False, name=None):  # fmt: skip
        if store is not None and not isinstance(store, BaseStore):
            raise TypeError(f"store is a {type(store).__name__}; it must be one of pons.store (docs/reference/python.md)")
        return CompiledStateGraph(self, checkpointer, cache, store, interrupt_before, interrupt_after, name or "LangGraph", debug)


def _commanded(action):
    """Names in `-> Command[Literal["a", "b"]]`."""
    said = hints(action).get("return") if callable(action) and not hasattr(action, "get_graph") else None
    if typing.get_origin(said) is Command or said is Command:
        return [n for t in typing.get_args(said) for n in typing.get_args(t)] or None
    return None


def _is_subgraph(action):
    """A graph with a config of its own is run with that instead, by its invoke."""
    return isinstance(action, CompiledStateGraph) and not hasattr(action, "bound")


class CompiledStateGraph(Made):
    """A graph that runs. Any number of threads may run it at once, each another thread_id."""

    def __init__(self, made, checkpointer, cache, items, before, after, name, debug=False):
        self.builder, self.name, self.numbers, self.c, self.debug = made, name, [], None, debug
        self.checkpointer, self.items, self.context_schema = saver_of(checkpointer), items, made.context_schema
        self.input_schema, self.output_schema = made.input_schema, made.output_schema
        self.channels, self.inputs, self.outputs = {}, channels_of(made.input_schema), channels_of(made.output_schema)
        nodes = {n: None if _is_subgraph(d["action"]) else Node(n, d["action"], d["input"], self.channels) for n, d in made.nodes.items()}
        for schema in [made.state_schema, made.input_schema, made.output_schema, *[n.schema for n in nodes.values() if n]]:
            for key, channel in channels_of(schema).items() if schema else ():
                have = self.channels.get(key)
                if have is None or (have.kind == lib.PONS_CHANNEL_LAST and have.reducer is None):
                    self.channels[key] = channel
                elif channel.kind != lib.PONS_CHANNEL_LAST and not have.same(channel):
                    raise ValueError(f"the channel '{key}' is folded in one way by one schema, and in another by another")
        self._again = nodes, cache, before, after
        self._build(*self._again)
        begins = Node(START, lambda state: state, made.input_schema, self.channels)
        plain = {n: node for n, node in nodes.items() if not made.nodes[n]["handles"]}
        self.nodes = {n: Alone(node, self.items) if node else made.nodes[n]["action"] for n, node in {START: begins, **plain}.items()}
        self.joins_langchain()
        if cache is not None:
            cache.graphs.append(self)

    def _timed(self):
        self._build(*self._again)

    def get_input_jsonschema(self, config=None):
        return json_schema(self.input_schema, self.name + "Input")

    def get_output_jsonschema(self, config=None):
        return json_schema(self.output_schema, self.name + "Output")

    def get_context_jsonschema(self):
        return None if self.context_schema is None else json_schema(self.context_schema, self.name + "Context")

    def _build(self, nodes, cache, before, after):
        made, keep, self.tasks = self.builder, [], {}
        b = lib.pons_graph_builder_create(c_name(self.name))
        try:
            for key, channel in self.channels.items():
                lib.pons_graph_channel(b, key.encode(), self._channel(channel, keep))
            everywhere = [*made.nodes, END]
            for key, d in made.nodes.items():
                if nodes[key] is None:
                    self._subgraph(b, key, d["action"], keep)
                else:
                    if d["handles"]:
                        nodes[key].handles()
                    nodes[key].settle(made.state_schema, self.channels)
                    nodes[key].metadata = d["metadata"]
                    nodes[key].tasks, nodes[key].retries, nodes[key].handled = self.tasks, d["retries"], d["handler"] is not None
                    for task in found(nodes[key].fn):
                        if name_of(self.tasks, task) is None:
                            add(self.tasks, task, made.nodes)
                    lib.pons_graph_node(b, key.encode(), _calls.run_node, self._pointer(nodes[key]))
                    lib.pons_graph_begin(b, key.encode(), _calls.begin_node)
                    lib.pons_graph_drop(b, key.encode(), _calls.drop_node)
                lib.pons_graph_node_options(b, key.encode(), self._options(d, everywhere, cache, nodes[key], keep))
            for name, task in self.tasks.items():
                lib.pons_graph_task(b, c_name(name), run_task, self._pointer((task, self.tasks)))
                o = ffi.new("pons_node_options *")
                policies(o, task.retries, task.cache if cache is not None else None, self._pointer, keep)
                lib.pons_graph_node_options(b, name.encode(), o)
            for start, end in made.edges:
                lib.pons_graph_edge(b, c_name(start), c_name(end))
            for legs, end in made.joins:
                lib.pons_graph_join(b, Names.of(legs, keep), len(legs), c_name(end))
            for i, (source, path, targets) in enumerate(made.routers):
                router = Node(f"{source} (router {i})", path, None, self.channels)
                router.settle(made.state_schema, self.channels)
                router.targets = targets
                ways = sorted(set(targets.values())) if targets else None  # anywhere
                lib.pons_graph_router(b, c_name(source), _calls.run_router, self._pointer(router), Names.of(ways, keep))
            o = ffi.new("pons_graph_options *", {"recursion_limit": 10007})
            o.step_timeout_ms = 0 if self.step_timeout is None else max(1, int(self.step_timeout * 1000))
            o.interrupt_before, o.interrupt_after = _names(before, keep), _names(after, keep)
            ret, err = ffi.new("pons_graph **"), new_error()
            check(lib.pons_graph_compile(b, o, ret, err), err)
            self.c = ret[0]
            weakref.finalize(self, free, self.c, self.numbers)  # it knows the graph by these alone
        finally:
            lib.pons_graph_builder_destroy(b)

    def _channel(self, channel, keep):
        o = ffi.new("pons_channel_options *", {"kind": channel.kind, "several": channel.several, "chat": channel.messages})
        keep.append(o)
        if channel.listed:
            o.reduce = lib.pons_reduce_append
        elif channel.reducer:
            o.reduce, o.reduce_user = _calls.run_reducer, self._pointer(channel)
        return o

    def _subgraph(self, b, key, sub, keep):
        mode = {None: lib.PONS_SUBGRAPH_INHERIT, True: lib.PONS_SUBGRAPH_OWN, False: lib.PONS_SUBGRAPH_NONE}
        lists = []
        for names in (sub.inputs, sub.outputs):
            shared = [n for n in names if n in self.channels and not sub.channels[n].managed]
            texts = [ffi.new("char[]", n.encode()) for n in shared]
            keep += texts
            lists.append(ffi.new("pons_share[]", [(t, t) for t in texts] + [(NULL, NULL)]))
        keep += lists
        own = mode.get(sub.checkpointer, lib.PONS_SUBGRAPH_INHERIT) if not hasattr(sub.checkpointer, "c") else lib.PONS_SUBGRAPH_INHERIT
        lib.pons_graph_subgraph_mapped(b, key.encode(), sub.c, own, *lists)
        keep.append(sub)
        self.subs = [*getattr(self, "subs", ()), sub]

    def _options(self, d, everywhere, cache, node, keep):
        o = ffi.new("pons_node_options *", {"deferred": d["defer"]})
        keep.append(o)
        o.goes = Names.of(d["goes"] if d["goes"] is not None else everywhere, keep)
        o.goes_undrawn = d["goes"] is None  # it has not said where to
        if d["handler"]:
            keep.append(ffi.new("char[]", d["handler"].encode()))
            o.error_handler = keep[-1]
        policies(o, d["retries"], d["cache"] if cache is not None else None, self._pointer, keep)
        return o


def _names(names, keep):
    return Names.of(["*"] if names == "*" else names, keep) if names else NULL
