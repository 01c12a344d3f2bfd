"""OpenAI's own client (PyPI) with a server whose model is a script: URL TOKEN. Says "ok" at the end."""
import sys

from openai import ConflictError, NotFoundError, OpenAI

url, token = sys.argv[1:]
client = OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0)
assert [m.id for m in client.models.list()] == ["agent"]
assert client.models.retrieve("agent").owned_by == "pons"
hello = [{"role": "user", "content": "hello"}]
whole = client.chat.completions.create(model="agent", messages=hello)
assert whole.choices[0].message.content == "hello there", whole
assert whole.choices[0].finish_reason == "stop"
text, usage = "", None
for chunk in client.chat.completions.create(model="agent", messages=hello, stream=True,
                                            stream_options={"include_usage": True}):
    text += "".join(c.delta.content or "" for c in chunk.choices)
    usage = chunk.usage or usage
assert text == "hello there" and usage is not None, (text, usage)
later = hello + [{"role": "assistant", "content": text}, {"role": "user", "content": "and now?"}]
assert client.chat.completions.create(model="agent", messages=later).choices[0].message.content == "once more"
marked = [{"role": "user", "content": "/do nothing"}]
client.chat.completions.create(model="agent", messages=marked)
try:
    client.chat.completions.create(model="agent", messages=marked)
    raise SystemExit("the same words acted twice")
except ConflictError as e:
    assert "done once" in str(e)
try:
    client.chat.completions.create(model="gpt", messages=hello)
    raise SystemExit("another model than the agent")
except NotFoundError:
    pass
print("ok")
