"""What C calls: nodes, routers, reducers, retries, keys of caches."""

import asyncio

from .._library import NULL, OK, PARKED, Names, c_name, ffi, lib, new_error, python, raised, text_of, value
from .._now import at as current
from .._now import stack
from .._things import thing
from ..constants import END
from ..errors import GraphBubbleUp, GraphInterrupt, InvalidUpdateError, NodeError, ParentCommand
from ..types import Command, Send
from ._at import At, callback, canceled, fail, waited
from ._board import Asked, gathered, run_beside
from ._schema import members
from ._tokens import around
from .message import from_wire, written


def _arguments(node, at, state):
    fn = node.awaited if node.awaited is not None and at.call.loop is not None else node.fn
    if at.call.tokens is None and not node.wants:
        return waited(fn(state), at.call)
    return around(at, state, lambda config: waited(fn(state, **_more(node, at, config)), at.call))


def _more(node, at, config):
    more = {}
    for name in node.wants:
        if name == "config":
            more[name] = at.config_of(config)
        elif name == "writer":
            more[name] = at.write
        elif name == "runtime":
            more[name] = at.runtime()
        elif name == "store":
            more[name] = at.call.graph.items
        elif name == "previous":
            more[name] = None
        elif name == node.failure:
            more[name] = at.failure
    return more


def ways(names):
    return [names] if isinstance(names, (str, Send)) else list(names or ())


def go(at, ways_, targets=None):
    for way in ways_:
        if isinstance(way, Send):
            lib.pons_cx_send(at.cx, c_name(way.node), value(way.arg))
            continue
        way = targets.get(way, way) if targets else way
        lib.pons_cx_goto(at.cx, c_name(str(way)))


def _written(node, v):
    """[(channel, value)] of what a node returned."""
    if v is None:
        return []
    if isinstance(v, dict):
        return list(v.items())
    if isinstance(v, (list, tuple)) and v and all(isinstance(x, tuple) and len(x) == 2 for x in v):
        return list(v)
    made = members(v)
    if made is not None:
        return list(made.items())
    raise InvalidUpdateError(f"the node '{node.name}' returned {v!r}; a dict was expected")


def _apply(at, v):
    node = at.node
    if type(v) is dict:
        for name, x in v.items():
            at.put(name, x, node.channels)
        return
    for part in v if isinstance(v, list) and any(isinstance(x, Command) for x in v) else [v]:
        if not isinstance(part, Command):
            writes, where, parent = _written(node, part), [], False
        else:
            writes, where = _written(node, part.update), ways(part.goto)
            parent = part.graph == Command.PARENT
            if part.graph is not None and not parent:
                raise NotImplementedError(f"Command(graph={part.graph!r}) is not there: a command is for its own graph or Command.PARENT")
        if parent:
            _to_parent(at, writes, where)
            continue
        for name, x in writes:
            at.put(name, x, node.channels)
        go(at, where)


def _to_parent(at, writes, where):
    if at.call.outer is not None and lib.pons_cx_ns(at.cx)[0] == b"\0":  # the graph of nobody's subgraph: a node's code runs it
        raise ParentCommand(Command(update=writes or None, goto=where))
    keep, err = [], new_error()
    sends = [w for w in where if isinstance(w, Send)]
    c = ffi.new("pons_command *")
    c.parent = True
    known = at.node.channels  # the parent's messages have the same name as a rule
    c.update = value({k: written(v) if k in known and known[k].messages else v for k, v in writes})
    c.go = Names.of([str(w) for w in where if not isinstance(w, Send)], keep)
    made = ffi.new("pons_send[]", max(len(sends), 1))
    for i, s in enumerate(sends):
        keep.append(ffi.new("char[]", c_name(s.node)))
        made[i].node, made[i].arg = keep[-1], value(s.arg)
    c.sends, c.n_sends = made, len(sends)
    if lib.pons_cx_command(at.cx, c, err) < 0:
        raise raised(err)


@callback("int(pons_cx *, void *, pons_error *)", error=lib.PONS_EINVAL)
def run_node(cx, user, err):
    node, call = thing(user), stack.calls[-1]
    at = call.begun.pop(int(ffi.cast("uintptr_t", cx)), None) if call.begun else None
    token, given = None, False
    try:
        if call.pressed is not None:
            raise call.pressed
        if at is not None:
            try:
                made = gathered(at)
            except BaseException as exc:
                if call.pressed is not None or not (at.canceled and (at.under or isinstance(exc, asyncio.CancelledError))):
                    raise
                return PARKED  # another one has failed: a resume runs it again
        elif node.tasks:
            at = At(cx, node, call)
            state = _given(at)
            made = run_beside(cx, node, call, lambda at: _arguments(node, at, node.cast(state)))
        else:
            at = At(cx, node, call)
            token = current.set(at)
            made = _arguments(node, at, node.cast(_given(at)))
        at.end()
        given = True
        _apply(at, made)
        return OK
    except GraphInterrupt:
        return PARKED
    except ParentCommand as exc:
        return fail(err, exc) if given else _commanded(at, exc, err)  # its own goes on to who runs this graph
    except asyncio.CancelledError as exc:
        return fail(err, canceled(node, exc, call))
    except BaseException as exc:  # every end of a node is a status, Ctrl-C's too; it is raised again in the caller
        if type(at) is At and call.loop is not None and node.fails_for_good(exc):  # alone in a subgraph: what is beside that
            call.board._cancel(list(call.begun.values()))
        return fail(err, exc)
    finally:
        if at is not None and not at.over:
            at.end()
        if token is not None:
            current.reset(token)


