"""create_react_agent: a model and its tools, in turn.

    [pre_model_hook] --> agent --> [post_model_hook] --> tools (a Send for each call) --> agent ...
                                                     --> [generate_structured_response] --> the end
"""

import inspect
import typing
from typing import Annotated, Any, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableSequence
from pydantic import BaseModel, create_model
from typing_extensions import NotRequired, TypedDict

from ..constants import END
from ..graph.message import add_messages
from ..graph.state import StateGraph
from ..managed import RemainingSteps
from ..runtime import Runtime
from ..types import Send
from .tool_node import ToolNode


class AgentState(TypedDict):
    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: NotRequired[RemainingSteps]


class AgentStateWithStructuredResponse(AgentState):
    structured_response: Any


class AgentStatePydantic(BaseModel):
    messages: Annotated[Sequence[BaseMessage], add_messages]
    remaining_steps: RemainingSteps = 25


class AgentStateWithStructuredResponsePydantic(AgentStatePydantic):
    structured_response: Any = None


class _Both:
    """A node that is a function, or a coroutine where the graph is awaited."""

    def __init__(self, fn, afn):
        self.invoke, self.ainvoke = fn, afn


def _of(state, key, default=None):
    return state.get(key, default) if isinstance(state, dict) else getattr(state, key, default)


def _without(model, kind):
    """The model of a chain of LangChain's, or what has it bound."""
    if isinstance(model, RunnableSequence):
        return next((s for s in model.steps if isinstance(s, kind)), model)
    return model


def _bound(model, tools, builtin):
    """The model with the tools bound, unless it has them."""
    if not tools and not builtin:
        return model
    inner = _without(model, (RunnableBinding, BaseChatModel))
    if not isinstance(inner, RunnableBinding) or "tools" not in inner.kwargs:
        if not hasattr(model, "bind_tools"):
            raise TypeError(f"a model is one that tools can be bound to (bind_tools), which {type(model).__name__} is not")
        return model.bind_tools([*tools, *builtin])
    has = inner.kwargs["tools"]
    if len(has) != len(tools) + len(builtin):
        raise ValueError(f"the model has {len(has)} tools bound, and the agent has {len(tools) + len(builtin)}")
    names = {t["function"]["name"] if t.get("type") == "function" else t.get("name") for t in has}
    missing = sorted({t.name for t in tools} - names)
    if missing and None not in names:
        raise ValueError(f"the model has these tools not bound: {', '.join(missing)}")
    return model


def _whole(messages):
    """Providers refuse a history in which a call has no answer."""
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    left = [c for m in messages if isinstance(m, AIMessage) for c in m.tool_calls if c["id"] not in answered]
    if left:
        raise ValueError(f"messages call tools and have no ToolMessage with the result: {left[:3]}")


