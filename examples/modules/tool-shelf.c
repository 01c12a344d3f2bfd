// tool-shelf.c - tools of one's own for the agent: where a thing is kept. Built as lib/tool-shelf.so of
// the workspace, and named in config/tools.yaml: `modules: [{name: shelf, things: {tea: kitchen}}]`.
// It needs no thread: an answer is in the queue that the host polls when `start` returns.
#include "pons/event_queue.h"
#include "pons/ext/tool.h"
#include "pons/module.h"

#include <string.h>

typedef struct shelf {
    pons_event_queue q;
    pons_value *things;
} shelf;

static void clear(void *event)
{
    pons_tool_event_clear(event);
}

static void finish(void *self)
{
    shelf *s = self;
    if (s) {
        pons_event_queue_fini(&s->q);
        pons_value_unref(s->things);
        free(s);
    }
}

static int list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    static const char text[] =
        "[{\"name\":\"shelf.find\",\"category\":\"shelf\",\"risk\":\"safe\",\"read_only\":true,"
        "\"description\":\"Says in which zone a thing is kept.\",\"parameters\":{"
        "\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"thing\"],"
        "\"properties\":{\"thing\":{\"type\":\"string\"}}}}]";
    return pons_value_parse(text, strlen(text), ret, err);
}

static uint64_t generation(void *self)
{
    return self ? 1 : 0; // the list never changes
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    (void)key; // nothing in the world changes, so nothing has to be done once
    shelf *s = self;
    int rc = strcmp(tool, "shelf.find") != 0 ? PONS_ENOTFOUND : pons_event_queue_begin(&s->q, call);
    if (rc < 0) {
        return pons_error_set(err, rc, "shelf", "cannot start %s: %s", tool, pons_status_word(rc));
    }
    const char *what = pons_get_str(args, "thing", ""), *zone = pons_get_str(s->things, what, NULL);
    pons_tool_event ev = {.call = call, .kind = zone ? PONS_TOOL_DONE : PONS_TOOL_FAILED};
    ev.value = zone ? pons_object("output", json_sprintf("%s is in %s", what, zone), NULL) : NULL;
    if (!zone) {
        pons_error_set(&ev.error, PONS_ENOTFOUND, "shelf", "nobody knows where %s is", what);
    }
    pons_event_queue_push(&s->q, call, &ev, true);
    return PONS_OK;
}

static void cancel(void *self, uint64_t call)
{
    pons_event_queue_end(&((shelf *)self)->q, call);
}

static int event_fd(void *self)
{
    return ((shelf *)self)->q.fd;
}

static bool next(void *self, pons_tool_event *ret)
{
    return pons_event_queue_next(&((shelf *)self)->q, ret);
}

static const pons_tools_ops ops = {PONS_TOOL_ABI, "shelf", finish, list,     generation, NULL,
                                   start,         NULL,    cancel, event_fd, next};

static int make(const pons_value *config, const pons_clock *clock, pons_tools *ret, pons_error *err)
{
    (void)clock;
    if (!json_is_object(pons_get(config, "things"))) {
        return pons_error_set(err, PONS_EINVAL, "shelf", "`things` says what is in which zone");
    }
    shelf *s = calloc(1, sizeof *s);
    if (!s || pons_event_queue_init(&s->q, sizeof(pons_tool_event), clear, err) < 0) {
        free(s);
        return pons_error_set(err, PONS_EENV, "shelf", "no memory or descriptor is left");
    }
    s->things = pons_value_ref(pons_get(config, "things"));
    *ret = (pons_tools){.ops = &ops, .self = s};
    return PONS_OK;
}

static const pons_tool_module shelf_module = {PONS_TOOL_ABI, "shelf", make};
PONS_MODULE_EXPORT("tool", "shelf", &shelf_module);
