// 11_functional.c - a program instead of a drawing: an entrypoint, and the tasks that it calls.
//
// Both words are looked up side by side (each on a worker thread), a person is asked in between, and
// the process may end there: what was looked up is not looked up again.
//
// Prints:
//   asks: [{"id":"made","value":["ant: 3 letters","bee: 3 letters"]}]
//   output: "2 entries, approved by ann"
//   looked up: 2
#include "example.h"
#include "pons/functional.h"

#include <stdatomic.h>

static atomic_int looked_up;

static int look_up(pons_work *w, void *user, const pons_value *input, pons_value **ret,
                   pons_error *err)
{
    (void)w;
    (void)user;
    (void)err;
    looked_up++; // a page, a database, a model
    *ret = json_sprintf("%s: %d letters", json_string_value(input), (int)json_string_length(input));
    return PONS_OK;
}

static int dictionary(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                      pons_error *err)
{
    (void)user;
    enum { WORDS = 2 };
    pons_future found[WORDS];
    pons_autovalue entries = json_array();
    const pons_value *v = NULL, *who = NULL;
    int st = PONS_OK;
    for (size_t i = 0; i < WORDS && st == PONS_OK; i++) {
        st = pons_call(cx, "look up", pons_value_ref(json_array_get(input, i)), &found[i], err);
    }
    for (size_t i = 0; i < WORDS && st == PONS_OK; i++) {
        st = pons_future_result(cx, found[i], &v, err);
        if (st == PONS_OK) {
            json_array_append_new(entries, pons_value_ref(v));
        }
    }
    st = st == PONS_OK ? pons_interrupt(cx, pons_value_ref(entries), &who, err) : st;
    if (st == PONS_OK) {
        *ret = json_sprintf("%d entries, approved by %s", WORDS, json_string_value(who));
    }
    return st; // parked, where something is not there yet
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    pons_store store;
    need(pons_store_memory_open(&store, &err), &err);
    pons_graph_builder *b = pons_graph_builder_create("dictionary");
    pons_graph_entrypoint(b, dictionary, NULL);
    pons_graph_task_blocking(b, "look up", look_up, NULL);
    pons_graph *g = compiled(b);

    pons_autovalue input = value("{'input':['ant','bee']}");
    pons_autovalue answer = value("'ann'");
    pons_value *state = NULL;
    need(pons_graph_invoke(g, store, "t1", input, NULL, NULL, &state, &err), &err);
    pons_value *asks = json_object_get(state, "__interrupt__");
    json_object_set_new(json_array_get(asks, 0), "id", json_string("made"));
    show("asks", asks);
    pons_value_unref(state);

    need(pons_graph_invoke(g, store, "t1", NULL, answer, NULL, &state, &err), &err);
    show("output", pons_get(state, "output"));
    printf("looked up: %d\n", looked_up);
    pons_value_unref(state);
    pons_graph_destroy(g);
    pons_store_close(&store);
    return 0;
}
