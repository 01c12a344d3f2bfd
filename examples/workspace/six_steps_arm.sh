#!/usr/bin/env bash
# six_steps_arm.sh [DIR [SEED]]: the same life with an arm at a table: an apple ends in the basket because it is grasped,
# carried and let go, and lies there. Each step says what it shows, and the script ends with 1 where it does not. PONS
# names the program; SEED moves the things about.
set -u -o pipefail
pons=${PONS:-pons}
dir=${1:-$(mktemp -d)}
seed=${2:-1}
dog=
trap '[ -n "$dog" ] && kill "$dog" 2>/dev/null && wait "$dog"' EXIT

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'six_steps_arm: %s\n' "$*" >&2; exit 1; }
w() { "$pons" --workspace "$dir" "$@"; }
# shown PATTERN FILE.md: whether it has such a record; until_shown waits for one.
shown() { w workspace show "$2" --json 2>/dev/null | grep -q "$1"; }
until_shown() {
    for _ in $(seq 300); do
        shown "$1" "$2" && return 0
        sleep 0.1
    done
    fail "$2 never had $1"
}
# An action of a person's own, as an editor would save it: beside the file, then renamed over it.
act() {
    sed -e "0,/\"queue\": \[/s//\"queue\": [$1/" -e 's/}\]}/}]}/' "$dir/ACTION.md" >"$dir/saved" &&
        sed -i -e 's/\(}\)\( *\)\({ *"action_id"\)/\1,\2\3/' "$dir/saved" && mv "$dir/saved" "$dir/ACTION.md"
}

say "1. onboard: the files, and which robot it is"
w onboard --robot arm_001 --world tabletop || fail "no workspace"
w workspace check >/dev/null || fail "a fresh workspace is not clean"

say "2. the watchdog: what the body sees goes into ENVIRONMENT.md, its profile into EMBODIED.md"
"$pons" --workspace "$dir" watchdog hal --speed 6 --seed "$seed" >"$dir/watchdog.log" 2>&1 &
dog=$!
until_shown '"kind":"robot_state".*"joint_7"' ENVIRONMENT.md
until_shown '"id":"apple on table"' ENVIRONMENT.md
shown '"max_reach_m":0.855' EMBODIED.md || fail "EMBODIED.md is no profile"

say "3. planner and critic: a goal in words becomes actions that pass"
w run "把苹果放进篮子" || fail "the apple is not in the basket"
for type in pick_up place; do
    shown "\"action_type\":\"$type\".*\"status\":\"completed\"" ACTION.md || fail "no $type in ACTION.md"
done
shown '"kind":"subtask".*"status":"done"' TASK.md || fail "TASK.md shows no progress"

say "4. execution: actions that a person writes are done by the watchdog"
act '{"action_id": "put", "action_type": "place", "params": {"target": "shelf"}},'
until_shown '"action_id":"put".*"status":"failed"' ACTION.md # it holds nothing: it fails, and blocks nobody
act '{"action_id": "take", "action_type": "pick_up", "params": {"object_id": "cup"}},'
until_shown '"action_id":"take".*"status":"completed"' ACTION.md
until_shown '"holding":"cup".*"robot_id":"arm_001"' ENVIRONMENT.md
act '{"action_id": "shelve", "action_type": "place", "params": {"target": "shelf"}},'
until_shown '"action_id":"shelve".*"status":"completed"' ACTION.md

say "5. write-back: what is seen afterwards stands in ENVIRONMENT.md"
until_shown '"id":"apple in basket"' ENVIRONMENT.md
until_shown '"id":"cup on shelf"' ENVIRONMENT.md
shown '"id":"apple on table"' ENVIRONMENT.md && fail "the apple is in two places"
w workspace show ENVIRONMENT.md | grep -E ' (edge|robot_state) '

say "6. a lesson: what a person takes from the arm it may not do, and the second time the lesson says so by its name"
sed -i 's/\*\*Max Payload\*\*: 3.0 kg/**Max Payload**: 0.1 kg/' "$dir/EMBODIED.md"
for id in heavy again; do
    act "{\"action_id\": \"$id\", \"action_type\": \"pick_up\", \"params\": {\"object_id\": \"cup\"}},"
    until_shown "\"action_id\":\"$id\".*\"CRITIC_REFUSED\"" ACTION.md
done
shown '"action_id":"again".*it failed before' ACTION.md || fail "the lesson was not named"
w lessons search 载荷 || fail "nothing was learnt"
w workspace show LESSONS.md --json | grep -c 超出载荷 | grep -qx 1 || fail "it was learnt twice"
w workspace check >/dev/null || fail "the workspace is not clean any more"

say "all six: $dir"
