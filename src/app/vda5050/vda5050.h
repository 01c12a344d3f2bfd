// vda5050.h - what goes along with a session for a master control (vda5050.c).
#pragma once

#include "app/session/session.h"

typedef struct app_vda5050 app_vda5050;

// config: config/vda5050.yaml, checked, with what the command line says instead. world: of a body that
// has to be started. Does not connect yet. *ret is the caller's, config stays the caller's.
int app_vda5050_create(const app_context *c, const pons_value *config, const char *thread,
                       app_vda5050 **ret, pons_error *err);
// After the session; what had failed, if anything.
int app_vda5050_destroy(app_vda5050 *v, int rc, pons_error *err);
app_session_guest app_vda5050_guest(app_vda5050 *v);
