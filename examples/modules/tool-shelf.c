// tool-shelf.c - tools of one's own for the agent: where a thing is kept.
//
// Built as tool-shelf.so into the workspace's lib/, and named in its config/tools.yaml:
//
//     modules: [{name: shelf, things: {tea: kitchen, book: study}}]
//
// It needs no thread: an answer is in the queue that the host polls when `start` returns.
#include "pons/event_queue.h"
#include "pons/ext/tool.h"
#include "pons/module.h"

#include <string.h>

typedef struct shelf {
    pons_event_queue events;
    pons_value *things;
} shelf;

static void clear(void *event)
{
    pons_tool_event_clear(event);
}

static void shelf_close(void *self)
{
    shelf *s = self;
    if (s) {
        pons_event_queue_fini(&s->events);
        pons_value_unref(s->things);
        free(s);
    }
}

static int shelf_list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    static const char text[] =
        "[{\"name\":\"shelf.find\",\"category\":\"shelf\",\"risk\":\"safe\",\"read_only\":true,"
        "\"description\":\"Says in which zone a thing is kept.\",\"parameters\":{"
        "\"type\":\"object\",\"required\":[\"thing\"],\"additionalProperties\":false,"
        "\"properties\":{\"thing\":{\"type\":\"string\"}}}}]";
    return pons_value_parse(text, strlen(text), ret, err);
}

static uint64_t shelf_generation(void *self)
{
    return self ? 1 : 0; // the list never changes
}

static int shelf_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                       const char *key, pons_error *err)
{
    (void)key; // nothing in the world changes, so nothing has to be done once
    shelf *s = self;
    if (strcmp(tool, "shelf.find") != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "shelf", "there is no tool %s", tool);
    }
    if (pons_event_queue_begin(&s->events, call) < 0) {
        return pons_error_set(err, PONS_EEXIST, "shelf", "that call is under way");
    }
    const char *thing = pons_get_str(args, "thing", "");
    const char *zone = pons_get_str(s->things, thing, NULL);
    pons_tool_event ev = {.call = call, .kind = zone ? PONS_TOOL_DONE : PONS_TOOL_FAILED};
    if (zone) {
        ev.value = pons_object("output", json_sprintf("%s is in %s", thing, zone), NULL);
    } else {
        pons_error_set(&ev.error, PONS_ENOTFOUND, "shelf", "nobody knows where %s is", thing);
    }
    pons_event_queue_push(&s->events, call, &ev, true);
    return PONS_OK;
}

static void shelf_cancel(void *self, uint64_t call)
{
    pons_event_queue_end(&((shelf *)self)->events, call);
}

static int shelf_fd(void *self)
{
    return ((shelf *)self)->events.fd;
}

static bool shelf_next(void *self, pons_tool_event *ret)
{
    return pons_event_queue_next(&((shelf *)self)->events, ret);
}

static const pons_tools_ops ops = {PONS_TOOL_ABI,    "shelf",  shelf_close, shelf_list,
                                   shelf_generation, NULL,     shelf_start, NULL,
                                   shelf_cancel,     shelf_fd, shelf_next};

static int shelf_open(const pons_value *config, const pons_clock *clock, pons_tools *ret,
                      pons_error *err)
{
    (void)clock;
    if (!json_is_object(pons_get(config, "things"))) {
        return pons_error_set(err, PONS_EINVAL, "shelf", "`things` says what is in which zone");
    }
    shelf *s = calloc(1, sizeof *s);
    if (!s || pons_event_queue_init(&s->events, sizeof(pons_tool_event), clear, err) < 0) {
        free(s);
        return pons_error_set(err, PONS_EENV, "shelf", "no memory or descriptor is left");
    }
    s->things = pons_value_ref(pons_get(config, "things"));
    *ret = (pons_tools){.ops = &ops, .self = s};
    return PONS_OK;
}

static const pons_tool_module shelf_module = {PONS_TOOL_ABI, "shelf", shelf_open};
PONS_MODULE_EXPORT("tool", "shelf", &shelf_module);
