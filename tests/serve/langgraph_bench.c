// langgraph_bench.c - a server that serves one graph, and a client that speaks JSON to it.
#include "serve/langgraph_bench.h"

#include "pons/buf.h"
#include "pons/store.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANG_MS = 120000, LOOK_MS = 5 };

// ---- the graph ----------------------------------------------------------------------------------

atomic_int lg_stuck;

static int write_one(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const size_t n = json_array_size(pons_cx_get(cx, "letters"));
    if (json_is_true(pons_cx_get(cx, "gated"))) {
        const pons_value *answer = NULL;
        const int rc = pons_await(cx, "gate", json_integer((json_int_t)n + 1), 0, &answer, err);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    if (n == 1 && json_is_true(pons_cx_get(cx, "stuck"))) { // until somebody wants its end
        atomic_fetch_add(&lg_stuck, 1);
        while (!pons_cx_canceled(cx)) {
            poll(NULL, 0, 1);
        }
    }
    if (n == 1 && json_is_true(pons_cx_get(cx, "broken"))) {
        return pons_error_set(err, PONS_EIO, "letters", "the pen is broken");
    }
    pons_cx_custom(cx, pons_object("writing", json_integer((json_int_t)n + 1), NULL));
    pons_cx_message(cx,
                    pons_object("type", json_string("AIMessageChunk"), "id", json_string("m1"),
                                "content", json_sprintf("%zu ", n + 1), NULL),
                    NULL);
    return pons_cx_put(cx, "letters", json_sprintf("letter %zu", n + 1));
}

static int enough(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const json_int_t wanted = json_integer_value(pons_cx_get(cx, "wanted"));
    const bool more = (json_int_t)json_array_size(pons_cx_get(cx, "letters")) < wanted;
    pons_cx_goto(cx, more ? "write" : "ask");
    return PONS_OK;
}

static int ask_person(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    const pons_value *answer = NULL;
    const size_t n = json_array_size(pons_cx_get(cx, "letters"));
    const int rc = pons_interrupt(cx, json_sprintf("post %zu letters?", n), &answer, err);
    if (rc == PONS_OK) {
        const char *word = json_string_value(answer);
        pons_cx_goto(cx, word && strcmp(word, "yes") == 0 ? "post" : PONS_END);
    }
    return rc;
}

static int post(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    return pons_cx_put(cx, "posted", json_true());
}

static pons_graph *letters(void)
{
    static const char *const after_write[] = {"write", "ask", NULL};
    static const char *const after_ask[] = {"post", PONS_END, NULL};
    pons_graph *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_graph_builder *b = pons_graph_builder_create("letters");
    pons_graph_channel(b, "wanted", NULL);
    pons_graph_channel(b, "posted", NULL);
    pons_graph_channel(b, "gated", NULL);
    pons_graph_channel(b, "broken", NULL);
    pons_graph_channel(b, "stuck", NULL);
    pons_graph_channel(b, "letters",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append});
    pons_graph_node(b, "write", write_one, NULL);
    pons_graph_node(b, "ask", ask_person, NULL);
    pons_graph_node(b, "post", post, NULL);
    pons_graph_node_options(b, "ask", &(pons_node_options){.goes = after_ask});
    pons_graph_edge(b, PONS_START, "write");
    pons_graph_router(b, "write", enough, NULL, after_write);
    pons_graph_edge(b, "post", PONS_END);
    if (pons_graph_compile(b, NULL, &g, &err) < 0) {
        fail_msg("%s", err.message);
    }
    pons_graph_builder_destroy(b);
    return g;
}

static pons_graph *mail(const pons_graph *sub)
{
    pons_graph *middle = NULL, *g = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_graph_builder *b = pons_graph_builder_create("office");
    pons_graph_channel(b, "wanted", NULL);
    pons_graph_subgraph(b, "desk", sub, PONS_SUBGRAPH_INHERIT);
    pons_graph_edge(b, PONS_START, "desk");
    pons_graph_edge(b, "desk", PONS_END);
    assert_int_equal(pons_graph_compile(b, NULL, &middle, &err), PONS_OK);
    pons_graph_builder_destroy(b);
    b = pons_graph_builder_create("mail");
    pons_graph_channel(b, "wanted", NULL);
    pons_graph_subgraph(b, "office", middle, PONS_SUBGRAPH_INHERIT);
    pons_graph_edge(b, PONS_START, "office");
    pons_graph_edge(b, "office", PONS_END);
    assert_int_equal(pons_graph_compile(b, NULL, &g, &err), PONS_OK);
    pons_graph_builder_destroy(b);
    pons_graph_destroy(middle);
    return g;
}

// ---- the gate -----------------------------------------------------------------------------------

