// 09_time_travel.c - going back, and changing what has been.
//
// Every checkpoint can be gone on from: a fork is a new branch, the old one stays. An update writes
// to the state as if a node had: its routers and edges say what comes next.
//
// Prints:
//   went: ["left","wall"]
//   went: ["right","door"]
//   fork of step 0: "fork"
#include "example.h"

static int walk(pons_cx *cx, void *user, pons_error *err)
{
    (void)err;
    return pons_cx_put(cx, "went", json_string(user ? user : pons_cx_node(cx)));
}

static int where(pons_cx *cx, void *user, pons_error *err)
{
    (void)user;
    (void)err;
    const char *last = json_string_value(json_array_get(pons_cx_get(cx, "went"), 0));
    pons_cx_goto(cx, strcmp(last, "left") == 0 ? "wall" : "door");
    return PONS_OK;
}

int main(void)
{
    pons_value_init();
    pons_error err = PONS_ERROR_INIT;
    static const char *const to[] = {"wall", "door", NULL};
    static char left[] = "left";
    pons_store store;
    need(pons_store_memory_open(&store, &err), &err);

    pons_graph_builder *b = pons_graph_builder_create("maze");
    pons_graph_channel(b, "went",
                       &(pons_channel_options){PONS_CHANNEL_REDUCE, .reduce = pons_reduce_append});
    pons_graph_node(b, "choose", walk, left);
    pons_graph_node(b, "wall", walk, NULL);
    pons_graph_node(b, "door", walk, NULL);
    pons_graph_edge(b, PONS_START, "choose");
    pons_graph_router(b, "choose", where, NULL, to);
    pons_graph_edge(b, "wall", PONS_END);
    pons_graph_edge(b, "door", PONS_END);
    pons_graph *g = compiled(b);

    pons_thread *t = opened(store, "t1");
    pons_run *r = NULL;
    need(pons_run_start(t, g, "", NULL, NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("went", pons_run_get(r, "went"));
    pons_run_destroy(r);

    // Back to before the choice: the third newest checkpoint, at step 0.
    pons_value *history = NULL;
    need(pons_state_history(store, "t1", "", 0, false, &history, &err), &err);
    const char *before = pons_get_str(json_array_get(history, 2), "checkpoint_id", "");
    need(pons_run_fork(t, g, "", before, NULL, NULL, &r, &err), &err);
    pons_run_destroy(r); // not run: instead of choose, we say what was chosen
    pons_value_unref(history);
    pons_autovalue right = value("{'went':'right'}");
    need(pons_state_update(t, g, "", right, "choose", NULL, &err), &err);
    need(pons_run_resume(t, g, "", NULL, &r, &err), &err);
    need(pons_run_advance(r, &err), &err);
    show("went", pons_run_get(r, "went"));
    pons_run_destroy(r);

    need(pons_state_history(store, "t1", "", 0, false, &history, &err), &err);
    show("fork of step 0", pons_get(json_array_get(history, 2), "source"));
    pons_value_unref(history);
    pons_thread_close(t);
    pons_graph_destroy(g);
    pons_store_close(&store);
    return 0;
}