def _commanded(at, exc, err):
    """A graph that the node's code has run has told it what to write and where to go."""
    try:
        at.end()
        _apply(at, exc.command)
        return OK
    except BaseException as failed:
        return fail(err, failed)


@callback("void(pons_cx *, void *)")
def begin_node(cx, user):
    """One of several nodes of a superstep: on a thread of its own, until run_node waits for it."""
    node, call = thing(user), stack.calls[-1]
    at = call.begun[int(ffi.cast("uintptr_t", cx))] = Asked(cx, node, node.tasks, call, call.board)
    where = ffi.string(lib.pons_cx_ns(cx)), lib.pons_cx_superstep(cx)
    if call.step[0] != where:
        call.step = where, []
    at.step = call.step[1]
    at.step.append(at)
    try:
        state = _given(at)
    except BaseException as exc:
        state, failed = None, exc

        def work():
            raise failed
    else:

        def work():
            return _arguments(node, at, node.cast(state))

    call.board.begin(at, work, counts=True)


@callback("void(pons_cx *, void *)")
def drop_node(cx, user):
    """One that was begun and is not waited for: its thread asks in vain from here on."""
    call = stack.calls[-1]
    at = call.begun.pop(int(ffi.cast("uintptr_t", cx)), None)
    if at is not None:
        call.board.drop(at)


def _given(at):
    """What a node is given: the argument of the Send that it is, or the state."""
    node, arg = at.node, lib.pons_cx_arg(at.cx)
    if node.failure is not None:
        return _failed(at, arg)
    if arg == NULL:
        return at.read(node.reads, node.channels, at.call.seen)
    state = python(arg)
    if isinstance(state, dict) and node.messages:
        state = {k: from_wire(v) if k in node.messages else v for k, v in state.items()}
    return state


_HANDLER = " error_handler"  # the engine has names with __ for itself


def handler_name(node):
    return node + _HANDLER


def shown_name(node):
    return f"__error_handler__{node[: -len(_HANDLER)]}" if node.endswith(_HANDLER) else node


def _failed(at, arg):
    """What an error handler is given: the state, and what failed, as the exception itself while that is known."""
    said = python(arg)
    known = at.call.failures.get(said["message"])
    at.failure = NodeError(said["node"], known or RuntimeError(said["message"]))
    return at.read(at.node.reads, at.node.channels, at.call.seen)


@callback("int(pons_cx *, void *, pons_error *)", error=lib.PONS_EINVAL)
def run_router(cx, user, err):
    router = thing(user)
    at = At(cx, router, stack.calls[-1])
    token = current.set(at)
    try:
        # What the node has just written is seen here.
        made = _arguments(router, at, router.cast(at.read(router.reads, router.channels, at.call.seen)))
        where = ways([made] if isinstance(made, bool) else made)
        go(at, [END if w is None else w for w in where], router.targets)
        return OK
    except BaseException as exc:
        return fail(err, exc)
    finally:
        at.end()
        current.reset(token)


@callback("int(void *, pons_value *, pons_value *, pons_value **, pons_error *)", error=lib.PONS_EINVAL)
def run_reducer(user, old, update, ret, err):
    try:
        channel = thing(user)
        new = python(update)
        before = channel.empty() if old == NULL else python(old)
        ret[0] = value(new if before is None else channel.reducer(before, new))
        return OK
    except BaseException as exc:
        return fail(err, exc)


@callback("bool(void *, pons_error *)", error=False)
def run_retry_on(user, err):
    policy = thing(user)
    failed = stack.calls[-1].failed if stack.calls else None
    try:
        return isinstance(failed, Exception) and not isinstance(failed, GraphBubbleUp) and policy.takes(failed)
    except BaseException as exc:
        fail(NULL, exc)
        return False


@callback("int(void *, pons_value *, pons_value *, pons_value **, pons_error *)", error=lib.PONS_EINVAL)
def run_cache_key(user, state, arg, ret, err):
    try:
        policy = thing(user)
        given = python(arg if arg != NULL else state)
        ret[0] = value(policy.key_func(given))
        return OK
    except BaseException as exc:
        return fail(err, exc)


@callback("void(void *, pons_event *)")
def take_event(user, event):
    call = thing(user)
    kind = ffi.string(event.type).decode()
    if kind.startswith("stream."):
        ns = ffi.string(event.ns).decode() if event.ns != NULL else ""
        call.events.append((ns, kind[7:], text_of(event.payload)))
