"""A small collector of traces, which checks what it gets by opentelemetry-proto's own messages (PyPI).
Prints its address, then takes spans until standard input ends, and says "ok" when they are as they should
be: OTLP's JSON has ids as hexadecimal digits, everything else as protobuf's JSON has it."""
import base64
import http.server
import json
import sys
import threading

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

spans, faults = [], []


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            for resource in body["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        for key in ("traceId", "spanId", "parentSpanId"):
                            if key in span:
                                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
            request = ParseDict(body, ExportTraceServiceRequest(), ignore_unknown_fields=False)
            for resource in request.resource_spans:
                assert any(a.key == "service.name" and a.value.string_value for a in resource.resource.attributes)
                spans.extend(s for scope in resource.scope_spans for s in scope.spans)
            assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
        except Exception as e:  # told at the end
            faults.append(repr(e))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_port}", flush=True)
sys.stdin.read()
assert not faults, faults
ids = {s.span_id for s in spans}
for s in spans:
    assert len(s.trace_id) == 16 and len(s.span_id) == 8 and s.end_time_unix_nano >= s.start_time_unix_nano > 0, s
    assert not s.parent_span_id or s.parent_span_id in ids, s
assert len(ids) == len(spans)
names = {s.name for s in spans}
assert {"invoke_agent agent", "chat", "invoke_agent robot", "decide", "execute_tool navigate_to_pose"} <= names, names
keys = {a.key for s in spans for a in s.attributes}
assert {"gen_ai.operation.name", "gen_ai.conversation.id", "gen_ai.agent.name", "gen_ai.tool.name"} <= keys, keys
print("ok")
