"""Who runs what: the entrypoint and every task have a thread of their own, the engine has the caller's.

    caller's thread: the engine -- run_entry --> board: what the others ask of the engine, one at a time,
                                                 until the entrypoint and all that it called have ended
    a thread each:   the entrypoint | task | task | ...       ask(what) --> the board --> the answer

So tasks are side by side, a future is one of concurrent.futures, and the engine is called on one thread. A
task that is called is lent by the engine (pons_future_lend) and given back with its result, which is then
committed, before its future has it.
"""

import asyncio
import concurrent.futures
import contextvars
import queue
import threading
from dataclasses import dataclass
from typing import Generic, TypeVar

from .._library import NULL, OK, PARKED, check, ffi, lib, new_error, python, raised, value
from .._now import stack
from ..errors import GraphInterrupt
from ._at import At, fail, thing, waited

R = TypeVar("R")
S = TypeVar("S")


class Future(concurrent.futures.Future):
    """A task's result: result() waits for it, and so does await."""

    def __await__(self):
        return asyncio.wrap_future(self).__await__()


class Waits(GraphInterrupt):
    """What is asked for is not there yet: the caller ends here, and is run again when it is."""


class Unknown(BaseException):
    """A task that the compiled graph does not have yet: it is compiled anew with it."""


class _Pool:
    """Threads that are kept for the next one that needs one."""

    def __init__(self):
        self.idle, self.lock = [], threading.Lock()

    def run(self, what):
        with self.lock:
            work = self.idle.pop() if self.idle else None
        if work is None:
            work = queue.SimpleQueue()
            threading.Thread(target=self._live, args=(work,), daemon=True, name="pons task").start()
        work.put(what)

    def _live(self, work):
        while True:
            work.get()()
            with self.lock:
                if len(self.idle) >= 32:
                    return
                self.idle.append(work)


_pool = _Pool()


class Asked(At):
    """An entrypoint or a task at work on a thread of its own: what it asks of the engine goes over the board."""

    def __init__(self, cx, node, call, board, parent=None):
        super().__init__(cx, node, call)
        self.board, self.parent, self.below, self.outcome = board, parent, 0, None

    def write(self, v):
        self.board.ask(lambda: At.write(self, v))

    def say(self, chunk, metadata):
        self.board.ask(lambda: At.say(self, chunk, metadata))

    def interrupt(self, v):
        return self.board.ask(lambda: At.interrupt(self, v))

    def on_loop(self, what):
        return self.board.ask(what)


class Board:
    def __init__(self, call):
        self.call, self.queue = call, queue.SimpleQueue()

    def ask(self, what):
        """From a task's thread: runs what on the engine's, and gives what it gives."""
        reply = queue.SimpleQueue()
        self.queue.put((what, reply))
        good, made = reply.get()
        if good:
            return made
        raise made

    def begin(self, at, fn):
        """fn on a thread, as at; the board is told of its end."""
        context, call = contextvars.copy_context(), self.call

        def work():
            stack.at.append(at)
            stack.calls.append(call)
            try:
                made = context.run(fn)
                at.outcome = (True, waited(made))
            except BaseException as exc:
                at.outcome = (False, exc)
            finally:
                stack.at.pop()
                stack.calls.pop()
            self.queue.put((at, None))

        _pool.run(work)

    def serve(self, root):
        """On the engine's thread, until root and all below it have ended."""
        while True:
            what, reply = self.queue.get()
            if reply is not None:
                try:
                    reply.put((True, what()))
                except BaseException as exc:
                    reply.put((False, exc))
                continue
            while what is not None and what.outcome is not None and what.below == 0:
                if what is root:
                    return root.outcome
                what = self.end(what)

    def end(self, at):
        """A task's function has ended, and all that it called: it is given back, and its caller looked at."""
        good, made = at.outcome
        said, result, rc, err = NULL, NULL, OK, new_error()
        if good:
            try:
                result = value(made)
            except BaseException as exc:
                good, made = False, exc
        if not good:
            if isinstance(made, GraphInterrupt):
                rc = PARKED
            else:
                said = new_error()
                rc = fail(said, made)
        check(lib.pons_future_give_back(at.cx, rc, said, result, err), err)
        parent = at.parent
        parent.below -= 1
        self.follow(parent, at.call_made, None if good else made)
        return parent

    def follow(self, at, made, failed):
        """What has become of a call: its future has it, or it runs (again)."""
        f, lent, err = made.c, ffi.new("pons_cx **"), new_error()
        if not lib.pons_future_done(at.cx, f):
            check(lib.pons_future_lend(at.cx, f, lent, err), err)
        if lent[0] != NULL:
            task_at = Asked(lent[0], made.task, self.call, self, at)
            task_at.call_made = made
            at.below += 1
            self.begin(task_at, made.work)
            return
        ret = ffi.new("pons_value **")
        if not lib.pons_future_done(at.cx, f):
            made.future.set_exception(Waits())
        elif lib.pons_future_result(at.cx, f, ret, err) == OK:
            made.future.set_result(python(ret[0]))
        else:
            made.future.set_exception(failed or raised(err))


