#!/usr/bin/env bash
# run.sh PONS PEERS: recordings of a scenario and of a run that is killed, read by readers that nobody here wrote (PyPI
# mcap, npm @mcap/core in PEERS), which must count what `pons record info` counts; and the same topics live, to npm's
# @foxglove/ws-protocol.
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

"$pons" --workspace "$work/w3" serve --driver kinematic --speed 4 --listen 127.0.0.1:0 --json >"$work/serve.log" 2>&1 &
serve=$!
until grep -q '"serve.ready"' "$work/serve.log" || ! kill -0 $serve 2>/dev/null; do sleep 0.1; done
at=$(python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["url"].split("/")[2])' <"$work/serve.log")
node "$peers/foxglove.mjs" "$at" "$(awk '$1 == "operator" { print $2 }' "$work/w3/run/serve.token")" || failed=1
kill $serve 2>/dev/null
wait $serve
exit $failed