class _Agent:
    """What the nodes and edges of one agent do."""

    def __init__(self, model, tools, builtin, prompt, form, schema, pre, post, version, name):
        self.prompt, self.form, self.schema, self.pre, self.post = prompt, form, schema, pre, post
        self.version, self.name = version, name
        self.chooses = not isinstance(model, (str, Runnable)) and callable(model)
        if isinstance(model, str):
            model = _named(model)
        if not self.chooses and not isinstance(model, Runnable):
            raise TypeError(f"a model is a chat model of langchain_core, its name, or a function that chooses one, not {type(model).__name__}")
        self.model = model if self.chooses else _bound(model, tools, builtin)
        self.direct = {t.name for t in tools if t.return_direct}
        self.first = "pre_model_hook" if pre is not None else "agent"
        if prompt is not None and not (isinstance(prompt, (str, SystemMessage, Runnable)) or callable(prompt)):
            raise ValueError(f"a prompt is a text, a message, a function or a Runnable, not {type(prompt).__name__}")

    # ---- nodes

    def call(self, state, config: RunnableConfig, runtime: Runtime):
        state = self._input(state)
        model = self._model(state, runtime)
        if inspect.isawaitable(model) or inspect.iscoroutinefunction(self.prompt):
            getattr(model, "close", lambda: None)()
            raise RuntimeError("the agent's model or prompt is a coroutine: use ainvoke or astream")
        return self._said(state, model.invoke(self._prompted(state, config, runtime), config))

    async def acall(self, state, config: RunnableConfig, runtime: Runtime):
        state = self._input(state)
        model = self._model(state, runtime)
        if inspect.isawaitable(model):
            model = await model
        prompted = await self.prompt.ainvoke(state, config) if isinstance(self.prompt, Runnable) else self._prompted(state, config, runtime)
        if inspect.isawaitable(prompted):
            prompted = await prompted
        if isinstance(prompted, Runnable):
            prompted = await prompted.ainvoke(state, config)
        return self._said(state, await model.ainvoke(prompted, config))

    def structure(self, state, config: RunnableConfig, runtime: Runtime):
        messages, schema = self._to_structure(state)
        return {"structured_response": _chat(self._model(state, runtime)).with_structured_output(schema).invoke(messages, config)}

    async def astructure(self, state, config: RunnableConfig, runtime: Runtime):
        messages, schema = self._to_structure(state)
        model = self._model(state, runtime)
        model = _chat(await model if inspect.isawaitable(model) else model)
        return {"structured_response": await model.with_structured_output(schema).ainvoke(messages, config)}

    def _model(self, state, runtime):
        return self.model(state, runtime) if self.chooses else self.model

    def _input(self, state):
        messages = (_of(state, "llm_input_messages") if self.pre is not None else None) or _of(state, "messages")
        if messages is None:
            raise ValueError(f"the agent's state has no messages: {state}")
        _whole(messages)
        if isinstance(state, dict):
            return {**state, "messages": messages}
        state.messages = messages
        return state

    def _prompted(self, state, config, runtime):
        if self.prompt is None:
            return _of(state, "messages")
        if isinstance(self.prompt, str):
            return [SystemMessage(self.prompt), *_of(state, "messages")]
        if isinstance(self.prompt, SystemMessage):
            return [self.prompt, *_of(state, "messages")]
        if isinstance(self.prompt, Runnable):
            return self.prompt.invoke(state, config)
        more = {"config": config, "store": runtime.store, "runtime": runtime, "writer": runtime.stream_writer}
        made = self.prompt(state, **{n: more[n] for n in list(inspect.signature(self.prompt).parameters)[1:] if n in more})
        return made.invoke(state, config) if isinstance(made, Runnable) else made

    def _said(self, state, message):
        message.name = self.name
        left, calls = _of(state, "remaining_steps"), getattr(message, "tool_calls", None) or []
        last = all(c["name"] in self.direct for c in calls)
        if left is not None and ((left < 1 and last) or (left < 2 and calls)):
            message = AIMessage("Sorry, need more steps to process this request.", id=message.id)  # as LangGraph says it: programs look for it
        return {"messages": [message]}

    def _to_structure(self, state):
        messages, schema = _of(state, "messages"), self.form
        if isinstance(schema, tuple):
            system, schema = schema
            messages = [SystemMessage(system), *messages]
        return messages, schema

    # ---- edges

    def end(self):
        return "generate_structured_response" if self.form is not None else END

    def after_model(self, state):
        last = _of(state, "messages")[-1]
        if not isinstance(last, AIMessage) or not last.tool_calls:
            return self.end()
        return "tools" if self.version == "v1" else [Send("tools", [c]) for c in last.tool_calls]

    def after_hook(self, state):
        messages = _of(state, "messages")
        answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
        said = next(m for m in reversed(messages) if isinstance(m, AIMessage))
        left = [c for c in said.tool_calls if c["id"] not in answered]
        if left:
            return [Send("tools", [c]) for c in left]
        return self.first if isinstance(messages[-1], ToolMessage) else self.end()

    def after_tools(self, state):
        for m in reversed(_of(state, "messages")):
            if not isinstance(m, ToolMessage):
                return END if isinstance(m, AIMessage) and any(c["name"] in self.direct for c in m.tool_calls) else self.first
            if m.name in self.direct:
                return END
        return self.first