static void gate(void *user, pons_run *run, const char *await_id, const pons_value *request,
                 bool restarted)
{
    lg *t = user;
    (void)run;
    (void)request;
    pthread_mutex_lock(&t->mtx);
    snprintf(t->gate, sizeof t->gate, "%s", await_id);
    t->asked++;
    t->restarted += restarted;
    pthread_mutex_unlock(&t->mtx);
}

void lg_wait_gate(lg *t, int asked)
{
    for (int ms = 0; ms < HANG_MS; ms += LOOK_MS) {
        pthread_mutex_lock(&t->mtx);
        const bool there = t->asked >= asked && t->gate[0];
        pthread_mutex_unlock(&t->mtx);
        if (there) {
            return;
        }
        poll(NULL, 0, LOOK_MS);
    }
    fail_msg("no gate was asked for");
}

void lg_open_gate(lg *t)
{
    char gate[64], thread[128];
    pthread_mutex_lock(&t->mtx);
    snprintf(gate, sizeof gate, "%s", t->gate);
    snprintf(thread, sizeof thread, "%s", t->thread);
    t->gate[0] = '\0';
    pthread_mutex_unlock(&t->mtx);
    assert_int_equal(pons_serve_answer(t->b.serve, thread, gate, json_true()), PONS_OK);
}

// ---- the server ---------------------------------------------------------------------------------

void lg_open(lg *t)
{
    *t = (lg){.graph = letters()};
    pthread_mutex_init(&t->mtx, NULL);
    bench_open(&t->b);
    pons_serve_close(t->b.serve);
    t->handler = (pons_await_handler){.kind = "gate", .start = gate, .user = t};
    t->served[0] = (pons_serve_graph){.id = "letters",
                                      .help = "writes letters",
                                      .graph = t->graph,
                                      .ns = "",
                                      .handlers = &t->handler,
                                      .n_handlers = 1};
    t->served[1] = t->served[0];
    t->served[1].id = "others";
    t->outer = mail(t->graph);
    t->served[2] = t->served[0];
    t->served[2].id = "mail";
    t->served[2].graph = t->outer;
    t->b.o.graphs = t->served;
    t->b.o.n_graphs = 3;
    bench_start(&t->b);
}

void lg_restart(lg *t)
{
    pons_serve_close(t->b.serve);
    bench_start(&t->b);
}

void lg_close(lg *t)
{
    bench_close(&t->b);
    pons_graph_destroy(t->outer);
    pons_graph_destroy(t->graph);
    pthread_mutex_destroy(&t->mtx);
}

// ---- the client ---------------------------------------------------------------------------------

int lg_begin(lg *t, const char *method, const char *path, const char *headers, const char *body)
{
    return bench_send(
        &t->b, &(ask){method, path, NULL, bench_token(&t->b, "operator"), headers, body, false});
}

static char *reply(lg *t, const char *method, const char *path, const char *headers,
                   const char *body)
{
    const int fd = lg_begin(t, method, path, headers, body);
    char *r = bench_until(fd, NULL);
    close(fd);
    return r;
}

pons_value *lg_call(lg *t, int want, const char *method, const char *path, const char *body)
{
    char *r = reply(t, method, path, NULL, body);
    pons_value *v = NULL;
    const char *text = strstr(r, "\r\n\r\n");
    if (bench_code(r) != want) {
        fail_msg("%s %s: %s", method, path, r);
    }
    text = text ? text + 4 : "";
    if (*text) {
        v = json_loads(text, JSON_DECODE_ANY, NULL);
        if (!v) {
            fail_msg("%s %s: no JSON: %s", method, path, r);
        }
    }
    free(r);
    return v;
}

char *lg_text(lg *t, const char *method, const char *path, const char *headers, const char *body)
{
    char *r = reply(t, method, path, headers, body);
    const char *text = strstr(r, "\r\n\r\n");
    if (bench_code(r) != 200 || !text) {
        fail_msg("%s %s: %s", method, path, r);
    }
    char *got = strdup(text + 4);
    free(r);
    return got;
}

void lg_thread(lg *t, char ret[64])
{
    pons_autovalue v = lg_call(t, 200, "POST", "/threads", "{}");
    snprintf(ret, 64, "%s", pons_get_str(v, "thread_id", ""));
    pthread_mutex_lock(&t->mtx);
    snprintf(t->thread, sizeof t->thread, "%s", ret);
    pthread_mutex_unlock(&t->mtx);
}

pons_value *lg_until(lg *t, const char *path, const char *member, const char *is)
{
    for (int ms = 0; ms < HANG_MS; ms += LOOK_MS) {
        pons_value *v = lg_call(t, 200, "GET", path, NULL);
        if (strcmp(pons_get_str(v, member, ""), is) == 0) {
            return v;
        }
        pons_value_unref(v);
        poll(NULL, 0, LOOK_MS);
    }
    fail_msg("%s: %s is not %s", path, member, is);
    return NULL;
}
