// vda5050.h - what goes along with a session for a master control (vda5050.c).
#ifndef PONS_CLI_VDA5050_H
#define PONS_CLI_VDA5050_H

#include "cli/cli.h"

typedef struct cli_vda5050 cli_vda5050;

// config: config/vda5050.yaml, checked, with what the command line says instead. world: of a body that
// has to be started. Does not connect yet. *ret is the caller's, config stays the caller's.
int cli_vda5050_create(cli *c, const pons_value *config, const char *thread, cli_vda5050 **ret,
                       pons_error *err);
// After the session; what had failed, if anything.
int cli_vda5050_destroy(cli_vda5050 *v, int rc, pons_error *err);
cli_session_guest cli_vda5050_guest(cli_vda5050 *v);

#endif
