// cmd_backup.c - `pons backup FILE`: the store as it is at one moment, in a new file, beside a run
// that goes on. To use it, it becomes the pons.db of a workspace.
#include "cli/cli.h"
#include "pons/protected_files.h"
#include "pons/store.h"

#include <stdlib.h>

int cmd_backup(cli *c, pons_error *err)
{
    const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc != 1) {
        return app_bad(err, "backup takes the name of the new file");
    }
    const char *url = getenv("PONS_STORE");
    url = url && *url ? url : NULL;
    cli_busy("copying the store", 0);
    int rc = url ? PONS_OK : pons_workspace_check(c->app.workspace, err);
    rc = rc < 0 ? rc : pons_store_backup(url ? url : c->app.db, c->argv[0], err);
    if (rc < 0) {
        return rc;
    }
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("backup"), "file", json_string(c->argv[0]), NULL);
        cli_print_json(row);
    } else {
        cli_out("%s is a copy of the store; as the pons.db of a workspace it is gone on from\n",
                c->argv[0]);
    }
    return PONS_OK;
}
