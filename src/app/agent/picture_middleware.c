// picture_middleware.c - adds new pictures to the agent's requests: one of each of `cameras` in config/vision.yaml.
//
//     before each turn, plan step and replanner's call --> pictures are taken --> the request names them
//
// So the planner sees the robot's surroundings, and the replanner sees the result of a step. As with the brain's decisions,
// pictures are in the request only, and in no checkpoint. While a person's consent is needed and missing, none is taken.
#include "app/agent/agent_setup.h"
#include "app/pictures/pictures.h"
#include "pons/buf.h"
#include "pons/llm.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_MS 50 // between two looks whether they are there

struct app_picture_middleware {
    app_new_pictures pictures;
    pons_value *config; // of the model's client
    pons_value *taken;  // for this call; NULL: they are being taken, or it has none
    char call[96];
};

static bool asked_for_words(const pons_agent_call *call, const pons_value *last)
{
    return call->model && strcmp(call->node, "compact") != 0 &&
           strcmp(pons_get_str(last, "role", ""), "user") == 0;
}

// The request with them before a person's own, of which the newest is the last.
static pons_value *with(const pons_value *request, const pons_value *last, const pons_value *taken)
{
    pons_value *full = json_copy((json_t *)(uintptr_t)request);
    pons_value *list = json_copy(json_object_get(full, "messages"));
    pons_value *words = json_copy((json_t *)(uintptr_t)last);
    pons_value *all = json_copy((json_t *)(uintptr_t)taken);
    json_array_extend(all, json_object_get(words, "pictures"));
    json_object_set_new(words, "pictures", all);
    json_array_set_new(list, json_array_size(list) - 1, words);
    json_object_set_new(full, "messages", list);
    return full;
}

static int before(void *user, const pons_agent_call *call, pons_value **request,
                  int64_t *ret_wait_ms, pons_error *err)
{
    app_picture_middleware *k = user;
    const pons_value *list = pons_get(*request, "messages");
    const pons_value *last = json_array_get(list, json_array_size(list) - 1);
    if (!asked_for_words(call, last) ||
        pons_llm_pictures_withheld(k->config, pons_get_str(*request, "pictures_allowed", NULL))) {
        return PONS_OK;
    }
    if (strcmp(k->call, call->id) != 0 || !k->taken) { // one that waits is asked again
        pons_value_unref(k->taken);
        k->taken = NULL;
        snprintf(k->call, sizeof k->call, "%s", call->id);
        if (app_new_pictures_take(&k->pictures, &k->taken) == PONS_EAGAIN) {
            *ret_wait_ms = LOOK_MS;
            return PONS_OK;
        }
    }
    if (json_array_size(k->taken) > 0) {
        pons_value *full = with(*request, last, k->taken);
        pons_value_unref(*request);
        *request = full;
    }
    return PONS_OK;
}

// What the question whether they may go says of them.
static void name_them(const pons_value *cameras, char *ret, size_t cap)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_each(name, cameras) {
        pons_buf_printf(&b, "%scamera %s", b.len ? ", " : "", json_string_value(name));
    }
    pons_utf8_copy(ret, cap, b.data ? b.data : "");
}

int app_picture_middleware_open(app_agent_parts *p, const char *spec, const pons_clock *clock,
                                pons_error *err)
{
    pons_autovalue vision = NULL;
    char server[256];
    int rc = app_vision(p->c, &vision, err);
    const pons_value *cameras = pons_get(vision, "cameras");
    spec = app_llm_spec(spec);
    if (rc < 0 || !spec || json_array_size(cameras) == 0) {
        return rc;
    }
    p->cameras = calloc(1, sizeof *p->cameras);
    if (!p->cameras) {
        return pons_error_set(err, PONS_ENOMEM, "agent", "no memory for cameras");
    }
    pons_autovalue pictures = app_vision_of_model(p->c, vision);
    const size_t most = (size_t)pons_get_int(vision, "most", APP_PICTURES_MOST);
    rc = app_llm_config(spec, pictures, &p->cameras->config, err);
    rc = rc < 0
             ? rc
             : app_new_pictures_open(p->c, p->meant.world, most, clock, &p->cameras->pictures, err);
    if (rc >= 0 && p->cameras->pictures.tools.ops) {
        p->seeing =
            (pons_agent_middleware){.name = "cameras", .before = before, .user = p->cameras};
        p->n_seeing = 1;
        if (pons_llm_pictures_need_consent(p->cameras->config, server, sizeof server) &&
            !pons_llm_pictures_withheld(p->cameras->config, server)) {
            name_them(cameras, p->camera_names, sizeof p->camera_names);
        }
    }
    return rc;
}

void app_picture_middleware_close(app_picture_middleware *k)
{
    if (k) {
        app_new_pictures_close(&k->pictures);
        pons_value_unref(k->config);
        pons_value_unref(k->taken);
        free(k);
    }
}
