"""The node that runs the tools that a model has called, side by side.

    {"messages": [..., AIMessage(tool_calls=[a, b])]}  -->  {"messages": [ToolMessage of a, ToolMessage of b]}
    [a]  (a Send of one call)                          -->  the same of this one; the state is read of the channels

What a tool gives back may also be a Command, which then goes to the graph as a node's does. A tool whose
arguments are wrong tells the model so; what else a tool raises ends the run, unless handle_tool_errors says.

Tools that ask a person (interrupt) ask in the order of the calls, one question at a time, however fast each is:
answers are known by that order when the node is run again. Where they are awaited, one that asks before its turn
is run again when that has come.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import copy
import dataclasses
import functools
import inspect
import json
import types
import typing
from types import UnionType
from typing import Any, Union, get_args, get_origin

from langchain_core.messages import AIMessage, RemoveMessage, ToolMessage, convert_to_messages
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools import tool as tool_of
from pydantic import ValidationError

from .._now import at as current
from .._now import turn
from ..errors import GraphBubbleUp, GraphInterrupt
from ..graph.message import REMOVE_ALL_MESSAGES
from ..runtime import Runtime
from ..types import Command, Send
from ._injected import InjectedState, InjectedStore, ToolRuntime, Wants

__all__ = ["InjectedState", "InjectedStore", "ToolCallRequest", "ToolInvocationError", "ToolNode", "ToolRuntime", "tools_condition"]

_MOST = 32  # threads of one node, where max_concurrency says nothing
# What models are told is LangGraph's to the letter, here and below: prompts are made for it, and histories compared.
_BLOCKS = ("text", "image_url", "image", "json", "search_result", "custom_tool_call_output", "document", "file")


class ToolInvocationError(ToolException):
    """A model has called a tool with arguments that it does not take."""

    def __init__(self, tool_name, source, tool_kwargs, filtered_errors=None):
        errors = source.errors() if filtered_errors is None else filtered_errors
        said = "\n".join(f"{'.'.join(str(x) for x in e.get('loc', ()))}: {e.get('msg', 'Unknown error')}" for e in errors)
        self.message = f"Error invoking tool '{tool_name}' with kwargs {tool_kwargs} with error:\n {said}\n Please fix the error and try again."
        self.tool_name, self.source, self.tool_kwargs, self.filtered_errors = tool_name, source, tool_kwargs, filtered_errors
        super().__init__(self.message)


@dataclasses.dataclass
class ToolCallRequest:
    """One call on its way to its tool: what `wrap_tool_call(request, execute)` is given."""

    tool_call: dict
    tool: BaseTool | None
    state: Any
    runtime: ToolRuntime

    def override(self, **members):
        return dataclasses.replace(self, **members)


def _only_arguments(e):
    if isinstance(e, ToolInvocationError):
        return e.message
    raise e


def _takes(handler):
    """The exceptions that a function is there for, as its parameter says."""
    parameters = [p for p in inspect.signature(handler).parameters.values() if p.name not in ("self", "cls")]
    said = typing.get_type_hints(handler).get(parameters[0].name) if parameters else None
    if said is None:
        return (Exception,)
    kinds = get_args(said) if get_origin(said) in (Union, UnionType) else (said,)
    if not all(isinstance(k, type) and issubclass(k, Exception) for k in kinds):
        raise ValueError(f"a handler of a tool's errors takes exceptions, not {said}")
    return kinds


class ToolNode(Runnable):
    """ToolNode([functions or tools]): a node, which also can be invoked by itself with messages."""

    def __init__(self, tools, *, name="tools", tags=None, handle_tool_errors=_only_arguments, messages_key="messages",
                 wrap_tool_call=None, awrap_tool_call=None):  # fmt: skip
        made = [t if isinstance(t, BaseTool) else tool_of(t) for t in tools]
        self.name, self.tags, self.tools_by_name, self.handled = name, tags, {t.name: t for t in made}, handle_tool_errors
        self.key, self.wrap, self.awrap = messages_key, wrap_tool_call, awrap_tool_call
        self.wants = {t.name: Wants(t) for t in made}
        if isinstance(self.handled, type) or isinstance(self.handled, tuple):
            self.kinds = self.handled
        else:
            self.kinds = _takes(self.handled) if callable(self.handled) else Exception

    # ---- runs

    def invoke(self, input, config=None, *, runtime=None, **_):
        calls, form, requests = self._requests(input, config or {}, runtime)
        if len(calls) == 1:
            return self._combined([self._one(requests[0], form)], form)
        most = (config or {}).get("max_concurrency") or _MOST
        with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, min(most, len(calls)))) as pool:
            waits = []
            for r in requests:
                context = contextvars.copy_context()
                context.run(turn.set, functools.partial(_after, list(waits)))
                waits.append(pool.submit(context.run, self._one, r, form))
            return self._combined([w.result() for w in waits], form)

    async def ainvoke(self, input, config=None, *, runtime=None, **_):
        _, form, requests = self._requests(input, config or {}, runtime)
        works = []
        for r in requests:
            works.append(asyncio.ensure_future(self._in_turn(r, form, list(works))))
        made = await asyncio.gather(*works, return_exceptions=True)
        for failed in (m for m in made if isinstance(m, BaseException)):
            raise failed
        return self._combined(made, form)

    async def _in_turn(self, request, form, before):
        def early():
            if not all(w.done() for w in before):
                raise _Early
            _after(before)

        turn.set(early)  # in this task's own context
        try:
            return await self._aone(request, form)
        except _Early:
            await asyncio.wait(before)
            return await self._aone(request, form)

    def _requests(self, given, config, runtime):
        calls, form, state = self._parsed(given)
        runtime, tools = runtime or Runtime(), list(self.tools_by_name.values())
        return calls, form, [
            ToolCallRequest(c, self.tools_by_name.get(c["name"]), state, ToolRuntime(
                state=state, context=runtime.context, config=config, stream_writer=runtime.stream_writer,
                tool_call_id=c["id"], store=runtime.store, tools=tools))
            for c in calls
        ]  # fmt: skip

    def _parsed(self, given):
        """(calls, form of the input, state)"""
        if isinstance(given, list) and given and isinstance(given[-1], dict) and given[-1].get("type") == "tool_call":
            return given, "calls", _state()
        if isinstance(given, dict) and given.get("__type") == "tool_call_with_context":
            return [given["tool_call"]], "calls", given["state"]
        messages = given if isinstance(given, list) else given.get(self.key) if isinstance(given, dict) else getattr(given, self.key, None)
        if not messages:
            raise ValueError("a ToolNode is given messages, and there are none")
        last = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
        if last is None:
            raise ValueError("a ToolNode runs what an AIMessage calls, and there is none")
        return list(last.tool_calls), "list" if isinstance(given, list) else "dict", given

    # ---- one call

    def _one(self, request, form):
        if self.wrap is None:
            return self._called(request, form)
        with self._telling(request.tool_call, any_kind=True) as told:
            told.made = self.wrap(request, lambda r: self._called(r, form))
        return told.made

    async def _aone(self, request, form):
        if self.awrap is None and self.wrap is None:
            return await self._acalled(request, form)

        async def execute(r):
            return await self._acalled(r, form)

        with self._telling(request.tool_call, any_kind=True) as told:
            if self.awrap is not None:
                told.made = await self.awrap(request, execute)
            else:
                told.made = self.wrap(request, lambda r: self._called(r, form))
        return told.made

    def _called(self, request, form):
        call, tool = request.tool_call, request.tool
        if tool is None:
            return self._unknown(call)
        args = self._arguments(request)
        with self._telling(call, tool) as told:
            told.made = tool.invoke(args, request.runtime.config)
            told.made = self._checked(told.made, call, form)
        return told.made

    async def _acalled(self, request, form):
        call, tool = request.tool_call, request.tool
        if tool is None:
            return self._unknown(call)
        args = self._arguments(request)
        with self._telling(call, tool) as told:
            told.made = await tool.ainvoke(args, request.runtime.config)
            told.made = self._checked(told.made, call, form)
        return told.made

    @contextlib.contextmanager
    def _telling(self, call, tool=None, any_kind=False):
        """What a call has made: what the model is told, where it failed and the model shall know."""
        told = types.SimpleNamespace(made=None)
        try:
            yield told
        except GraphBubbleUp:
            raise
        except Exception as exc:
            if tool is not None and told.made is None and isinstance(exc, ValidationError):  # the arguments are wrong
                wrong = self._wrong(call, tool, exc)
                wrong.__cause__ = exc
                exc = wrong
            told.made = self._failed(exc, call, any_kind)

    def _arguments(self, request):
        call, tool = request.tool_call, request.tool
        wants = self.wants.get(call["name"]) or Wants(tool)
        return {**call, "args": wants.given(call["name"], call["args"], request.runtime, self.key), "type": "tool_call"}

    def _unknown(self, call):
        there = ", ".join(self.tools_by_name)
        said = f"Error: {call['name']} is not a valid tool, try one of [{there}]."
        return _refused(said, call)

    def _wrong(self, call, tool, exc):
        """Of what the model said alone: what we gave it can't mend."""
        ours = (self.wants.get(call["name"]) or Wants(tool)).names
        return ToolInvocationError(call["name"], exc, call["args"], [e for e in exc.errors() if e["loc"] and e["loc"][0] not in ours])

    def _failed(self, exc, call, any_kind=False):
        if not self.handled or not (any_kind or isinstance(exc, self.kinds)):
            raise exc
        if isinstance(self.handled, str):
            said = self.handled
        elif isinstance(self.handled, (bool, tuple, type)):
            said = f"Error: {exc!r}\n Please fix your mistakes."
        else:
            said = self.handled(exc)
        return _refused(said, call)

    # ---- what tools give back

    def _checked(self, made, call, form):
        if isinstance(made, Command):
            return self._command(made, call, form)
        if isinstance(made, ToolMessage):
            made.content = _content(made.content)
            return made
        if not isinstance(made, list) or not all(isinstance(m, (Command, ToolMessage)) for m in made):
            raise TypeError(f"the tool '{call['name']}' gave back {type(made).__name__}; it may be a message, a Command, or a list of these")
        said = [m for m in made if isinstance(m, ToolMessage)]
        said += [m for c in made if isinstance(c, Command) and isinstance(c.update, dict) for m in c.update.get(self.key, ())]
        answers = sum(isinstance(m, ToolMessage) and m.tool_call_id == call["id"] for m in said)
        if answers != 1:
            raise ValueError(f"the tool '{call['name']}' gave back {answers} answers to the call {call['id']!r}; it must be one")
        return [self._command(m, call, form, False) if isinstance(m, Command) else self._checked(m, call, form) for m in made]

    def _command(self, command, call, form, answers=True):
        if not isinstance(command.update, (dict, list)):
            return command
        if isinstance(command.update, list) != (form == "list"):
            there = "a list of messages" if form == "list" else f"a dict with '{self.key}'"
            raise ValueError(f"a Command of the tool '{call['name']}' must update with {there}, as the node was given it")
        made = copy.deepcopy(command)
        messages = made.update if form == "list" else made.update.get(self.key, [])
        messages = convert_to_messages(messages)
        if messages == [RemoveMessage(id=REMOVE_ALL_MESSAGES)]:
            return made
        mine = [m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == call["id"]]
        for m in mine:
            m.name = call["name"]
        if answers and made.graph is None and not mine:
            raise ValueError(f"the Command of the tool '{call['name']}' has no ToolMessage for the call {call['id']!r}, which every call must have")
        return made

    def _combined(self, made, form):
        """What the node gives back for all calls."""
        flat = [m for x in made for m in (x if isinstance(x, list) else [x])]
        if not any(isinstance(m, Command) for m in flat):
            return flat if form == "list" else {self.key: flat}
        parts, sends = [], []
        for m in flat:
            if not isinstance(m, Command):
                parts.append([m] if form == "list" else {self.key: [m]})
            elif m.graph == Command.PARENT and isinstance(m.goto, list) and all(isinstance(s, Send) for s in m.goto):
                sends += m.goto  # several handovers are one
            else:
                parts.append(m)
        return [*parts, Command(graph=Command.PARENT, goto=sends)] if sends else parts


