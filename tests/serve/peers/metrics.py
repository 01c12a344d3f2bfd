"""What /metrics says, read by Prometheus' own client for Python and by promtool: URL TOKEN."""
import os
import subprocess
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

url, token = sys.argv[1:3]
ask = urllib.request.Request(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"})
text = urllib.request.urlopen(ask).read().decode()
families = {f.name: f for f in text_string_to_metric_families(text)}
for name, kind in (("pons_decisions", "counter"), ("pons_effects", "counter"), ("pons_store_commits", "counter"),
                   ("pons_store_commit_seconds", "histogram"), ("pons_http_request_seconds", "histogram"), ("pons_queue_tasks", "gauge")):
    assert families[name].type == kind, (name, families[name].type)
assert sum(s.value for s in families["pons_store_commits"].samples) > 0
promtool = os.path.join(os.environ["PONS_SERVE_PEERS"], "promtool")
if os.path.exists(promtool):
    checked = subprocess.run([promtool, "check", "metrics"], input=text, text=True, capture_output=True)
    assert checked.returncode == 0 and not checked.stderr, checked.stderr
else:
    print("without promtool (it is in Debian's package prometheus)")
print("ok")
