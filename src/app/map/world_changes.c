// world_changes.c - changes of a world by a person while a robot runs in it: finds the file, writes the charger, and tells the
// body.
#include "app/map/world_files.h"
#include "app/workspace/which_robot.h"
#include "pons/body.h"
#include "pons/link_message.h"
#include "pons/map_preview.h"
#include "pons/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Whether a file is in the folder of worlds that pons ships.
static bool is_shipped(const char *file)
{
    char shipped[PATH_MAX], folder[PATH_MAX];
    const size_t n =
        pons_share_path("worlds", shipped, sizeof shipped, NULL) >= 0 && realpath(shipped, folder)
            ? strlen(folder)
            : 0;
    return n > 0 && strncmp(file, folder, n) == 0 && file[n] == '/';
}

int app_world_file(const char *name, char ret[PATH_MAX], pons_error *err)
{
    pons_autovalue world = NULL;
    const int rc = app_world(name, &world, err);
    if (rc < 0) {
        return rc;
    }
    if (!realpath(pons_get_str(world, "path", ""), ret)) {
        return app_lacks(err, "%s: %s", name, strerror(errno));
    }
    return is_shipped(ret) ? app_bad(err,
                                     "the world %s is one that pons ships: copy it to worlds/ of "
                                     "the workspace",
                                     pons_get_str(world, "name", name))
                           : PONS_OK;
}

bool app_body_in(const app_context *c, const char *path)
{
    char file[PATH_MAX];
    pons_autovalue body = app_robot_reported(c);
    pons_link *link = NULL;
    if (!realpath(path, file) || strcmp(pons_get_str(body, "world_file", ""), file) != 0 ||
        app_body_link(c, &link, NULL) < 0) {
        return false;
    }
    pons_link_close(link);
    return true;
}

int app_places_tell(const app_context *c, const char *path, bool *ret_known, pons_error *err)
{
    pons_autovalue world = NULL;
    pons_autovalue none = json_array();
    *ret_known = false;
    if (!app_body_in(c, path)) {
        return PONS_OK;
    }
    int rc = pons_world_load(path, &world, err);
    const pons_value *zones = pons_get(world, "zones");
    const pons_message said = {
        .type = PONS_MESSAGE_PLACES,
        .as.places = {.zones = zones ? zones : none, .charger = pons_get(world, "charger")}};
    rc = rc < 0 ? rc : app_ask_body(c, &said, err);
    *ret_known = rc == PONS_OK;
    return rc;
}

static int charger_allowed(const char *path, pons_pose2 at, pons_error *err)
{
    pons_autovalue world = NULL;
    pons_ground *g = NULL;
    int rc = pons_world_load(path, &world, err);
    rc = rc < 0 ? rc : pons_ground_open(world, &g, err);
    if (rc == PONS_OK && pons_ground_at(g, at.x, at.y) == PONS_GROUND_KEEP_OUT) {
        rc = app_bad(err, "it lies in a keep-out area");
    }
    pons_ground_close(g);
    return rc;
}

int app_charger_set(const char *world, pons_pose2 at, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX];
    pons_autovalue after = NULL;
    int rc = app_world_file(world, path, err);
    rc = rc < 0 ? rc : charger_allowed(path, at, err);
    rc = rc < 0 ? rc : app_charger_put(path, at, APP_EDIT_IN_LOOP_MS, err);
    rc = rc < 0 ? rc : pons_world_load(path, &after, err);
    if (rc == PONS_OK) {
        *ret = pons_value_ref(pons_get(after, "charger"));
    }
    return rc;
}
