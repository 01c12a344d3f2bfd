# Supersteps a second without a checkpointer: the same graph as graph.loop in bench_graph.c.
from common import best_rate, counter, show

STEPS = 1000
graph = counter(STEPS)


def run(_):
    end = graph.invoke({"n": 0}, {"recursion_limit": STEPS + 10})
    assert end["n"] == STEPS


show("loop", best_rate(STEPS, run), "steps/s")
