// restart.c - a tree that is saved in the middle of its work and goes on in another tree, as it
// would in another process.
#include "pons/bt.h"

#include <stdio.h>
#include <stdlib.h>

static const char mdsl[] = "root { sequence { action [Step, \"pack\"] repeat [3] { action [Step, "
                           "\"carry\"] } action [Step, \"unpack\"] } }";

static int step(pons_bt_call *call, void *user, pons_error *err)
{
    int *steps = user;
    (void)err;
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY;
    }
    pons_autovalue args = pons_bt_call_args(call);
    printf("  %d: %s\n", ++*steps, json_string_value(json_array_get(args, 0)));
    return PONS_BT_SUCCESS;
}

int main(void)
{
    int steps = 0;
    pons_error err = PONS_ERROR_INIT;
    pons_bt *bt = NULL;
    pons_bt_tree *tree = NULL;
    pons_bt_status status = PONS_BT_RUNNING;
    char line[1200];
    pons_value_init();

    pons_bt_registry *leaves = pons_bt_registry_create();
    pons_bt_register(leaves, &(pons_bt_leaf){.name = "Step", .fn = step, .user = &steps}, &err);
    const pons_bt_load_options load = {.format = PONS_BT_MDSL, .name = "restart"};
    const pons_bt_tree_options options = {.clock = pons_clock_real(), .leaves = leaves};
    int rc = pons_bt_load(mdsl, sizeof mdsl - 1, &load, &bt, NULL, &err);

    pons_value *saved = NULL;
    while (rc >= 0 && status == PONS_BT_RUNNING) {
        rc = pons_bt_tree_create(bt, &options, &tree, &err);
        rc = rc < 0 || !saved ? rc : pons_bt_restore(tree, saved, &err);
        rc = rc < 0 ? rc : pons_bt_tick(tree, PONS_BT_EXACTLY_ONCE, &status, &err);
        pons_value_unref(saved);
        saved = NULL;
        rc = rc < 0 ? rc : pons_bt_save(tree, &saved, &err);
        char *states = rc < 0 ? NULL : pons_bt_states(tree);
        printf("%s\n", states ? states : "");
        free(states);
        pons_bt_tree_destroy(tree);
        tree = NULL;
    }
    if (rc < 0) {
        fprintf(stderr, "%s\n", pons_error_line(&err, line, sizeof line));
    }
    pons_value_unref(saved);
    pons_bt_unref(bt);
    pons_bt_registry_destroy(leaves);
    return rc >= 0 && status == PONS_BT_SUCCESS && steps == 5 ? 0 : 1;
}
