// body_stop_state.c - what is looked at before a word that sets a robot free, or stops it, is posted: the stop of its body.
//
// Whoever posts the word looks, because what the brain has is some milliseconds old, or it is dead: so a reset means
// the stop that was in force when it was said, and a continue is none that comes before it. In the workspace of a fleet
// it is the body of the robot whose thread it is.
#include "app/fleet/fleet.h"
#include "app/operator/operator.h"
#include "pons/brain.h"

pons_value *app_stop_state_note(const app_context *c, const char *thread, int timeout_ms,
                                pons_value *word)
{
    pons_autovalue hello = NULL;
    pons_value *telemetry = NULL;
    app_context at = app_fleet_at(c, thread);
    app_observe(&at, timeout_ms, &hello, &telemetry);
    const pons_value *stop = pons_get(telemetry, "stop");
    if (stop) {
        json_object_set_new(word, "stop_boot", json_string(pons_get_str(telemetry, "boot_id", "")));
        json_object_set_new(word, "stop_number", json_integer(pons_get_int(stop, "number", 0)));
        json_object_set_new(word, "stop_latched",
                            json_boolean(pons_get_bool(stop, "latched", true)));
    }
    return telemetry;
}

int app_may_continue(pons_store store, const char *thread, const pons_value *looked,
                     pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue is = NULL;
    const pons_value *stop = pons_get(looked, "stop");
    if (pons_get_bool(stop, "latched", false)) {
        return pons_error_set(err, PONS_EINVAL, "stop",
                              "the stop is latched (%s): a reset comes first (`pons reset`)",
                              pons_get_str(stop, "reason", ""));
    }
    if (!looked && pons_status_read(store, thread, NULL, NULL, &is, &none) >= 0 &&
        json_is_object(pons_get(is, "stopped"))) {
        return pons_error_set(err, PONS_EENV, "stop",
                              "a stop was in force, and no body answers that could tell whether it "
                              "is lifted: say it again when one runs");
    }
    return PONS_OK;
}
