#!/usr/bin/env bash
# run.sh PONS PEERS: recordings of a scenario and of a run that is killed, read by readers that nobody here wrote (PyPI
# mcap, npm @mcap/core in PEERS), which must count what `pons record info` counts; written again by PyPI's mcap in each of
# its ways, and replayed by us; of a body that ROS 2 sees, whose messages PyPI's mcap-ros2-support and npm's
# @foxglove/rosmsg2-serialization must read alike; and the same topics live, to npm's @foxglove/ws-protocol.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
pons=$1 peers=$2 failed=0
work=$(mktemp -d /tmp/pons-recordings-XXXXXX)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.mjs "$peers/" # they import what lies there

ours() { "$pons" record info "$1" --json | python3 -c 'import json,sys; print(json.dumps({t["topic"]: t["messages"] for t in json.load(sys.stdin)["topics"] if t["messages"]}))'; }
same() { # NAME FILE whole|cut
    local want
    want=$(ours "$2" | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin), sort_keys=True))')
    for reader in "$peers/venv/bin/python $here/read.py" "node $peers/read.mjs"; do
        # shellcheck disable=SC2086 # two words
        got=$($reader "$2" "$3" | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin), sort_keys=True))')
        if [ -n "$want" ] && [ "$want" != "{}" ] && [ "$want" = "$got" ]; then
            echo "ok    $1: ${reader##*/}"
        else
            echo "FAIL  $1: ${reader##*/}"
            echo "      ours   $want"
            echo "      theirs $got"
            failed=1
        fi
    done
}

"$pons" scenario run 1-navigate --record "$work/scenario.mcap" >/dev/null || failed=1
same "a scenario" "$work/scenario.mcap" whole
"$pons" --workspace "$work/w" run --driver kinematic --speed 4 --record "$work/run.mcap" 去厨房 >/dev/null 2>&1 || failed=1
same "a run" "$work/run.mcap" whole
"$pons" --workspace "$work/w2" run --driver kinematic --record "$work/killed.mcap" 去厨房 >/dev/null 2>&1 &
run=$!
until [ "$(stat -c %s "$work/killed.mcap" 2>/dev/null || echo 0)" -gt 30000 ] || ! kill -0 $run 2>/dev/null; do sleep 0.1; done
kill -9 $run
wait $run 2>/dev/null
kill "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["pid"])' "$work/w2/run/body.json")" 2>/dev/null
same "a run that was killed" "$work/killed.mcap" cut

# What others write of it is counted and replayed as ours.
want=$(ours "$work/run.mcap") lines=$("$pons" replay "$work/run.mcap" --json 2>/dev/null | cksum)
for how in "none unchunked" "none chunked" "lz4 chunked" "zstd chunked"; do
    # shellcheck disable=SC2086 # two words
    if "$peers/venv/bin/python" "$here/write.py" "$work/run.mcap" "$work/again.mcap" $how &&
        [ "$(ours "$work/again.mcap")" = "$want" ] &&
        [ "$("$pons" replay "$work/again.mcap" --json 2>/dev/null | cksum)" = "$lines" ]; then
        echo "ok    written by another: $how"
    else
        echo "FAIL  written by another: $how"
        failed=1
    fi
done

if [ -e "$(dirname "$pons")/lib/pons/topics-ros2.so" ]; then
    export CYCLONEDDS_URI='<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>' ROS_DOMAIN_ID=$((1 + $$ % 200))
    "$pons" --workspace "$work/w4" body --driver kinematic --ros2 >"$work/body.log" 2>&1 &
    body=$!
    "$pons" --workspace "$work/w4" record "$work/ros2.mcap" --ros2 >"$work/record.log" 2>&1 &
    record=$!
    until [ -e "$work/w4/run/body.sock" ] || ! kill -0 $body 2>/dev/null; do sleep 0.1; done
    "$pons" --workspace "$work/w4" run "go to 1.5 2.0" >/dev/null 2>&1 || failed=1
    kill -INT $record
    wait $record || failed=1
    kill $body
    wait $body 2>/dev/null
    python=$("$peers/venv/bin/python" "$here/ros2.py" "$work/ros2.mcap" | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin), sort_keys=True))')
    node=$(node "$peers/ros2.mjs" "$work/ros2.mcap" | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin), sort_keys=True))')
    want=$("$pons" record info "$work/ros2.mcap" --json | python3 -c 'import json,sys; print(json.dumps({t["topic"]: t["messages"] for t in json.load(sys.stdin)["topics"] if t["encoding"] == "cdr" and t["messages"]}, sort_keys=True))')
    got=$(python3 -c 'import json,sys; print(json.dumps({k: v[1] for k, v in json.loads(sys.argv[1]).items()}, sort_keys=True))' "$node")
    all=yes
    for topic in /scan /odom /tf /map /battery_state; do
        [[ $python == *"\"$topic\": [\""*"_msgs/msg/"* ]] || all=no
    done
    if [ "$all" = yes ] && [ "$python" = "$node" ] && [ "$want" = "$got" ]; then
        echo "ok    what ROS 2 says: $got"
    else
        echo "FAIL  what ROS 2 says"
        printf '      %s\n' "ours   $want" "python $python" "node   $node"
        cat "$work/record.log"
        failed=1
    fi
fi

"$pons" --workspace "$work/w3" serve --driver kinematic --speed 4 --listen 127.0.0.1:0 --json >"$work/serve.log" 2>&1 &
serve=$!
until grep -q '"serve.ready"' "$work/serve.log" || ! kill -0 $serve 2>/dev/null; do sleep 0.1; done
at=$(python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["url"].split("/")[2])' <"$work/serve.log")
node "$peers/foxglove.mjs" "$at" "$(awk '$1 == "operator" { print $2 }' "$work/w3/run/serve.token")" || failed=1
kill $serve 2>/dev/null
wait $serve
exit $failed
