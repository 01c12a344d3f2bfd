#!/usr/bin/env python3
"""`pons serve` with clients that were not written here: run.py PONS. The clients are in the folder
$PONS_SERVE_PEERS (`./dev test --serve-peers` makes it): node_modules, venv/ and promtool."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PEERS = Path(os.environ["PONS_SERVE_PEERS"])
PYTHON = PEERS / "venv" / "bin" / "python"


class Server:
    """`pons serve` in a workspace of its own, with free ports."""

    def __init__(self, program, workspace, *options, log, env=None):
        self.log = open(Path(log) / "stderr", "ab")
        self.process = subprocess.Popen(
            [program, "serve", "--workspace", workspace, "--listen", "127.0.0.1:0", "--driver", "kinematic",
             "--speed", "10", "--json", *options], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, **(env or {})})
        for line in self.process.stdout:
            ready = json.loads(line)
            if ready.get("type") == "serve.ready":
                break
        else:
            raise SystemExit("pons serve did not start: " + (Path(log) / "stderr").read_text())
        self.url = ready["url"]
        self.tokens = dict(line.split() for line in Path(ready["token_file"]).read_text().splitlines())
        subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)  # its events

    def end(self):
        self.process.terminate()
        self.process.wait(120)


def run(*words):
    return subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main(program):
    bad = 0

    def result(name, process):
        nonlocal bad
        said, _ = process.communicate(timeout=600)
        good = process.returncode == 0 and said.rstrip().endswith("ok")
        bad += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}{'' if good else chr(10) + said}", flush=True)

    with tempfile.TemporaryDirectory(prefix="pons-peers-") as workspace:
        script = Path(workspace) / "script.yaml"
        collector = subprocess.Popen([str(PYTHON), str(HERE / "collector.py")], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        traces = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.stdout.readline().strip()}
        script.write_text("replies:\n- content: hello there\n- content: once more\n")
        server = Server(program, workspace + "/w", "--tools", "robot,core", log=workspace, env=traces)
        operator, viewer = server.tokens["operator"], server.tokens["viewer"]
        # Two clients of one language at once, then another one of the other.
        one = run("node", HERE / "mcp_client.mjs", server.url, operator, "one")
        two = run(PYTHON, HERE / "mcp_client.py", server.url, operator, "two")
        result("mcp: npm @modelcontextprotocol/sdk", one)
        result("mcp: PyPI mcp, at the same time", two)
        result("prometheus: client for Python, promtool", run(PYTHON, HERE / "metrics.py", server.url, viewer))
        server.end()
        server = Server(program, workspace + "/w", "--llm", f"script:{script}", log=workspace, env=traces)
        result("openai: PyPI openai", run(PYTHON, HERE / "openai_client.py", server.url, server.tokens["operator"]))
        server.end()
        result("opentelemetry: what a collector got", collector)
    print(f"{bad} failed" if bad else "all of them passed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
