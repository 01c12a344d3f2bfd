// decision_picture.c - a picture for each decision of a brain: of the first of `cameras` that gives one.
//
// The tool's thread takes it (camera_tool.c) while the brain's loop goes on; a decision waits WAIT_MS for it, no longer.
#include "app/pictures/pictures.h"

#include <string.h>

#define WAIT_MS 3000

int app_decision_pictures_open(const app_context *c, const char *world, const pons_clock *clock,
                               app_decision_pictures *ret, pons_error *err)
{
    *ret = (app_decision_pictures){.clock = *clock};
    int rc = app_vision(c, &ret->vision, err);
    if (rc < 0 || json_array_size(pons_get(ret->vision, "cameras")) == 0) {
        return rc;
    }
    return app_camera_tools(c, world, &ret->tools, err);
}

static int take_next(app_decision_pictures *d)
{
    pons_error none = PONS_ERROR_INIT;
    const pons_value *name = json_array_get(pons_get(d->vision, "cameras"), d->camera++);
    pons_autovalue args = pons_object("camera", pons_value_ref(name), NULL);
    if (!name ||
        d->tools.ops->start(d->tools.self, ++d->call, "take_picture", args, "", &none) < 0) {
        d->camera = 0;
        return PONS_ENOTFOUND;
    }
    return PONS_EAGAIN;
}

int app_decision_picture(app_decision_pictures *d, pons_value **ret)
{
    pons_tool_event ev = {0};
    if (!d->tools.ops) {
        return PONS_ENOTFOUND;
    }
    if (d->camera == 0) {
        d->since_ms = pons_now_ms(&d->clock);
        return take_next(d);
    }
    if (!d->tools.ops->next(d->tools.self, &ev)) {
        if (pons_now_ms(&d->clock) - d->since_ms < WAIT_MS) {
            return PONS_EAGAIN;
        }
        d->tools.ops->cancel(d->tools.self, d->call);
        d->camera = 0;
        return PONS_ETIMEOUT;
    }
    const pons_value *picture = json_array_get(pons_get(ev.value, "pictures"), 0);
    *ret = pons_value_ref(picture);
    d->camera = picture ? 0 : d->camera;
    pons_tool_event_clear(&ev);
    return *ret ? PONS_OK : take_next(d);
}

void app_decision_pictures_close(app_decision_pictures *d)
{
    if (d->tools.ops) {
        d->tools.ops->close(d->tools.self);
    }
    pons_value_unref(d->vision);
    *d = (app_decision_pictures){0};
}
