"""Runs beside who called them: the loop of asyncio that awaits one, or the loop over a stream's events.

    astream, ainvoke:   the caller's loop <-- coroutines of nodes --- a thread: the engine, functions that are not async
    stream (live):      the caller <-- events as they come --------- a thread: the engine, a superstep at a time
"""

import asyncio
import concurrent.futures
import contextvars
import threading
import weakref

from .._library import check, ffi, lib, new_error
from ._board import pool

_around = contextvars.ContextVar("pons_loop", default=(None, None))


class Stop:
    """A request to end a run, and what of it works on a loop of asyncio."""

    def __init__(self):
        ret, err = ffi.new("pons_cancel **"), new_error()
        check(lib.pons_cancel_create(ret, err), err)
        self.c, self.tasks, self.lock, self.asked = ret[0], [], threading.Lock(), False
        weakref.finalize(self, lib.pons_cancel_destroy, self.c)

    def add(self, task):
        with self.lock:
            self.tasks = [t for t in self.tasks if not t.done()] + [task]
            if self.asked:
                task.cancel()

    def request(self):
        with self.lock:
            self.asked = True
            lib.pons_cancel_request(self.c, lib.PONS_CANCEL_INTERRUPT)
            for task in self.tasks:
                task.cancel()


def running():
    """(loop, stop) of who awaits what this thread does; a loop can't be waited for on its own thread."""
    loop, stop = _around.get()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if loop is not None and loop.is_running():
            return loop, stop
    return None, None


async def on_thread(stop, context, fn, /, *args, **kwargs):
    """fn on a thread; who is canceled meanwhile stops it first, and sees its end."""
    made = concurrent.futures.Future()
    context.run(_around.set, (asyncio.get_running_loop(), stop))

    def work():
        try:
            made.set_result(context.run(fn, *args, **kwargs))
        except BaseException as exc:
            made.set_exception(exc)

    pool.run(work)
    waits = asyncio.wrap_future(made)
    try:
        return await asyncio.shield(waits)
    except asyncio.CancelledError:
        if not made.done() and stop is not None:
            stop.request()
        await asyncio.wait([waits])
        waits.exception()
        raise


def beside(call, what):
    """what on a thread, and meanwhile the events of its run."""
    end, ended, failed, context = object(), threading.Event(), [], contextvars.copy_context()

    def work():
        try:
            with call:
                context.run(what)
        except BaseException as exc:
            failed.append(exc)
        with call.left:
            call.working, last = False, call.last
        if last is not None:
            last()
        call.events.put(end)
        ended.set()

    call.working = True
    pool.run(work)
    try:
        while (e := call.events.get()) is not end:
            yield e
    except BaseException:  # nobody listens any more, or Ctrl-C: the run ends when the node does
        call.stop.request()
        ended.wait()  # not for the last event: it may have been taken as Ctrl-C came; another one leaves the rest to its thread
        raise
    if failed:
        raise failed[0]