def _refused(said, call):
    return ToolMessage(said, name=call["name"], tool_call_id=call["id"], status="error")


class _Early(GraphBubbleUp):
    """It asks, and another one may have to first."""


def _after(before):
    """When those before have ended; not at all when one of them waits for its answer."""
    for work in before:
        if isinstance(work.exception(), GraphBubbleUp):  # of a thread's: waits for its end
            raise GraphInterrupt


def _state():
    """The state of the graph whose node is at work."""
    at = current.get()
    if at is None:
        return {}
    return at.node.cast(at.on_loop(lambda: at.read(at.node.reads, at.node.channels, at.call.seen)))


def _content(v):
    if isinstance(v, str) or (isinstance(v, list) and all(isinstance(x, dict) and x.get("type") in _BLOCKS for x in v)):
        return v
    try:
        return json.dumps(v, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(v)


def tools_condition(state, messages_key="messages"):
    """Where to go after the model: "tools" when it has called some, else the end."""
    messages = state if isinstance(state, list) else state.get(messages_key) if isinstance(state, dict) else getattr(state, messages_key, None)
    if not messages:
        raise ValueError(f"there is no message that may have called tools: {state}")
    return "tools" if getattr(messages[-1], "tool_calls", None) else "__end__"


# What a router's edges are drawn by.
tools_condition.__annotations__["return"] = typing.Literal["tools", "__end__"]
