// request_pictures.c - takes pictures for a model's request: one of each of `cameras`, until there are enough.
//
// The tool's thread takes them (camera_tool.c) while the asker's loop goes on; that waits WAIT_MS for them, no longer.
#include "app/pictures/pictures.h"

#include <string.h>

#define WAIT_MS 3000

int app_new_pictures_open(const app_context *c, const char *world, size_t most,
                          const pons_clock *clock, app_new_pictures *ret, pons_error *err)
{
    *ret = (app_new_pictures){.clock = *clock, .most = most};
    int rc = app_vision(c, &ret->vision, err);
    if (rc < 0 || json_array_size(pons_get(ret->vision, "cameras")) == 0) {
        return rc;
    }
    return app_camera_tools(c, world, &ret->tools, err);
}

// The next camera is asked; false: there are enough, or no more.
static bool ask_next(app_new_pictures *d)
{
    pons_error none = PONS_ERROR_INIT;
    const pons_value *name = json_array_get(pons_get(d->vision, "cameras"), d->camera++);
    pons_autovalue args = pons_object("camera", pons_value_ref(name), NULL);
    return name && json_array_size(d->taken) < d->most &&
           d->tools.ops->start(d->tools.self, ++d->call, "take_picture", args, "", &none) >= 0;
}

static int finish(app_new_pictures *d, pons_value **ret)
{
    *ret = d->taken;
    d->taken = NULL;
    d->camera = 0;
    return PONS_OK;
}

int app_new_pictures_take(app_new_pictures *d, pons_value **ret)
{
    pons_tool_event ev = {0};
    if (!d->tools.ops) {
        *ret = json_array();
        return PONS_OK;
    }
    if (d->camera == 0) {
        d->since_ms = pons_now_ms(&d->clock);
        d->taken = json_array();
        return ask_next(d) ? PONS_EAGAIN : finish(d, ret);
    }
    if (!d->tools.ops->next(d->tools.self, &ev)) {
        if (pons_now_ms(&d->clock) - d->since_ms < WAIT_MS) {
            return PONS_EAGAIN;
        }
        d->tools.ops->cancel(d->tools.self, d->call);
        return finish(d, ret);
    }
    json_array_extend(d->taken, (json_t *)(uintptr_t)pons_get(ev.value, "pictures"));
    pons_tool_event_clear(&ev);
    return ask_next(d) ? PONS_EAGAIN : finish(d, ret);
}

void app_new_pictures_close(app_new_pictures *d)
{
    if (d->tools.ops) {
        d->tools.ops->close(d->tools.self);
    }
    pons_value_unref(d->vision);
    pons_value_unref(d->taken);
    *d = (app_new_pictures){0};
}
