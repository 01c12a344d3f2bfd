// spec.c - see spec.h.
#include "graph/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 4, SCRIPT_MAX = 512 };

// ---- nodes --------------------------------------------------------------------------------------

static int to_log(pons_cx *cx, const pons_value *v)
{
    return pons_cx_put(cx, "log", v ? pons_value_ref(v) : json_null());
}

static int echo(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = pons_value_ref(args);
    return PONS_OK;
}

// "put log 'a'" as up to three words, the last one the rest of the line.
static int split(char *line, int n, char *words[WORDS_MAX])
{
    int have = 0;
    while (have < n && *line) {
        line += strspn(line, " ");
        words[have++] = line;
        if (have == n) {
            break;
        }
        line += strcspn(line, " ");
        if (*line) {
            *line++ = '\0';
        }
    }
    for (int i = have; i < n; i++) {
        words[i] = line + strlen(line);
    }
    return have;
}

static int one_word(pons_cx *cx, spec_node *n, char *line, pons_error *err)
{
    char *w[WORDS_MAX];
    const pons_value *answer = NULL;
    int st;
    split(line, 2, w);
    const char *verb = w[0];
    char *rest = w[1];
    if (strcmp(verb, "put") == 0) {
        split(rest, 2, w);
        return pons_cx_put(cx, w[0], json(w[1]));
    }
    if (strcmp(verb, "see") == 0) {
        return to_log(cx, pons_cx_get(cx, rest));
    }
    if (strcmp(verb, "goto") == 0) {
        pons_cx_goto(cx, strcmp(rest, "END") == 0 ? PONS_END : rest);
        return PONS_OK;
    }
    if (strcmp(verb, "send") == 0) {
        split(rest, 2, w);
        pons_cx_send(cx, w[0], json(w[1]));
        return PONS_OK;
    }
    if (strcmp(verb, "ask") == 0 || strcmp(verb, "await") == 0) {
        st = verb[1] == 's' ? pons_interrupt(cx, json(rest), &answer, err)
                            : pons_await(cx, "ask", json(rest), 0, &answer, err);
        return st == PONS_OK ? to_log(cx, answer) : st;
    }
    if (strcmp(verb, "task") == 0) {
        split(rest, 2, w);
        pons_autovalue args = json(w[1]);
        st = pons_task(cx, w[0], args, echo, NULL, &answer, err);
        return st == PONS_OK ? to_log(cx, answer) : st;
    }
    if (strcmp(verb, "arg") == 0) {
        return to_log(cx, pons_cx_arg(cx));
    }
    if (strcmp(verb, "inbox") == 0) {
        const pons_value *in = pons_cx_inbox(cx, err);
        for (size_t i = 0; i < json_array_size(in); i++) {
            to_log(cx, pons_get(json_array_get(in, i), "value"));
        }
        return in ? PONS_OK : PONS_EIO;
    }
    if (strcmp(verb, "emit") == 0) {
        split(rest, 2, w);
        return pons_cx_emit(cx, w[0], json(w[1]));
    }
    if (strcmp(verb, "post") == 0) {
        split(rest, 3, w);
        return pons_cx_post(cx, w[0], w[1], json(w[2]));
    }
    if (strcmp(verb, "custom") == 0) {
        pons_cx_custom(cx, json(rest));
        return PONS_OK;
    }
    if (strcmp(verb, "fail") == 0 || (strcmp(verb, "failonce") == 0 && n->runs == 1)) {
        return pons_error_set(err, PONS_EIO, "test", "%s", rest);
    }
    if (strcmp(verb, "failonce") == 0) {
        return PONS_OK;
    }
    if (strcmp(verb, "parent") == 0) {
        split(rest, 2, w);
        const char *const go[] = {w[1], NULL};
        return pons_cx_command(
            cx, &(pons_command){.update = json(w[0]), .go = w[1][0] ? go : NULL, .parent = true},
            err);
    }
    fail_msg("no word '%s'", verb);
    return PONS_EINVAL;
}

static int follow(pons_cx *cx, void *user, pons_error *err)
{
    spec_node *n = user;
    char script[SCRIPT_MAX], *save = NULL;
    int st = PONS_OK;
    n->runs++;
    snprintf(script, sizeof script, "%s", n->does ? n->does : "");
    for (char *line = strtok_r(script, ";", &save); line && st == PONS_OK;
         line = strtok_r(NULL, ";", &save)) {
        line += strspn(line, " ");
        st = one_word(cx, n, line, err);
    }
    return st;
}

static int by_last(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const char *to = json_string_value(pons_cx_get(cx, "last"));
    if (to) {
        pons_cx_goto(cx, strcmp(to, "END") == 0 ? PONS_END : to);
    }
    return PONS_OK;
}

// ---- graphs -------------------------------------------------------------------------------------

typedef struct names {
    char text[SCRIPT_MAX];
    const char *v[SPEC_NODES_MAX + 2];
    size_t n;
} names;

