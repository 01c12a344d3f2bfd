#!/usr/bin/env bash
# run.sh PROGRAM: a goal driven to in a real Gazebo server, headless, in the house that pons ships; then a
# stop. Ends with 3, and says so, where no server is installed.
set -u
program=$1 here=$(cd "$(dirname "$0")/../.." && pwd)
if command -v ign >/dev/null && ign gazebo --versions >/dev/null 2>&1; then
    server=(ign gazebo)
elif command -v gz >/dev/null && gz sim --versions 2>/dev/null | grep -q '^6\.'; then
    server=(gz sim)
else
    echo "gazebo: no server is installed (ign gazebo, of Fortress): nothing was tried against a real one" >&2
    exit 3
fi
dir=$(mktemp -d)
export IGN_PARTITION=pons-lane-$$ IGN_IP=127.0.0.1 PONS_SHARE=$here PONS_WORKSPACE=$dir/work
mkdir -m 700 "$dir/work"
"${server[@]}" -s -r "$here/worlds/house.sdf" >"$dir/server.log" 2>&1 &
pid=$!
status=0
timeout 300 "$program" run --driver gazebo "go to the corridor" || status=1
"$program" stop || status=1
kill "$pid"
wait "$pid" 2>/dev/null
[ $status = 0 ] || tail -n 20 "$dir/server.log" >&2
rm -rf "$dir"
[ $status = 0 ] && echo "gazebo: driven, and stopped"
exit $status
