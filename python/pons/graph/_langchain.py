"""LangChain's side of the stream mode `messages`. Only imported where langchain_core is."""

import uuid

from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk
from langchain_core.runnables.config import ensure_config, var_child_runnable_config

from ..constants import TAG_NOSTREAM

try:  # what has models stream also when they are invoked
    from langchain_core.tracers._streaming import _StreamingCallbackHandler
except ImportError:
    _StreamingCallbackHandler = object


class Handler(BaseCallbackHandler, _StreamingCallbackHandler):
    """One node's: what models say that it calls, or that what it calls calls."""

    run_inline = True

    def __init__(self, at, seen):
        self.at, self.seen, self.runs = at, seen, {}

    def tap_output_aiter(self, run_id, output):
        return output

    def tap_output_iter(self, run_id, output):
        return output

    def on_chat_model_start(self, serialized, messages, *, run_id, tags=None, metadata=None, **_):
        if TAG_NOSTREAM in (tags or ()):
            return
        shown = [t for t in tags or () if not t.startswith("seq:step")]
        self.runs[run_id] = {**(metadata or {}), **({"tags": shown} if shown else {})}

    def on_llm_new_token(self, token, *, chunk=None, run_id, **_):
        if run_id in self.runs and isinstance(chunk, ChatGenerationChunk):
            self.say(chunk.message, run_id, True)

    def on_llm_end(self, response, *, run_id, **_):
        if run_id in self.runs and response.generations and response.generations[0]:
            made = response.generations[0][0]
            if isinstance(made, ChatGeneration):
                self.say(made.message, run_id, False)
        self.runs.pop(run_id, None)

    def on_llm_error(self, error, *, run_id, **_):
        self.runs.pop(run_id, None)

    def say(self, message: BaseMessage, run_id, chunk):
        if not chunk and message.id in self.seen:
            return
        if message.id is None:
            message.id = str(uuid.uuid4())
        self.seen.add(message.id)
        self.at.say(message, self.runs[run_id])


def config_of(config, at, seen):
    """The run's config as LangChain has it, with the node's handler among the callbacks."""
    made = {k: v for k, v in config.items() if k in ("tags", "metadata", "callbacks", "configurable", "recursion_limit") and v}
    if at is not None:
        # A manager: one that comes both ways, by the context and by the node's own hands, is merged with itself.
        callbacks, handler = made.get("callbacks"), Handler(at, seen)
        if callbacks is None or isinstance(callbacks, list):
            made["callbacks"] = CallbackManager([*(callbacks or ()), handler], [*(callbacks or ()), handler])
        else:
            made["callbacks"] = callbacks.copy()
            made["callbacks"].add_handler(handler, inherit=True)
    return ensure_config(made)


def below(config, fn):
    token = var_child_runnable_config.set(config)
    try:
        return fn(config)
    finally:
        var_child_runnable_config.reset(token)
