#!/usr/bin/env python3
"""Random matrices beside SciPy's linear_sum_assignment: the cost must be equal.

    build/tests/fleet_peer must be built; python3 needs scipy (PyPI).
    tests/fleet/peer/compare.py build/tests/fleet_peer [MATRICES]
"""
import struct
import subprocess
import sys
import time

import numpy
from scipy.optimize import linear_sum_assignment


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    draw = numpy.random.default_rng(1)
    peer = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wrong = 0
    ours_s = theirs_s = 0.0
    for k in range(count):
        rows, columns = (int(n) for n in draw.integers(1, 200, 2))
        if k % 50 == 0:
            rows = columns = 1000
        cost = draw.random((rows, columns)) * 1000 - (500 if k % 3 else 0)
        if k % 4 == 1:
            cost = numpy.floor(cost / 100)  # many are equal
        began = time.perf_counter()
        peer.stdin.write(struct.pack("ii", rows, columns) + cost.tobytes())
        peer.stdin.flush()
        said = float(peer.stdout.readline())
        ours_s += time.perf_counter() - began
        began = time.perf_counter()
        i, j = linear_sum_assignment(cost)
        theirs_s += time.perf_counter() - began
        least = float(cost[i, j].sum())
        if abs(said - least) > 1e-6 * max(1.0, abs(least)):
            wrong += 1
            print(f"matrix {k}, {rows} x {columns}: {said} and not {least}")
    peer.stdin.close()
    print(f"{count} matrices, {wrong} not equal; {ours_s:.1f} s here, {theirs_s:.1f} s there")
    return 1 if wrong or peer.wait() else 0


sys.exit(main())
