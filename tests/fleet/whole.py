#!/usr/bin/env python3
"""whole.py - a fleet of whole robots: bodies and brains as processes, killed at random, and what their ledgers say.

A hall for N robots, one body process each, one orchestrator with a brain for each; tasks of two stops. The
orchestrator and bodies are killed with SIGKILL at random moments. At the end, by the bodies' ledgers and the
store: no task is lost, no goal was started twice, each stop of a task that is done was worked at exactly once, and
at no look had two robots one zone.

    whole.py --pons build/pons [--robots 20] [--minutes 60] [--speed 20] [--seed 1]

--minutes are the robots' own: the run takes minutes / speed, and the time until the last task has ended
(at most --wait). It judges processes: keep others from starving them.
"""
import argparse
import collections
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WORLD = """name: hall
bounds: [-6, -6, {side}, {side}]
start: {{x: 0, y: 0, yaw: 0.0}}
robot: {{id: r, radius_m: 0.22, wheel_radius_m: 0.08, track_m: 0.34, speed_max_mps: 0.6, reverse_max_mps: 0.3,
  yaw_rate_max_radps: 1.5, accel_max_mps2: 1.0, brake_max_mps2: 2.0, yaw_accel_max_radps2: 4.0}}
battery: {{initial_pct: 95, idle_pct_per_s: 0.0005, motion_pct_per_m: 0.01, charge_pct_per_s: 1.0}}
lidar: {{beams: 60, angle_min: -3.141592653589793, angle_max: 3.141592653589793, range_min: 0.05, range_max: 12.0,
  hz: 10, noise_m: 0.01}}
odometry: {{scale_std: 0.005, yaw_scale_std: 0.01, noise_m: 0.005, noise_rad: 0.01}}
zones:
  - {{id: floor, names: {{en: [floor], zh: [地面]}}, polygon: [[-5, -5], [{inside}, -5], [{inside}, {inside}], [-5, {inside}]],
     target: {{x: 0, y: 0, yaw: 0.0}}}}
charger: {{pose: {{x: -4.5, y: -4.5, yaw: 3.141592653589793}}, contact_m: 0.12}}
map:
  resolution_m: 0.1
  boxes:
{boxes}
"""


def box(name, x, y, sx, sy):
    return f"    - {{id: {name}, x: {x}, y: {y}, sx: {sx}, sy: {sy}, kind: wall}}"