static void names_of(names *to, const char *list, const char *sep)
{
    char *save = NULL;
    *to = (names){.n = 0};
    snprintf(to->text, sizeof to->text, "%s", list ? list : "");
    for (char *s = strtok_r(to->text, sep, &save); s; s = strtok_r(NULL, sep, &save)) {
        to->v[to->n++] = strcmp(s, "END") == 0 ? PONS_END : s;
    }
}

// Where a script goes or sends.
static void goes_of(names *to, const char *script)
{
    char lines[SCRIPT_MAX], *save = NULL, *w[WORDS_MAX];
    size_t at = 0;
    *to = (names){.n = 0};
    snprintf(lines, sizeof lines, "%s", script ? script : "");
    for (char *line = strtok_r(lines, ";", &save); line; line = strtok_r(NULL, ";", &save)) {
        line += strspn(line, " ");
        if (strncmp(line, "goto ", 5) != 0 && strncmp(line, "send ", 5) != 0) {
            continue;
        }
        split(line, 3, w);
        to->v[to->n++] = strcmp(w[1], "END") == 0 ? PONS_END : to->text + at;
        at += (size_t)snprintf(to->text + at, sizeof to->text - at, "%s", w[1]) + 1;
    }
}

static void channels(pons_graph_builder *gb)
{
    channel(gb, "log", PONS_CHANNEL_REDUCE, pons_reduce_append);
    channel(gb, "last", PONS_CHANNEL_LAST, NULL);
    channel(gb, "any", PONS_CHANNEL_ANY, NULL);
    channel(gb, "once", PONS_CHANNEL_EPHEMERAL, NULL);
    channel(gb, "topic", PONS_CHANNEL_TOPIC, NULL);
    channel(gb, "acc", PONS_CHANNEL_TOPIC_ACC, NULL);
    channel(gb, "sum", PONS_CHANNEL_REDUCE, pons_reduce_add);
    channel(gb, "obj", PONS_CHANNEL_REDUCE, pons_reduce_merge);
    channel(gb, "set", PONS_CHANNEL_REDUCE, pons_reduce_union);
    channel(gb, "msgs", PONS_CHANNEL_MESSAGES, NULL);
    channel(gb, "gone", PONS_CHANNEL_UNTRACKED, NULL);
    channel(gb, "left", PONS_CHANNEL_REMAINING_STEPS, NULL);
    channel(gb, "final", PONS_CHANNEL_IS_LAST_STEP, NULL);
}

pons_graph_builder *spec_builder(spec_graph *s)
{
    names list;
    pons_graph_builder *gb = pons_graph_builder_create("spec");
    channels(gb);
    for (spec_node *n = s->nodes; n->name; n++) {
        pons_node_options o = n->opts ? *n->opts : (pons_node_options){.deferred = false};
        if (n->sub) {
            pons_graph_subgraph(gb, n->name, n->sub, n->mode);
        } else {
            pons_graph_node(gb, n->name, follow, n);
        }
        goes_of(&list, n->does);
        o.goes = list.n ? list.v : o.goes;
        pons_graph_node_options(gb, n->name, &o);
        names_of(&list, n->to, ",");
        for (size_t i = 0; i < list.n; i++) {
            pons_graph_edge(gb, n->name, list.v[i]);
        }
        names_of(&list, n->routes, ",");
        if (n->routes) {
            pons_graph_router(gb, n->name, by_last, NULL, list.v);
        }
    }
    names_of(&list, s->start, ",");
    for (size_t i = 0; i < list.n; i++) {
        pons_graph_edge(gb, PONS_START, list.v[i]);
    }
    if (s->join) {
        names_of(&list, s->join, "+>");
        pons_graph_join(gb, list.v, list.n - 1, list.v[list.n - 1]);
    }
    return gb;
}

pons_graph *spec_compile(spec_graph *s)
{
    return compile(spec_builder(s), s->opts);
}

// ---- driving ------------------------------------------------------------------------------------

static pons_run *advance_to(bed *b, pons_run *r, pons_run_state want)
{
    if (pons_run_advance(r, &b->err) != PONS_OK) {
        fail_msg("advance: %s", b->err.message);
    }
    if (pons_run_state_get(r) != want) {
        fail_msg("the run is in state %d, not %d: %s", (int)pons_run_state_get(r), (int)want,
                 pons_run_error(r)->message);
    }
    return r;
}

pons_run *spec_run(bed *b, const pons_graph *g, const char *input, uint32_t modes,
                   pons_run_state want)
{
    pons_autovalue in = input ? json(input) : NULL;
    pons_run_options o = {
        .durability = PONS_DURABILITY_SYNC, .stream = modes, .stream_subgraphs = true};
    pons_run *r = NULL;
    if (pons_run_start(b->t, g, "", in, &o, &r, &b->err) != PONS_OK) {
        fail_msg("start: %s", b->err.message);
    }
    return advance_to(b, r, want);
}

pons_run *spec_resume(bed *b, const pons_graph *g, uint32_t modes, pons_run_state want)
{
    pons_run_options o = {
        .durability = PONS_DURABILITY_SYNC, .stream = modes, .stream_subgraphs = true};
    pons_run *r = NULL;
    if (pons_run_resume(b->t, g, "", &o, &r, &b->err) != PONS_OK) {
        fail_msg("resume: %s", b->err.message);
    }
    return advance_to(b, r, want);
}

