// leaves.c - a tree with leaves in C: an action that takes three ticks, a condition, and a port.
#include "pons/bt.h"

#include <stdio.h>

static const char xml[] = "<root BTCPP_format=\"4\"><BehaviorTree ID=\"Main\"><Sequence>"
                          "  <BatteryOk/>"
                          "  <Drive distance_m=\"1.5\" odometer=\"{travelled}\"/>"
                          "  <Script code=\"done := travelled >= 1.5\"/>"
                          "</Sequence></BehaviorTree></root>";

static int battery_ok(pons_bt_call *call, void *user, pons_error *err)
{
    (void)call;
    (void)err;
    return *(const int *)user > 20 ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

static int drive(pons_bt_call *call, void *user, pons_error *err)
{
    double *travelled_m = user;
    pons_value *distance = NULL;
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY; // here a robot would stop
    }
    int rc = pons_bt_call_input(call, "distance_m", &distance, err);
    if (rc < 0) {
        return rc;
    }
    *travelled_m += 0.5;
    const bool there = *travelled_m >= json_number_value(distance);
    pons_value_unref(distance);
    rc = pons_bt_call_output(call, "odometer", json_real(*travelled_m), err);
    return rc < 0 ? rc : there ? PONS_BT_SUCCESS : PONS_BT_RUNNING;
}

int main(void)
{
    static const pons_bt_port ports[] = {{"distance_m", 'i', "double", "1.0", false},
                                         {"odometer", 'o', "double", NULL, true}};
    int battery_pct = 80;
    double travelled_m = 0;
    pons_error err = PONS_ERROR_INIT;
    pons_bt *bt = NULL;
    pons_bt_tree *tree = NULL;
    char line[1200];
    pons_value_init();

    pons_bt_registry *leaves = pons_bt_registry_create();
    pons_bt_register(
        leaves,
        &(pons_bt_leaf){
            .name = "BatteryOk", .condition = true, .fn = battery_ok, .user = &battery_pct},
        &err);
    pons_bt_register(
        leaves,
        &(pons_bt_leaf){
            .name = "Drive", .fn = drive, .user = &travelled_m, .ports = ports, .n_ports = 2},
        &err);
    const pons_bt_load_options load = {.format = PONS_BT_XML, .name = "leaves", .leaves = leaves};
    const pons_bt_tree_options options = {.clock = pons_clock_real(), .leaves = leaves};
    int rc = pons_bt_load(xml, sizeof xml - 1, &load, &bt, NULL, &err);
    rc = rc < 0 ? rc : pons_bt_tree_create(bt, &options, &tree, &err);

    pons_bt_status status = PONS_BT_RUNNING;
    while (rc >= 0 && status == PONS_BT_RUNNING) {
        rc = pons_bt_tick(tree, PONS_BT_EXACTLY_ONCE, &status, &err);
        printf("%s, %.1f m\n", pons_bt_status_word(PONS_BT_XML, status), travelled_m);
    }
    if (rc < 0) {
        fprintf(stderr, "%s\n", pons_error_line(&err, line, sizeof line));
    }
    pons_bt_tree_destroy(tree);
    pons_bt_unref(bt);
    pons_bt_registry_destroy(leaves);
    return rc >= 0 && status == PONS_BT_SUCCESS ? 0 : 1;
}
