// pictures.h - pictures of cameras and of people, for models: what may be done with them (config/vision.yaml), where they
// are kept (run/pictures), how a camera takes one.
#pragma once

#include "app/workspace/context.h"
#include "pons/ext/arm.h"
#include "pons/ext/tool.h"

// ---- vision_config.c ----------------------------------------------------------------------------

// config/vision.yaml, checked; the caller's.
int app_vision(const app_context *c, pons_value **ret, pons_error *err);
// Of that: `pictures` of a model's configuration (pons/llm.h), the caller's.
pons_value *app_vision_of_model(const app_context *c, const pons_value *vision);
// Both, for a model's client. The caller's.
int app_model_pictures(const app_context *c, pons_value **ret, pons_error *err);
// What a detector of the kind `model` is to know beside its entry of config/sight.yaml: puts it there.
int app_vision_of_detector(const app_context *c, pons_value *entry, pons_error *err);
// Of that: whether regions of a camera are to be blurred; and blurs them, in place.
bool app_camera_blurs(const pons_value *vision, const char *camera);
void app_picture_blur(const pons_value *vision, const char *camera, pons_picture_raw *p);

// ---- kept_pictures.c ----------------------------------------------------------------------------

// Makes a picture small enough for a model, and keeps it: *ret {sha256, caption, at_ms}, the caller's. camera NULL: a person's, called `name`.
int app_picture_keep(const app_context *c, const char *camera, const char *name, const void *bytes,
                     size_t n, pons_value **ret, pons_error *err);
// The same of a file that a person named.
int app_picture_file(const app_context *c, const char *path, pons_value **ret, pons_error *err);
// The same of a camera, now. Blocks as app_camera_picture.
int app_picture_take(const app_context *c, const char *camera, pons_value **ret, pons_error *err);
void app_pictures_folder(const app_context *c, char *ret, size_t cap);
// {SHA-256: true} of the pictures that an agent's thread names; the caller's.
pons_value *app_pictures_of(pons_store store, const char *thread);
// Removes pictures that no thread names: those of `gone`, which a deleted thread named, at once; others (NULL: all) after a
// week.
// The number.
int app_pictures_prune(const app_context *c, pons_store store, const pons_value *gone,
                       pons_error *err);

// ---- camera_child.c -----------------------------------------------------------------------------

// A picture of a camera of the body, by `pons body camera` in a process of its own. Blocks for 8 s at the most.
int app_camera_picture(const app_context *c, const char *name, char **ret, size_t *ret_n,
                       pons_error *err);

// ---- camera_tool.c ------------------------------------------------------------------------------

// take_picture, for a world with cameras and a model that may see them; else *ret is untouched. c outlives it.
int app_camera_tools(const app_context *c, const char *world, pons_tools *ret, pons_error *err);

// ---- request_pictures.c -------------------------------------------------------------------------

#define APP_PICTURES_MOST 2 // of a request, where config/vision.yaml says no `most`

typedef struct app_new_pictures { // the loop's; zeroed is fine for all but open
    pons_clock clock;
    pons_value *vision;
    pons_tools tools; // ops NULL: there are none
    size_t most;
    size_t camera; // of `cameras`, the one after the one that is asked; 0: none is
    uint64_t call;
    int64_t since_ms;
    pons_value *taken;
} app_new_pictures;

int app_new_pictures_open(const app_context *c, const char *world, size_t most,
                          const pons_clock *clock, app_new_pictures *ret, pons_error *err);
// *ret, the caller's: [{sha256, caption, at_ms}], `most` at most, of as many of `cameras` as it takes. PONS_EAGAIN: they are
// being taken, call it again. Never blocks.
int app_new_pictures_take(app_new_pictures *d, pons_value **ret);
void app_new_pictures_close(app_new_pictures *d);
