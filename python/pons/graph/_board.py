"""Who runs what: an entrypoint, every task and each of several nodes of a superstep have a thread of their own.

    the engine's thread: the engine -- run_entry, run_node --> board: what the others ask of the engine, one at a
                                                time, until the one that is waited for, and all that it called, has ended
    a thread each:   the entrypoint | task | node | ...       ask(what) --> the board --> the answer

So they are side by side, a future is one of concurrent.futures, and the engine is called on one thread. A
task that is called is lent by the engine (pons_future_lend) and given back with its result, which is then
committed, before its future has it. Of several nodes each is begun (pons_graph_begin) before the first is waited
for; one that the engine gives up instead (pons_graph_drop: its step has ended without it) works on for nobody,
and asks in vain. Whoever still works when the run has ended (it was canceled) finds the board closed.
"""

import asyncio
import collections
import concurrent.futures
import contextvars
import os
import queue
import threading
from dataclasses import dataclass
from typing import Generic, TypeVar

from .._library import NULL, OK, PARKED, check, ffi, lib, new_error, python, raised, value
from .._now import at as current
from .._now import stack
from .._things import thing
from ..errors import GraphBubbleUp, GraphInterrupt
from ._at import At, callback, canceled, fail, waited
from ._tokens import around

R = TypeVar("R")
S = TypeVar("S")


class Future(concurrent.futures.Future):
    """A task's result: result() waits for it, and so does await. cancel() ends an asynchronous task where it waits."""

    def __init__(self):
        super().__init__()
        self.under = []  # what of it works on a loop of asyncio

    def __await__(self):
        return asyncio.wrap_future(self).__await__()

    def cancel(self):
        canceled = super().cancel()
        if canceled:
            for work in tuple(self.under):
                work.cancel()
        return canceled

    def works(self, work):
        self.under.append(work)
        if self.cancelled():
            work.cancel()

    def tell(self, good, made):
        """What has become of it, unless its caller has canceled it."""
        try:
            self.set_result(made) if good else self.set_exception(made)
        except concurrent.futures.InvalidStateError:
            pass


class Waits(GraphInterrupt):
    """What is asked for is not there yet: the caller ends here, and is run again when it is."""


class Unknown(BaseException):
    """A task that the compiled graph does not have yet: it is compiled anew with it."""


class _Pool:
    """Threads that are kept for the next one that needs one."""

    def __init__(self):
        self.none()
        os.register_at_fork(after_in_child=self.none)  # a child process has none of them

    def none(self):
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


pool = _Pool()


class Asked(At):
    """An entrypoint or a task at work on a thread of its own: what it asks of the engine goes over the board."""

    def __init__(self, cx, node, tasks, call, board, parent=None):
        super().__init__(cx, node, call)
        self.tasks = tasks
        self.board, self.parent, self.below, self.outcome, self.ended = board, parent, 0, None, False
        self.called = []  # what it has called and is at work
        self.place = False  # it has one of the places that max_concurrency leaves
        self.under, self.canceled = [], False  # what of it works on a loop of asyncio; whether its step has failed without it
        self.step = ()  # with whom it was begun

    works = Future.works

    def dropped(self):
        """Its caller has canceled it, which is a task."""
        return self.parent is not None and self.call_made.future.cancelled()

    def cancelled(self):
        return self.canceled

    def cancel(self):
        self.canceled = True
        for below in self.called:
            below.cancel()
        for work in tuple(self.under):
            work.cancel()

    def on_loop(self, what):
        return self.board.ask(self, lambda: At.on_loop(self, what))


