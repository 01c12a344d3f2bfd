// bench_plan.c - what a plan's way through JSON costs. One JSON object a line; arguments choose
// benches by the beginning of their names.
//
//   plan.roundtrip   plans a second: the text of a 1,000-step plan parsed, validated (types, words,
//                    unique ids) and written as canonical JSON; the best of many rounds
//   plan.python      the same by bench/peers/plan/plan_peer.py (json and dataclasses), on the same
//                    text, and giving the same bytes
#include "bench.h"
#include "pons/buf.h"
#include "pons/plan.h"

enum { STEPS = 1000, ROUNDS = 200 };

// A plan as models write it: blanks behind commas and colons, keys in the order of the protocol.
static void make(pons_buf *b)
{
    static const char *const actions[] = {"move_to", "inspect", "pick", "place", "speak_report"};
    static const char *const types[] = {"execute", "query_world", "execute", "execute", "speak"};
    pons_buf_str(b, "{\"plan_id\": \"plan_0000beef\", \"goal\": \"inspect every zone\", "
                    "\"reasoning\": \"\", \"risk_level\": \"low\", \"requires_confirmation\": "
                    "false, \"confirmation_message\": null, \"steps\": [");
    for (int i = 0; i < STEPS; i++) {
        pons_buf_printf(
            b,
            "%s{\"step_id\": %d, \"action\": \"%s\", \"tool_call_type\": \"%s\", \"parameters\": "
            "{\"target\": \"zone_%d\", \"speed\": %g, \"pose\": {\"x\": %d.5, \"y\": 2, \"yaw\": "
            "0.0}}, \"preconditions\": {\"battery_above\": 20}, \"fallback\": %s, \"status\": "
            "\"pending\", \"description\": \"巡检区域 %d: go there and look\", "
            "\"requires_confirmation\": %s, \"confirmation_message\": null, \"metadata\": "
            "{\"source\": \"planner\", \"priority\": %d}}",
            i ? ", " : "", i + 1, actions[i % 5], types[i % 5], i % 17, 0.25 + 0.125 * (i % 4),
            i % 7, i % 3 ? "null" : "\"stop\"", i, i % 50 ? "false" : "true", i % 4);
    }
    pons_buf_str(b, "], \"status\": \"created\", \"created_at\": 1700000000.25, \"source\": "
                    "\"llm\", \"metadata\": {}}");
}

static char *round_trip(const pons_buf *text)
{
    const pons_plan_read_options options = {.goal = NULL};
    pons_plan *p = NULL;
    pons_error err = PONS_ERROR_INIT;
    char *out = NULL;
    bench_must(pons_plan_read(text->data, text->len, &options, &p, &err), &err);
    if (pons_plan_text(p, &out) < 0) {
        exit(1);
    }
    pons_plan_destroy(p);
    return out;
}

static double ours(const pons_buf *text)
{
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        const double started = bench_now_s();
        free(round_trip(text));
        const double took = bench_now_s() - started;
        best = took < best ? took : best;
    }
    return 1 / best;
}

// Runs the peer on the same text, and compares what both wrote byte for byte. < 0: no Python.
static double python(const pons_buf *text)
{
    char dir[128], in[160], out[160], command[512], line[256];
    double value = -1;
    bench_folder(dir, sizeof dir);
    snprintf(in, sizeof in, "%s/plan.json", dir);
    snprintf(out, sizeof out, "%s/out.json", dir);
    FILE *f = fopen(in, "w");
    if (!f || fwrite(text->data, 1, text->len, f) != text->len || fclose(f) != 0) {
        exit(1);
    }
    snprintf(command, sizeof command, "python3 bench/peers/plan/plan_peer.py %s %s", in, out);
    FILE *peer = popen(command, "r");
    if (peer && fgets(line, sizeof line, peer)) {
        sscanf(line, "{\"peer\": \"python-dataclasses\", \"key\": \"plan\", \"value\": %lf",
               &value);
    }
    if (peer) {
        pclose(peer);
    }
    char *mine = round_trip(text), *theirs = calloc(1, strlen(mine) + 2);
    f = fopen(out, "r");
    if (value > 0 && f && theirs) {
        const size_t n = fread(theirs, 1, strlen(mine) + 1, f);
        if (n != strlen(mine) || memcmp(mine, theirs, n) != 0) {
            fputs("bench_plan: the peer wrote another text\n", stderr);
            exit(1);
        }
    }
    if (f) {
        fclose(f);
    }
    free(mine);
    free(theirs);
    bench_remove(dir);
    return value;
}

int main(int argc, char **argv)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_value_init();
    make(&text);
    if (bench_wants(argc, argv, "plan.roundtrip")) {
        bench_print("plan.roundtrip", ours(&text), "plans/s");
    }
    if (bench_wants(argc, argv, "plan.python")) {
        const double value = python(&text);
        if (value > 0) {
            bench_print("plan.python", value, "plans/s");
        }
    }
    return 0;
}
