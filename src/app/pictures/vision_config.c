// vision_config.c - config/vision.yaml: which pictures models get.
#include "app/pictures/pictures.h"
#include "pons/picture.h"

#include <string.h>
#include <unistd.h>

// The workspace whose configuration counts: of a robot in targets/ID or robots/ID without one of its own, the one that it
// is in. What somebody wanted blurred is not shown by a second robot.
static void place_of(const app_context *c, app_context *ret)
{
    char path[PATH_MAX + 32];
    *ret = *c;
    snprintf(path, sizeof path, "%s/config/vision.yaml", c->workspace);
    char *name = strrchr(ret->workspace, '/');
    if (access(path, F_OK) == 0 || !name || name == ret->workspace) {
        return;
    }
    *name = '\0';
    char *folder = strrchr(ret->workspace, '/');
    const bool inside =
        folder && (strcmp(folder, "/targets") == 0 || strcmp(folder, "/robots") == 0);
    if (inside) {
        *folder = '\0';
    } else {
        *name = '/';
    }
}

int app_vision(const app_context *c, pons_value **ret, pons_error *err)
{
    pons_autovalue vision = NULL;
    app_context place;
    place_of(c, &place);
    const int rc = app_yaml(&place, "config/vision.yaml", "schemas/vision.json", &vision, err);
    pons_each(region, pons_get(vision, "blur")) {
        const pons_value *r = pons_get(region, "rect");
        for (size_t i = 0; i < 2; i++) {
            if (json_number_value(json_array_get(r, i)) >=
                json_number_value(json_array_get(r, i + 2))) {
                return app_bad(err, "config/vision.yaml: blur: a rect is left, top, right, bottom");
            }
        }
    }
    *ret = pons_value_ref(vision);
    return rc;
}

pons_value *app_vision_of_model(const app_context *c, const pons_value *vision)
{
    static const char *const same[] = {"send", "model", "most"};
    char folder[PATH_MAX + 32];
    app_pictures_folder(c, folder, sizeof folder);
    pons_value *all = pons_object("folder", json_string(folder), "memory",
                                  json_sprintf("%s/vision.json", c->run_dir), NULL);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (pons_get(vision, same[i])) {
            json_object_set_new(all, same[i], pons_value_ref(pons_get(vision, same[i])));
        }
    }
    return all;
}

int app_model_pictures(const app_context *c, pons_value **ret, pons_error *err)
{
    pons_autovalue vision = NULL;
    const int rc = app_vision(c, &vision, err);
    *ret = rc < 0 ? NULL : app_vision_of_model(c, vision);
    return rc;
}

int app_vision_of_detector(const app_context *c, pons_value *entry, pons_error *err)
{
    pons_autovalue vision = NULL;
    pons_autovalue server = NULL;
    const char *spec = app_llm_spec(NULL);
    int rc = app_vision(c, &vision, err);
    if (rc >= 0 && spec && !pons_get(entry, "url")) {
        rc = app_llm_config(spec, NULL, &server, err);
    }
    if (rc >= 0) {
        json_object_set_new(entry, "vision", app_vision_of_model(c, vision));
        json_object_set(entry, "server", server);
    }
    return rc;
}

bool app_camera_blurs(const pons_value *vision, const char *camera)
{
    return pons_find(pons_get(vision, "blur"), "camera", camera) != NULL;
}

void app_picture_blur(const pons_value *vision, const char *camera, pons_picture_raw *p)
{
    pons_each(region, pons_get(vision, "blur")) {
        double at[4];
        for (size_t i = 0; i < 4; i++) {
            at[i] = json_number_value(json_array_get(pons_get(region, "rect"), i));
        }
        if (strcmp(pons_get_str(region, "camera", ""), camera) == 0) {
            pons_picture_blur(p, at);
        }
    }
}