class Board:
    def __init__(self, call):
        self.call, self.queue, self.lock, self.closed = call, queue.SimpleQueue(), threading.Lock(), False
        self.owner = None
        self.most, self.at_work, self.waiting = int(call.config.get("max_concurrency") or 0), 0, collections.deque()

    def ask(self, at, what):
        """From a task's thread: runs what on the engine's, and gives what it gives."""
        if threading.get_ident() == self.owner:
            return what()
        reply = queue.SimpleQueue()
        with self.lock:
            if self.closed:
                raise RuntimeError("the run has ended")
            if at.over:
                raise at.too_late()
            self.queue.put((at, what, reply))
        good, made = reply.get()
        if good:
            return made
        raise made

    def begin(self, at, fn, context=None, counts=False):
        """fn on a thread, as at, when there is room for what counts; the board is told of its end."""
        context, call = context or contextvars.copy_context(), self.call

        def work():
            stack.calls.append(call)
            try:
                at.outcome = (True, context.run(self._as, at, fn))
            except asyncio.CancelledError as exc:
                at.outcome = (False, exc if at.canceled or at.dropped() else canceled(at.node, exc, call))
            except BaseException as exc:
                at.outcome = (False, exc)
            finally:
                stack.calls.pop()
            self.queue.put((at, None, None))

        counts = counts and self.most > 0
        if counts and self.at_work >= self.most:
            self.waiting.append((at, work))
        else:
            self._start(at, work, counts)

    def _start(self, at, work, counts):
        at.place = counts
        self.at_work += counts
        try:
            pool.run(work)
        except BaseException as exc:  # no thread to be had: that is how it ends
            at.outcome = (False, exc)
            self.queue.put((at, None, None))

    def _left(self, at):
        """at works no more, or for nobody: who waits for its place has it."""
        if at.place:
            at.place = False
            self.at_work -= 1
            if self.waiting:
                self._start(*self.waiting.popleft(), True)

    def _as(self, at, fn):
        current.set(at)
        return waited(fn(), self.call)

    def serve(self, root):
        """On the engine's thread, until root and all below it have ended."""
        before, self.owner = self.owner, threading.get_ident()
        try:
            while not root.ended:
                if self.call.pressed is not None:  # Ctrl-C while another one was waited for
                    raise self.call.pressed
                self._next()
        except KeyboardInterrupt as exc:
            self.call.pressed = exc
            raise
        finally:
            self.owner = before
        return root.outcome

    def _next(self):
        at, what, reply = self.queue.get()
        if reply is None:
            if not at.outcome[0] and not isinstance(at.outcome[1], (GraphBubbleUp, Unknown)):
                for below in at.called:  # it has failed: nobody waits for them
                    below.cancel()
            self._over(at)
            if at.ended and self.call.begun.get(int(ffi.cast("uintptr_t", at.cx))) is at:  # another is waited for
                lib.pons_cx_ended(at.cx)
            if self.call.loop is not None and at.ended and at.step and not at.canceled and not at.outcome[0] and at.node.fails_for_good(at.outcome[1]):
                self._cancel(at.step)
            self._left(at)
            return
        try:
            reply.put((True, what()))
        except BaseException as exc:
            reply.put((False, exc))
            if isinstance(exc, KeyboardInterrupt):
                raise

    def _cancel(self, step):
        """A node has failed for good: the others of its superstep that are awaited end there, and those without a place never begin."""
        for at in step:
            if not at.ended:
                at.cancel()
        waiting, self.waiting = self.waiting, collections.deque()
        for at, work in waiting:
            if at.canceled:
                at.outcome = (False, asyncio.CancelledError())
                self.queue.put((at, None, None))
            else:
                self.waiting.append((at, work))

    def _over(self, at):
        while at is not None and not at.ended and at.outcome is not None and at.below == 0:
            at.ended = True
            at.end()
            at = self.end(at) if at.parent is not None else None

    def close(self):
        """The run has ended: who still works asks in vain."""
        with self.lock:
            self.closed = True
        while True:
            try:
                _, _, reply = self.queue.get_nowait()
            except queue.Empty:
                return
            if reply is not None:
                reply.put((False, RuntimeError("the run has ended")))

    def drop(self, root):
        """The engine has given root up, and all below it with it: none of them is looked at again."""
        gone, others = [root], []
        for at in gone:
            gone.extend(at.called)
        with self.lock:  # who asks now is told at once; who has asked, below
            for at in gone:
                at.ended = True
                at.end()
            while True:
                try:
                    asked = self.queue.get_nowait()
                except queue.Empty:
                    break
                at, _, reply = asked
                if not any(at is x for x in gone):
                    others.append(asked)
                elif reply is not None:
                    reply.put((False, at.too_late()))
            for asked in others:
                self.queue.put(asked)
        self.waiting = collections.deque(w for w in self.waiting if not any(w[0] is x for x in gone))
        for at in gone:
            self._left(at)
        for at in gone[1:]:
            at.call_made.future.tell(False, at.too_late())

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
            if isinstance(made, GraphInterrupt) or at.canceled:
                rc = PARKED
            else:
                said = new_error()
                rc = fail(said, made)
        check(lib.pons_future_give_back(at.cx, rc, said, result, err), err)
        parent = at.parent
        parent.below -= 1
        parent.called.remove(at)
        self.follow(parent, at.call_made, None if good else made)
        return parent

    def follow(self, at, made, failed):
        """What has become of a call: its future has it, or it runs (again)."""
        f, lent, err = made.c, ffi.new("pons_cx **"), new_error()
        if not lib.pons_future_done(at.cx, f):
            check(lib.pons_future_lend(at.cx, f, lent, err), err)
        if lent[0] != NULL:
            task_at = Asked(lent[0], made.task, at.tasks, self.call, self, at)
            task_at.call_made = made
            at.below += 1
            at.called.append(task_at)
            self.begin(task_at, lambda: made.work(task_at), made.context.copy(), counts=not _placed(at))
            return
        ret = ffi.new("pons_value **")
        if not lib.pons_future_done(at.cx, f):
            made.future.tell(False, Waits())
        elif lib.pons_future_result(at.cx, f, ret, err) == OK:
            made.future.tell(True, python(ret[0]))
        else:
            made.future.tell(False, failed or raised(err))


