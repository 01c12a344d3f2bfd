#!/usr/bin/env bash
# bench/run.sh [PREFIX…] [--json]: builds the bench programs, runs them and the peers, and joins what
# they print by bench/goals.tsv into a table, or one JSON object a line. A bench program bench_X.c
# prints lines {"bench":"X.name","value":…,"unit":"…"}, a peer {"peer":…,"key":…,"value":…,"unit":…}.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 3
json=false prefixes=()
for word; do
    case $word in
    --json) json=true ;;
    -*) echo "bench: unknown option $word" >&2; exit 2 ;;
    workspace) prefixes+=(workspace lanes) ;; # its sessions too
    *) prefixes+=("$word") ;;
    esac
done
[ ${#prefixes[@]} -gt 0 ] || prefixes=("")

lines=$(mktemp) || exit 3
trap 'rm -f "$lines"' EXIT
status=0

# goals: the rows of the table that a prefix selects.
goals() {
    local prefix
    for prefix in "${prefixes[@]}"; do
        awk -F '\t' -v p="$prefix" '/^#/ || NF < 7 { next } index($1, p) == 1' bench/goals.tsv
    done | sort -u
}
[ -n "$(goals)" ] || { echo "bench: no figure begins with ${prefixes[*]}" >&2; exit 2; }

# ---------------------------------------------------------------- peers

# Installs a peer from its registry into build/peers/NAME, once for each state of its package.json.
# The SQLite binding is compiled here, as its ready-made one comes from outside the registry.
install_langgraph() {
    local dir=build/peers/langgraph stamp gyp node_dir
    stamp=$(cat bench/peers/langgraph/package.json <(node --version) | cksum)
    mkdir -p "$dir"
    cp bench/peers/langgraph/* "$dir/"
    [ "$(cat "$dir/.installed" 2>/dev/null)" = "$stamp" ] && return 0
    echo "bench: installing the peer LangGraph JS from npm into $dir" >&2
    gyp=$(command -v node-gyp || ls {"$(npm root -g 2>/dev/null)/npm",/usr/share/nodejs}/node{_modules/node-gyp,-gyp}/bin/node-gyp.js 2>/dev/null | head -n 1)
    node_dir=$(dirname "$(dirname "$(dirname "$(ls -d /usr/{,local/}include/node/node.h "$(dirname "$(readlink -f "$(command -v node)")")/../include/node/node.h" 2>/dev/null | head -n 1)")")")
    if ! { (cd "$dir" && npm install --no-audit --no-fund --ignore-scripts &&
        cd node_modules/better-sqlite3 && node "$(readlink -f "$gyp")" rebuild --release --nodedir="$node_dir"); } \
        >"$dir/install.log" 2>&1 </dev/null; then
        tail -n 5 "$dir/install.log" >&2
        echo "bench: the peer is not measured; all it said is in $dir/install.log" >&2
        return 1
    fi
    printf '%s' "$stamp" >"$dir/.installed"
}

# The same for Python, into a virtual environment of its own.
install_langgraph_python() {
    local dir=build/peers/langgraph-python stamp
    stamp=$(cat bench/peers/langgraph-python/requirements.txt <(python3 --version) | cksum)
    mkdir -p "$dir"
    cp bench/peers/langgraph-python/* "$dir/"
    [ "$(cat "$dir/.installed" 2>/dev/null)" = "$stamp" ] && return 0
    echo "bench: installing the peer LangGraph Python from PyPI into $dir" >&2
    rm -rf "$dir/venv"
    if ! { python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install --disable-pip-version-check \
        -r "$dir/requirements.txt"; } >"$dir/install.log" 2>&1 </dev/null; then
        tail -n 5 "$dir/install.log" >&2
        echo "bench: the peer is not measured; all it said is in $dir/install.log" >&2
        return 1
    fi
    printf '%s' "$stamp" >"$dir/.installed"
}

run_peer() { # DIR RUNNER EXTENSION KEY…: the scripts that give these keys
    local dir=build/peers/$1 runner=$2 extension=$3 script key
    shift 3
    for script in $(for key; do
        case $key in loop) echo loop ;; start | pss) echo start ;; *) echo durable ;; esac
    done | sort -u); do
        echo "bench: ${dir##*/} $script" >&2
        if [ "$script" = start ]; then # the middle one of five
            for _ in 1 2 3 4 5; do
                (cd "$dir" && STARTED_MS=$(date +%s%3N) $runner "start.$extension")
            done | sed -E 's/": +/":/g; s/, +"/,"/g' | sort -t: -k4 -n | awk -F '"key":"|","value":|,"unit"' \
                '{ n[$2]++; line[$2, n[$2]] = $0 } END { for (k in n) print line[k, int((n[k] + 1) / 2)] }'
        else
            (cd "$dir" && $runner "$script.$extension")
        fi
    done >>"$lines"
}

# Installs a peer with one command, once for each state of its folder: PEER FOLDER COMMAND…
install_peer() {
    local peer=$1 dir=build/peers/$2 stamp
    stamp=$(cat "bench/peers/$2"/* | cksum)
    mkdir -p "$dir"
    cp "bench/peers/$2"/* "$dir/"
    [ "$(cat "$dir/.installed" 2>/dev/null)" = "$stamp" ] && return 0
    echo "bench: installing the peer $peer into $dir" >&2
    if ! (cd "$dir" && shift 2 && eval "$*") >"$dir/install.log" 2>&1 </dev/null; then
        tail -n 3 "$dir/install.log" >&2
        echo "bench: the peer is not measured; all it said is in $dir/install.log" >&2
        return 1
    fi
    printf '%s' "$stamp" >"$dir/.installed"
}

run_mistreevous() { # KEY…
    install_peer mistreevous mistreevous npm install --no-audit --no-fund --ignore-scripts || return 0
    echo "bench: mistreevous $*" >&2
    (cd build/peers/mistreevous && node bt.mjs "$@") >>"$lines"
}

run_behaviortree_cpp() { # KEY…
    install_peer BehaviorTree.CPP behaviortree_cpp 'python3 -m venv venv && venv/bin/pip install -q -r requirements.txt' ||
        return 0
    echo "bench: behaviortree-cpp $*" >&2
    (cd build/peers/behaviortree_cpp && venv/bin/python bt.py "$@") >>"$lines"
}

# It starts the model server itself, the one that bench_agent.c has.
run_scipy() { # KEY…
    install_peer SciPy scipy 'python3 -m venv venv && venv/bin/pip install -q -r requirements.txt' || return 0
    echo "bench: scipy $*" >&2
    build/peers/scipy/venv/bin/python build/peers/scipy/match.py >>"$lines"
}

run_langgraph_agent() { # KEY…
    install_peer "LangGraph JS with an agent" langgraph-agent npm install --no-audit --no-fund --ignore-scripts || return 0
    ninja -C build --quiet scripted_model >&2 || return 0
    echo "bench: langgraph-agent $*" >&2
    (cd build/peers/langgraph-agent && SCRIPTED_MODEL=$OLDPWD/build/tests/scripted_model node agent.mjs) >>"$lines"
}

# ---------------------------------------------------------------- ours

programs=$(ls bench/bench_*.c 2>/dev/null | sed -E 's#.*/(bench_[a-z0-9_]+)\.c#\1#')
for program in $programs; do
    family=${program#bench_}
    case $family in keep | heart) family=brain ;; esac # the brain's, in programs of their own
    goals | cut -f 1 | grep -q "^$family\." || continue
    with=
    [ "$family" != agent ] || with=scripted_model # it asks a model's server
    # shellcheck disable=SC2086 # nothing, or one word
    ninja -C build --quiet "$program" $with >&2 || { status=1; continue; }
    echo "bench: $program" >&2
    # shellcheck disable=SC2046 # one word a line of the program
    PONS_SHARE=$PWD PONS_MODULE_PATH=$PWD/build/lib/pons PONS_PROGRAM=$PWD/build/pons \
        "build/bench/$program" $(goals | awk -F '\t' -v f="$family." \
            'index($2, f) == 1 { print $2 } $4 ~ /^@/ { print substr($4, 2) }' | sort -u) \
        >>"$lines" || status=1
done
keys() { goals | awk -F '\t' -v who="$1" '$3 == who { print $4 }'; }
# shellcheck disable=SC2046 # one word a key
[ -z "$(keys langgraph-js)" ] || ! install_langgraph || run_peer langgraph node mjs $(keys langgraph-js)
# shellcheck disable=SC2046
[ -z "$(keys langgraph-python)" ] || ! install_langgraph_python ||
    run_peer langgraph-python venv/bin/python py $(keys langgraph-python)
for peer in mistreevous behaviortree-cpp scipy langgraph-agent; do
    # shellcheck disable=SC2046
    [ -z "$(keys $peer)" ] || "run_${peer//-/_}" $(keys $peer)
done

# ---------------------------------------------------------------- together

goals | awk -F '\t' -v json=$json '
function field(text, name,   rest) {
    if (!match(text, "\"" name "\": *")) return ""
    rest = substr(text, RSTART + RLENGTH)
    if (rest ~ /^"/) { rest = substr(rest, 2); sub(/".*/, "", rest) } else sub(/[,} ].*/, "", rest)
    return rest
}
function short(x) { return x == "" ? "-" : x >= 1000 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
FILENAME == ARGV[1] {
    if (field($0, "bench") != "") { value[field($0, "bench")] = field($0, "value"); unit[field($0, "bench")] = field($0, "unit") }
    else if (field($0, "peer") != "") peer[field($0, "peer"), field($0, "key")] = field($0, "value")
    next
}
{
    if (!($2 in value)) { print "bench: " $1 " was not measured" >"/dev/stderr"; missed = 1; next }
    v = value[$2]; who = $3; pv = ""
    if (who != "-") pv = $4 ~ /^@/ ? value[substr($4, 2)] : peer[who, $4]
    ratio = pv > 0 ? v / pv : ""
    judged = $5 == "ratio" ? ratio : v
    met = ($7 == "-" || judged == "") ? "null" : ($6 == "min" ? judged + 0 >= $7 + 0 : judged + 0 <= $7 + 0) ? "true" : "false"
    if (json == "true") {
        printf "{\"bench\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", $1, v, unit[$2]
        printf ",\"peer\":%s,\"peer_value\":%s", pv == "" ? "null" : "\"" who "\"", pv == "" ? "null" : sprintf("%.6g", pv)
        printf ",\"ratio\":%s,\"goal\":%s,\"goal_on\":\"%s\",\"met\":%s}\n", ratio == "" ? "null" : sprintf("%.6g", ratio), $7 == "-" ? "null" : $7, $5, met
    } else {
        if (!head++) printf "%-24s %12s %-10s %-16s %12s %8s  %-16s %s\n", "bench", "value", "unit", "peer", "peer value", "ratio", "goal", "met"
        goal = $7 == "-" ? "-" : ($6 == "min" ? ">= " : "<= ") $7 ($5 == "ratio" ? " x" : " " unit[$2])
        printf "%-24s %12s %-10s %-16s %12s %8s  %-16s %s\n", $1, short(v), unit[$2], pv == "" ? "-" : who, short(pv), short(ratio), goal, met == "true" ? "yes" : met == "false" ? "NO" : "-"
    }
}
END { exit missed }' "$lines" - || status=1
exit $status