def make(pons, ws, robots, rand):
    """The workspace: a map of zones, a world in which lidars see racks between the streets, and fleet.yaml."""
    text = subprocess.run([*pons, "fleet", "map", "--robots", str(robots)], check=True, capture_output=True, text=True).stdout
    with open(f"{ws}/map.yaml", "w") as f:
        f.write(text)
    kinds, most = {}, 0.0
    for line in text.splitlines():
        if "{id:" in line:
            part = dict(re.findall(r"(\w+): ([^,\]}]+)", line))
            kinds.setdefault(part.get("kind", "lane"), []).append(part["id"])
            most = max(most, float(part["x"]), float(part["y"]))
    side = most + 6
    boxes = [box("south", side / 2 - 3, -5.9, side + 6, 0.2), box("north", side / 2 - 3, side - 0.1, side + 6, 0.2),
             box("west", -5.9, side / 2 - 3, 0.2, side + 6), box("east", side - 0.1, side / 2 - 3, 0.2, side + 6)]
    block = 16.0  # between two streets
    for i in range(int(most // block) + 1):
        for k in range(int(most // block) + 1):
            x, y = i * block + 8 + rand.uniform(-0.8, 0.8), k * block + 8 + rand.uniform(-0.8, 0.8)
            boxes.append(box(f"rack_{i}_{k}", round(x, 2), round(y, 2), round(rand.uniform(5, 8), 2), round(rand.uniform(5, 8), 2)))
    with open(f"{ws}/hall.yaml", "w") as f:
        f.write(WORLD.format(side=side, inside=side - 1, boxes="\n".join(boxes)))
    with open(f"{ws}/fleet.yaml", "w") as f:
        f.write("map: map.yaml\nrobots:\n")
        for i in range(1, robots + 1):
            f.write(f"  - {{id: r{i}, driver: kinematic, world: {ws}/hall.yaml, workspace: robots/r{i}, capabilities: [mobile], payload_kg: 5}}\n")
    subprocess.run([*pons, "onboard", "--fleet"], check=True, capture_output=True)
    return kinds["station"]


def lines(pons, *words):
    done = subprocess.run([*pons, *words, "--json"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pons", required=True)
    p.add_argument("--robots", type=int, default=20)
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--speed", type=float, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--wait", type=float, default=1800, help="seconds in which what was begun must end; default 1800")
    p.add_argument("--keep", action="store_true", help="leave the workspace there")
    a = p.parse_args()
    rand = random.Random(a.seed)
    ws = tempfile.mkdtemp(prefix="pons-fleet-")
    pons = [os.path.abspath(a.pons), "--workspace", ws]
    stations = make(pons, ws, a.robots, rand)
    posted = set()
    for i in range(int(a.robots * a.minutes / 60 * 8) + 1):
        stops = rand.sample(stations, 2)
        posted.add(lines(pons, "fleet", "assign", f"job {i + 1}", "--stops", ",".join(stops))[0]["id"])
    log = open(f"{ws}/log", "w")

    def start(*more):
        return subprocess.Popen([*pons, "fleet", "run", "--speed", str(a.speed), *more], stdout=log, stderr=log)

    begun, shared, kills, core_kills = time.monotonic(), 0, 0, 0
    core = start()
    next_core, next_body = begun + 6, begun + 4
    try:
        while (now := time.monotonic()) - begun < a.minutes * 60 / a.speed:
            time.sleep(0.2)
            if core.poll() is not None:
                print(f"the orchestrator ended with {core.returncode}: see {ws}/log")
                return 1
            if now >= next_core:  # once in a minute of theirs, but not before it has begun
                core.send_signal(signal.SIGKILL)
                core.wait()
                core_kills += 1
                core = start()
                next_core = now + max(60 / a.speed, 5) * rand.uniform(0.5, 1.5)
            if now >= next_body:
                found = glob.glob(f"{ws}/robots/*/run/body.json")
                if found:
                    try:
                        with open(rand.choice(found)) as f:
                            os.kill(json.load(f)["pid"], signal.SIGKILL)
                        kills += 1
                    except (OSError, ValueError, KeyError):
                        pass
                next_body = now + max(60 / a.speed, 4) * rand.uniform(0.5, 1.5)
            held = collections.Counter()
            for r in lines(pons, "fleet", "status"):
                if r["type"] == "robot" and r["state"] not in ("unseen", "lost"):
                    held.update({z for z in (r["zone"], r["next"]) if z})
            shared += sum(n > 1 for n in held.values())
        core.send_signal(signal.SIGKILL)
        core.wait()
        for t in lines(pons, "fleet", "status"):  # what nobody has begun is not waited for
            if t["type"] == "task" and t["state"] == "waiting":
                subprocess.run([*pons, "fleet", "cancel", t["id"]], capture_output=True)
        core = start("--once")
        try:
            core.wait(timeout=a.wait)
        except subprocess.TimeoutExpired:
            print(f"what was begun has not ended in {a.wait:g} s:")
            subprocess.run([*pons, "fleet", "status"])
    finally:
        if core.poll() is None:
            core.terminate()
            core.wait()
    tasks = [t for t in lines(pons, "fleet", "status", "--all") if t["type"] == "task"]
    states = collections.Counter(t["state"] for t in tasks)
    started, ended = collections.Counter(), collections.defaultdict(set)
    for path in glob.glob(f"{ws}/robots/*/run/body.ledger*"):
        with open(path, errors="replace") as f:
            for line in f:
                try:
                    g = json.loads(line)
                except ValueError:
                    continue
                if "goal_id" in g:
                    started[g["goal_id"]] += g.get("state") == "started"
                    if g.get("skill") == "wait" and g.get("state") == "done":
                        ended[g["args_hash"]].add(g["goal_id"])
    done = max(map(len, ended.values()), default=0)  # a brain whose move failed waits as well, but not as long
    twice = sum(n > 1 for n in started.values())
    worked = sum(2 if t["state"] == "done" else t.get("stop", 0) for t in tasks)
    lost = len(posted - {t["id"] for t in tasks}) + sum(t["state"] not in ("done", "cancelled") for t in tasks)
    print(f"{a.robots} robots, {a.minutes:g} minutes of theirs at {a.speed:g} times, seed {a.seed}: "
          f"{core_kills} kills of the orchestrator, {kills} of bodies")
    print(f"tasks: {dict(states)}, {lost} lost; stops: {worked} by the store, {done} by the ledgers; "
          f"{sum(started.values())} goals, {twice} started twice; {shared} shared zones")
    sound = core.returncode == 0 and lost == 0 and twice == 0 and shared == 0 and worked == done
    if sound and not a.keep:
        shutil.rmtree(ws)
    elif not sound:
        print(f"see {ws}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