void spec_answer(bed *b, pons_run *r, const char *value, pons_run_state want)
{
    pons_autovalue v = json(value);
    if (pons_run_resume_value(r, v, &b->err) != PONS_OK) {
        fail_msg("answer: %s", b->err.message);
    }
    advance_to(b, r, want);
}

void spec_pending(pons_run *r, size_t n, char ret[64])
{
    pons_autovalue list = pons_run_pending(r);
    assert_true(n < json_array_size(list));
    snprintf(ret, 64, "%s", pons_get_str(json_array_get(list, n), "id", ""));
}

// ---- looking ------------------------------------------------------------------------------------

typedef struct ids { // seen so far
    char v[64][64];
    size_t n;
} ids;

// 26 digits of a checkpoint's or message's id, or 16 hex digits of a task's and what follows.
static bool is_id(const char *s)
{
    size_t hex = strspn(s, "0123456789abcdef");
    return strlen(s) == 26 ? strspn(s, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == 26
                           : hex == 16 && (!s[16] || s[16] == '.');
}

static void number_in(ids *known, const char *s, char *ret, size_t cap)
{
    size_t i = 0;
    while (i < known->n && strcmp(known->v[i], s) != 0) {
        i++;
    }
    assert_true(i < 64);
    if (i == known->n) {
        snprintf(known->v[known->n++], sizeof known->v[0], "%s", s);
    }
    snprintf(ret, cap, "#%zu", i + 1);
}

static pons_value *plain(ids *known, const pons_value *v)
{
    pons_value *out, *item;
    const char *key;
    size_t i;
    char text[160];
    if (json_is_string(v)) {
        const char *s = json_string_value(v), *task = strchr(s, ':');
        if (is_id(s)) {
            number_in(known, s, text, sizeof text);
            return json_string(text);
        }
        if (task && is_id(task + 1)) { // "sub:0123456789abcdef"
            int n = snprintf(text, sizeof text, "%.*s", (int)(task + 1 - s), s);
            number_in(known, task + 1, text + n, sizeof text - (size_t)n);
            return json_string(text);
        }
    }
    if (json_is_array(v)) {
        out = json_array();
        json_array_foreach((pons_value *)(uintptr_t)v, i, item) {
            json_array_append_new(out, plain(known, item));
        }
        return out;
    }
    if (json_is_object(v)) {
        out = json_object();
        json_object_foreach((pons_value *)(uintptr_t)v, key, item) {
            json_object_set_new(
                out, key, strcmp(key, "timestamp") == 0 ? json_integer(0) : plain(known, item));
        }
        return out;
    }
    return pons_value_ref(v);
}

void spec_events(bed *b, uint32_t modes, bool subgraphs, const char *want)
{
    pons_autovalue list = json_array();
    static ids known;
    known.n = 0;
    size_t i;
    pons_value *e;
    json_array_foreach(b->events, i, e) {
        pons_event ev = {.ns = pons_get_str(e, "ns", ""),
                         .type = pons_get_str(e, "type", ""),
                         .payload = pons_get(e, "payload")};
        pons_autovalue shape = pons_stream_shape(&ev, modes, subgraphs);
        if (shape) {
            json_array_append_new(list, plain(&known, shape));
        } else if (strncmp(ev.type, "stream.", 7) != 0) { // a node's own
            json_array_append_new(
                list, json_pack("[so]", ev.type, plain(&known, pons_get(e, "payload"))));
        }
    }
    json_array_clear(b->events);
    assert_json(list, want);
}

void spec_checkpoints(bed *b, const char *ns, const char *want)
{
    pons_autovalue history = NULL;
    pons_autovalue list = json_array();
    static ids known;
    known.n = 0;
    assert_ok(pons_state_history(b->store, "t1", ns, 0, true, &history, &b->err));
    for (size_t i = json_array_size(history); i-- > 0;) {
        const pons_value *row = json_array_get(history, i);
        json_array_append_new(list, json_pack("[OOOo]", pons_get(row, "step"),
                                              pons_get(row, "source"), pons_get(row, "next"),
                                              plain(&known, pons_get(row, "values"))));
    }
    assert_json(list, want);
}

void spec_checkpoint_at(bed *b, const char *ns, int64_t step, char ret[32])
{
    pons_autovalue history = NULL;
    size_t i;
    pons_value *row;
    ret[0] = '\0';
    assert_ok(pons_state_history(b->store, "t1", ns, 0, false, &history, &b->err));
    json_array_foreach(history, i, row) {
        if (!ret[0] && pons_get_int(row, "step", -9) == step) {
            snprintf(ret, 32, "%s", pons_get_str(row, "checkpoint_id", ""));
        }
    }
    assert_true(ret[0] != '\0');
}

void spec_state(bed *b, const char *ns, const char *want)
{
    pons_autovalue v = NULL;
    static ids known;
    known.n = 0;
    assert_ok(pons_state_read(b->store, "t1", ns, &v, &b->err));
    pons_autovalue have = plain(&known, v);
    assert_json(have, want);
}