def _named(name):
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise ImportError(f"the model '{name}' is made by langchain, which is not installed (pip install langchain)") from None
    return init_chat_model(name)


def _chat(model):
    model = _without(model, (RunnableBinding, BaseChatModel))
    model = model.bound if isinstance(model, RunnableBinding) else model
    if not isinstance(model, BaseChatModel):
        raise TypeError(f"response_format takes a chat model, not {type(model).__name__}")
    return model


def _agent_reads(schema, pre):
    """The schema of what the model's node is given."""
    if pre is None:
        return schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return create_model("AgentInput", llm_input_messages=(list, ...), __base__=schema)
    return TypedDict("AgentInput", {**typing.get_type_hints(schema, include_extras=True), "llm_input_messages": list})


def create_react_agent(model, tools, *, prompt=None, response_format=None, pre_model_hook=None, post_model_hook=None,
                       state_schema=None, context_schema=None, checkpointer=None, store=None, interrupt_before=None,
                       interrupt_after=None, debug=False, version="v2", name=None, **more):  # fmt: skip
    """A graph: `agent` asks the model, `tools` runs what it calls, until it calls none."""
    context_schema = context_schema or more.pop("config_schema", None)
    if more:
        raise TypeError(f"create_react_agent() takes no {', '.join(sorted(more))}")
    if version not in ("v1", "v2"):
        raise ValueError(f"there is no version '{version}' of an agent (there are: v1, v2)")
    if state_schema is None:
        state_schema = AgentStateWithStructuredResponse if response_format is not None else AgentState
    needs = {"messages", "remaining_steps", *(["structured_response"] if response_format is not None else [])}
    missing = sorted(needs - set(typing.get_type_hints(state_schema)))
    if missing:
        raise ValueError(f"the state's schema has no {', '.join(missing)}")

    builtin = [] if isinstance(tools, ToolNode) else [t for t in tools if isinstance(t, dict)]
    node = tools if isinstance(tools, ToolNode) else ToolNode([t for t in tools if not isinstance(t, dict)])
    known = list(node.tools_by_name.values())
    agent = _Agent(model, known, builtin, prompt, response_format, state_schema, pre_model_hook, post_model_hook, version, name)

    g = StateGraph(state_schema, context_schema)
    g.add_node("agent", _Both(agent.call, agent.acall), input_schema=_agent_reads(state_schema, pre_model_hook))
    if known:
        g.add_node("tools", node)
    if pre_model_hook is not None:
        g.add_node("pre_model_hook", pre_model_hook).add_edge("pre_model_hook", "agent")
    if post_model_hook is not None:
        g.add_node("post_model_hook", post_model_hook).add_edge("agent", "post_model_hook")
    if response_format is not None:
        g.add_node("generate_structured_response", _Both(agent.structure, agent.astructure))
    g.set_entry_point(agent.first)
    last = "post_model_hook" if post_model_hook is not None else "agent"
    if not known and response_format is not None:
        g.add_edge(last, "generate_structured_response")
    elif known and post_model_hook is not None:
        g.add_conditional_edges("post_model_hook", agent.after_hook, [agent.first, "tools", agent.end()])
    elif known:
        g.add_conditional_edges("agent", agent.after_model, ["tools", agent.end()])
    if agent.direct:
        g.add_conditional_edges("tools", agent.after_tools, [agent.first, END])
    elif known:
        g.add_edge("tools", agent.first)
    return g.compile(checkpointer, store=store, interrupt_before=interrupt_before, interrupt_after=interrupt_after, debug=debug, name=name)
