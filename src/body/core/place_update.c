// place_update.c - world.places: zones and a charger that a person has named while the body runs.
//
//     world.places{zones, charger} -> checked as the world's file is -> the body's world -> hello, to all clients
//
// Whoever sends it has written the world's file before. What moves goes on with what it began with, and what the safety gate
// knows (walls, keep-out and slow areas) stays as it was read.
#include "body/core/place_update.h"

#include "body/core/link_clients.h"
#include "body/core/stop_reset.h"
#include "body/core/telemetry.h"
#include "body/world/world_places.h"

#include <string.h>

static int take(pons_body *b, pons_value *world, pons_error *err)
{
    char id[PONS_WORLD_ID_MAX];
    unsigned has = b->caps.speed_max_mps > 0.0 ? PONS__WITH_WHEELS : 0u;
    has |= pons_get(world, "charger") ? PONS__WITH_CHARGER : 0u;
    int rc = pons_world_id(world, id, err);
    rc = rc < 0 ? rc : pons__skills_dock(&b->skills, has, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *registry = pons__skills_registry(&b->skills);
    if (!registry) {
        return pons_error_set(err, PONS_ENOMEM, "body", "no memory for places");
    }
    pons_value_unref(b->registry);
    pons_value_unref(b->world);
    b->registry = registry;
    b->world = pons_value_ref(world);
    memcpy(b->world_id, id, sizeof id);
    if (b->world_changed) {
        b->world_changed(b->kick_user);
    }
    return PONS_OK;
}

void pons__places_named(pons_body *b, pons__client *c, const pons_message *msg)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    if (!pons__client_may_reset(b, c)) {
        pons__client_error(c, "world.places", "not_permitted",
                           "world.places needs the controller, or the user that the body runs as");
        return;
    }
    int rc = pons__world_with_places(b->world, msg->as.places.zones, msg->as.places.charger, &world,
                                     &err);
    rc = rc < 0 ? rc : take(b, world, &err);
    if (rc < 0) {
        pons__client_error(c, "world.places", "bad_args", "%s", err.message);
        return;
    }
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *each = &b->clients[i];
        if (each->link && each->greeted && !each->gone) {
            pons__body_greet(b, each, each == b->controller ? b->epoch : 0);
        }
    }
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_OK, .as.ok = {.re = "world.places"}});
}
