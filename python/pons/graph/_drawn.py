"""get_graph(): what a graph looks like. With langchain_core it is that one's Graph, and draws what that one draws."""

import json

from .._library import check, ffi, lib, new_error
from ..constants import END, START


class Drawing:
    """Without langchain_core: `draw_mermaid`, and `to_json` with nodes and edges."""

    def __init__(self, graph, xray):
        self.graph, self.xray = graph, xray

    def _as(self, form):
        out, err = ffi.new("char **"), new_error()
        o = ffi.new("pons_draw_options *")
        word = ffi.new("char[]", form.encode())
        o.format, o.xray = word, self.xray
        check(lib.pons_graph_draw_as(self.graph.c, o, out, err), err)
        try:
            return ffi.string(out[0]).decode()
        finally:
            lib.free(out[0])

    def draw_mermaid(self, **_):
        return self._as("mermaid")

    def to_json(self, **_):
        return json.loads(self._as("langgraph"))


def drawn(graph, xray):
    drawing = Drawing(graph, xray)
    try:
        from langchain_core.runnables.graph import Edge, Graph, Node
    except ImportError:
        return drawing
    known, made = drawing.to_json(), Graph()
    for n in sorted(known["nodes"], key=lambda n: _place(graph, n["id"])):
        name = n["id"].rsplit(":", 1)[-1]
        made.nodes[n["id"]] = Node(n["id"], name, None, {**(n.get("metadata") or {}), **_told(graph, n["id"])} or None)
    edges = [Edge(e["source"], e["target"], _label(graph, e), bool(e.get("conditional"))) for e in _followed(known["edges"])]
    made.edges = sorted(edges, key=lambda e: (":" in e.source and ":" in e.target, e.target == END and not e.conditional, e.source, e.target))
    return made


def _followed(edges):
    """Edges that can be followed from the start; a start that says nothing of its ways leads to the end."""
    reached, there = [], {START}
    while found := [e for e in edges if e["source"] in there and e not in reached]:
        reached += found
        there |= {e["target"] for e in found}
    return reached or [{"source": START, "target": END, "conditional": True}]


def _builder(graph, path):
    """The builder of the graph that a node is in: of `sub:inner:node`, of inner."""
    for part in path:
        made = getattr(graph, "builder", None)
        graph = made.nodes[part]["action"] if made and part in made.nodes else None
    return getattr(graph, "builder", None)


def _place(graph, where):
    """In the order that they were added in, what is in subgraphs after the rest."""
    *path, name = where.split(":")
    builder = _builder(graph, path)
    order = [START, *(builder.nodes if builder else ()), END]
    return len(path), path, order.index(name) if name in order else len(order)


def _told(graph, where):
    """What was said of a node when it was added, and its tools."""
    *path, name = where.split(":")
    builder = _builder(graph, path)
    d = builder.nodes.get(name) if builder else None
    tools = getattr(d["action"], "tools_by_name", None) if d else None
    return {**((d or {}).get("metadata") or {}), **({"__tools": list(tools)} if tools else {})}


def _label(graph, edge):
    """What a router's map calls the way, where that is not the node's name."""
    path, to = edge["source"].split(":"), edge["target"].split(":")
    same = next((i for i, (a, b) in enumerate(zip(path[:-1], to)) if a != b), len(path) - 1)
    builder, source, target = _builder(graph, path[:same]), path[same], to[min(same, len(to) - 1)]
    for at, _, targets in builder.routers if builder else ():
        if at == source:
            return next((str(k) for k, v in (targets or {}).items() if v == target and k != v), None)
    return None
