// read_only_tools.c - a provider of tools of which only those are there that change nothing.
//
// For turns that nobody has marked as meant (docs/reference/serve.md): what a model is not offered it cannot
// call, whatever it was told.
#include "app/serve/workspace_actions.h"

#include <string.h>

typedef struct look {
    pons_tools_ops ops;
    pons_tools inner;
} look;

static pons_tools inner(void *self)
{
    return ((const look *)self)->inner;
}

static void close_look(void *self)
{
    free(self);
}

static int list(void *self, pons_value **ret, pons_error *err)
{
    pons_autovalue all = NULL;
    const pons_tools t = inner(self);
    const int rc = t.ops->list(t.self, &all, err);
    if (rc < 0) {
        return rc;
    }
    *ret = json_array();
    pons_each(item, all) {
        if (pons_get_bool(item, "read_only", false)) {
            json_array_append(*ret, item);
        }
    }
    return PONS_OK;
}

static uint64_t generation(void *self)
{
    const pons_tools t = inner(self);
    return t.ops->generation(t.self);
}

static pons_tool_risk assess(void *self, const char *tool, const pons_value *args, char *reason,
                             size_t cap)
{
    const pons_tools t = inner(self);
    return t.ops->assess(t.self, tool, args, reason, cap);
}

// The list may be a moment old: what is started is looked at once more.
static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    pons_autovalue offered = NULL;
    const pons_tools t = inner(self);
    const int rc = list(self, &offered, err);
    if (rc >= 0 && !pons_find(offered, "name", tool)) {
        return pons_error_set(err, PONS_ENOTFOUND, "agent", "there is no tool %.64s here", tool);
    }
    return rc < 0 ? rc : t.ops->start(t.self, call, tool, args, key, err);
}

static int adopt(void *self, uint64_t call, const char *tool, const char *key, pons_error *err)
{
    const pons_tools t = inner(self);
    return t.ops->adopt(t.self, call, tool, key, err);
}

static void cancel(void *self, uint64_t call)
{
    const pons_tools t = inner(self);
    t.ops->cancel(t.self, call);
}

static int event_fd(void *self)
{
    const pons_tools t = inner(self);
    return t.ops->event_fd(t.self);
}

static bool next(void *self, pons_tool_event *ret)
{
    const pons_tools t = inner(self);
    return t.ops->next(t.self, ret);
}

int app_read_only_tools(pons_tools tools, pons_tools *ret, pons_error *err)
{
    const pons_tools_ops *o = tools.ops;
    look *l = calloc(1, sizeof *l);
    if (!l) {
        return pons_error_set(err, PONS_ENOMEM, "agent", "no memory for tools");
    }
    l->inner = tools;
    l->ops = (pons_tools_ops){.abi = o->abi,
                              .name = o->name,
                              .close = close_look,
                              .list = list,
                              .generation = o->generation ? generation : NULL,
                              .assess = o->assess ? assess : NULL,
                              .start = start,
                              .adopt = o->adopt ? adopt : NULL,
                              .cancel = cancel,
                              .event_fd = event_fd,
                              .next = next};
    *ret = (pons_tools){.ops = &l->ops, .self = l};
    return PONS_OK;
}
