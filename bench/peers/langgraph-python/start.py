# From exec to the first event of a run with a SQLite checkpointer, and the memory (PSS) after it.
# STARTED_MS is the time of exec.
import os
import re
import tempfile
import time

from common import counter, saver, show

with tempfile.TemporaryDirectory(prefix="pons-bench-") as folder:
    graph = counter(20, saver(os.path.join(folder, "start.db")))
    begun = None
    for _ in graph.stream({"n": 0}, {"configurable": {"thread_id": "t"}, "recursion_limit": 50}, stream_mode="updates"):
        begun = begun or time.time()
    with open("/proc/self/smaps_rollup", encoding="ascii") as rollup:
        pss = int(re.search(r"^Pss:\s+(\d+) kB", rollup.read(), re.M).group(1))
show("start", begun * 1000 - float(os.environ["STARTED_MS"]), "ms")
show("pss", pss / 1024, "MiB")
