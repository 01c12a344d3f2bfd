"""The stream mode `messages`: what chat models say while they say it, and what messages nodes return.

LangChain tells of a model's tokens by callbacks, which a model finds in the config of whoever calls it. Each
node of a run that streams messages has a handler there, which gives them to the engine (pons_cx_message). A
message is shown once: by its chunks, or whole. Without LangChain there are the messages that nodes return.
"""

import sys
import uuid


def of(call, streams):
    """What nodes of a run need of it, or None."""
    wants = streams or any(call.config.get(k) for k in ("callbacks", "tags", "metadata"))
    if not wants or (not streams and "langchain_core" not in sys.modules):
        return None
    try:
        import langchain_core.callbacks  # noqa: F401
    except ImportError:
        return Tokens(call, streams, None) if streams else None
    from . import _langchain

    return Tokens(call, streams, _langchain)


def around(at, given, fn):
    """fn(config) in a node, a task or an entrypoint."""
    tokens = at.call.tokens
    return fn(at.call.config) if tokens is None else tokens.around(at, given, fn)


class Tokens:
    def __init__(self, call, streams, chain):
        self.call, self.streams, self.chain, self.seen = call, streams, chain, set()

    def around(self, at, given, fn):
        """fn(config), which waits for what it calls, as LangChain's models see it: below this run's config."""
        if self.streams:
            for m in _messages(given):
                if _id(m) is not None:
                    self.seen.add(_id(m))
        if self.chain is None:
            made = fn(self.call.config)
        else:
            made = self.chain.below(self.chain.config_of(self.call.config, at if self.streams else None, self.seen), fn)
        if self.streams:
            self._returned(at, made)
        return made

    def _returned(self, at, made):
        for part in made if isinstance(made, (list, tuple)) else [made]:
            given = getattr(part, "update", part) if type(part).__name__ == "Command" else part
            for m in _messages(given):
                if _id(m) is None:
                    m.__setitem__("id", str(uuid.uuid4())) if isinstance(m, dict) else setattr(m, "id", str(uuid.uuid4()))
                if _id(m) not in self.seen:
                    self.seen.add(_id(m))
                    at.say(m, {})


def _id(m):
    return m.get("id") if isinstance(m, dict) else m.id


def _is(m):
    if isinstance(m, dict):  # as they are kept where there is no LangChain
        return "content" in m and m.get("type") in ("human", "ai", "system", "tool", "function")
    return hasattr(m, "content") and hasattr(m, "model_dump") and hasattr(m, "type")


def _messages(v):
    if _is(v):
        return [v]
    if isinstance(v, (list, tuple)):
        return [m for m in v if _is(m)]
    values = v.values() if isinstance(v, dict) else vars(v).values() if hasattr(v, "__dict__") else ()
    return [m for x in values for m in ([x] if _is(x) else x if isinstance(x, (list, tuple)) else ()) if _is(m)]