class _Call:
    def __init__(self, task, c, future, work):
        self.task, self.c, self.future, self.work = task, c, future, work


def call_task(at, task, args, kwargs):
    """A future of a task's result, in whatever calls it."""
    future = Future()
    context = contextvars.copy_context()
    work = lambda: context.copy().run(task.fn, *args, **kwargs)  # noqa: E731

    def begin():
        name = at.call.graph.name_of(task)
        if name is None and at.call.graph.learns:
            at.call.unknown = task
            raise Unknown(task.name)
        if name is None:
            raise RuntimeError(f"the task '{task.name}' is named nowhere in the code of the graph's nodes")
        c, err = ffi.new("pons_future *"), new_error()
        check(lib.pons_call(at.cx, name.encode(), value([list(args), kwargs]), c, err), err)
        at.board.follow(at, _Call(task, c[0], future, work), None)

    at.on_loop(begin)
    return future


def run_beside(cx, node, call, fn):
    """A node whose function calls tasks: on a thread of its own, as they are."""
    board = Board(call)
    at = Asked(cx, node, call, board)
    board.begin(at, lambda: fn(at))
    good, made = board.serve(at)
    if not good:
        raise made
    return made


@dataclass
class final(Generic[R, S]):
    """What the caller of an entrypoint gets, and what its next run has as `previous`."""

    value: R
    save: S


def _given(ret, v):
    ret[0] = value(v)
    return OK


@ffi.callback("int(pons_cx *, void *, pons_value *, pons_value **, pons_error *)", error=lib.PONS_EINVAL)
def run_entry(cx, user, input, ret, err):
    flow = thing(user)
    call = stack.calls[-1]
    board = Board(call)
    at = Asked(cx, flow, call, board)
    try:
        before = lib.pons_cx_previous(cx)
        previous, given = python(before), python(input)
        board.begin(at, lambda: flow.run(at, given, previous))
        good, made = board.serve(at)
        if not good:
            raise made
        if isinstance(made, final):
            check(lib.pons_cx_save(cx, value(made.save)), err)
            made = made.value
        return _given(ret, made)
    except GraphInterrupt:
        return PARKED
    except BaseException as exc:
        return fail(err, exc)


@ffi.callback("int(pons_cx *, void *, pons_value *, pons_value **, pons_error *)", error=lib.PONS_EINVAL)
def run_task(cx, user, input, ret, err):
    """A task that the engine runs by itself: one that was answered, or is tried again."""
    task, call = thing(user), stack.calls[-1]
    board = Board(call)
    at = Asked(cx, task, call, board)
    try:
        args, kwargs = python(input)
        board.begin(at, lambda: task.fn(*args, **kwargs))
        good, made = board.serve(at)
        if not good:
            raise made
        return _given(ret, made)
    except GraphInterrupt:
        return PARKED
    except BaseException as exc:
        return fail(err, exc)
