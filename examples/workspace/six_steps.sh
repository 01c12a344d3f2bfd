#!/usr/bin/env bash
# six_steps.sh [DIR]: a workspace's life, from its first file to its first lesson, on the wheeled base in the house.
# Each step says what it shows, and the script ends with 1 where it does not. PONS names the program.
set -u -o pipefail
pons=${PONS:-pons}
dir=${1:-$(mktemp -d)}
dog=
trap '[ -n "$dog" ] && kill "$dog" 2>/dev/null && wait "$dog"' EXIT

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'six_steps: %s\n' "$*" >&2; exit 1; }
w() { "$pons" --workspace "$dir" "$@"; }
# until PATTERN FILE.md: waits for a record that has it.
until_shown() {
    for _ in $(seq 300); do
        w workspace show "$2" --json 2>/dev/null | grep -q "$1" && return 0
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
w onboard || fail "no workspace"
sed -i 's/"driver": "mujoco"/"driver": "kinematic"/' "$dir/config.json"
w workspace check >/dev/null || fail "a fresh workspace is not clean"

say "2. the watchdog: what the body sees goes into ENVIRONMENT.md, its profile into EMBODIED.md"
"$pons" --workspace "$dir" watchdog hal --speed 20 >"$dir/watchdog.log" 2>&1 &
dog=$!
until_shown '"kind":"robot_state"' ENVIRONMENT.md
w workspace show EMBODIED.md --json | grep -q '"max_speed_mps":0.6' || fail "EMBODIED.md is no profile"

say "3. planner and critic: a goal in words becomes actions that pass"
w run "go to the kitchen, then go to the study" || fail "the goal was not reached"
w workspace show TASK.md --json | grep -c '"status":"done"' | grep -qx 2 || fail "TASK.md shows no progress"

say "4. execution: an action that a person writes is done by the watchdog"
act '{"action_id": "mine", "action_type": "target_navigation", "params": {"target_label": "bedroom"}},'
until_shown '"action_id":"mine".*"status":"completed"' ACTION.md

say "5. write-back: the robot stands where ENVIRONMENT.md says"
w workspace show ENVIRONMENT.md | grep robot_state

say "6. a lesson: what this body cannot do is refused, and the second time by the lesson's name"
for id in heavy again; do
    act "{\"action_id\": \"$id\", \"action_type\": \"pick_up\", \"params\": {\"object_id\": \"apple_01\"}},"
    until_shown "\"action_id\":\"$id\".*\"status\":\"failed\"" ACTION.md
done
w lessons search apple_01 || fail "nothing was learnt"
w workspace show LESSONS.md --json | grep -c '"kind":"lesson"' | grep -qx 1 || fail "it was learnt twice"
w workspace check >/dev/null || fail "the workspace is not clean any more"

say "all six: $dir"