def _placed(at):
    """It, or who called it, has a place, and may wait for what it calls: that needs none."""
    while at is not None and not at.place:
        at = at.parent
    return at is not None


class _Call:
    def __init__(self, task, c, future, work, context):
        self.task, self.c, self.future, self.work, self.context = task, c, future, work, context


def call_task(at, task, name, args, kwargs):
    """A future of a task's result, in whatever calls it; name: the task's in its graph, or None."""
    future = Future()
    context = contextvars.copy_context()

    def work(at):
        return around(at, (), lambda _: waited(task.fn(*args, **kwargs), at.call, future))

    def begin():
        if name is None and at.call.graph.learns:
            at.call.unknown = task
            raise Unknown(task.name)
        if name is None:
            raise RuntimeError(f"the task '{task.name}' is named nowhere in the code of the graph's nodes")
        c, err = ffi.new("pons_future *"), new_error()
        check(lib.pons_call(at.cx, name.encode(), value([list(args), kwargs]), c, err), err)
        at.board.follow(at, _Call(task, c[0], future, work, context), None)

    at.on_loop(begin)
    return future


def run_beside(cx, node, call, fn):
    """A node whose function calls tasks: on a thread of its own, as they are."""
    board = call.board
    at = Asked(cx, node, node.tasks, call, board)
    board.begin(at, lambda: fn(at))
    return gathered(at)


def gathered(at):
    """What one that was begun has given, once it has ended."""
    good, made = at.board.serve(at)
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


@callback("int(pons_cx *, void *, pons_value *, pons_value **, pons_error *)", error=lib.PONS_EINVAL)
def run_entry(cx, user, input, ret, err):
    flow = thing(user)
    call = stack.calls[-1]
    at = Asked(cx, flow, flow.tasks, call, call.board)
    try:
        before = lib.pons_cx_previous(cx)
        previous, given = python(before), python(input)
        at.board.begin(at, lambda: around(at, (), lambda config: waited(flow.run(at, given, previous, config), call)))
        made = gathered(at)
        if isinstance(made, final):
            check(lib.pons_cx_save(cx, value(made.save)), err)
            made = made.value
        return _given(ret, made)
    except GraphInterrupt:
        return PARKED
    except BaseException as exc:
        return fail(err, exc)


@callback("int(pons_cx *, void *, pons_value *, pons_value **, pons_error *)", error=lib.PONS_EINVAL)
def run_task(cx, user, input, ret, err):
    """A task that the engine runs by itself: one that was answered, or is tried again."""
    (task, tasks), call = thing(user), stack.calls[-1]
    at = Asked(cx, task, tasks, call, call.board)
    try:
        args, kwargs = python(input)
        at.board.begin(at, lambda: around(at, (), lambda _: waited(task.fn(*args, **kwargs), call)))
        return _given(ret, gathered(at))
    except GraphInterrupt:
        return PARKED
    except BaseException as exc:
        return fail(err, exc)
