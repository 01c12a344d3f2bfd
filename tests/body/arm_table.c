// arm_table.c - see arm_table.h.
#include "arm_table.h"

#include "pons/module.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const pons_robot_ops *table_robot;

bool table_load(int *ret_code)
{
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    if (pons_module_load("driver", "mujoco", &loaded, &err) < 0) {
        printf("skipped: %s\n", err.message);
        *ret_code = err.status == PONS_ENOTFOUND ? 0 : 1;
        return false;
    }
    table_robot = loaded;
    return true;
}

void table_open(bench *t, uint64_t seed)
{
    bench_open_with(t, PONS_SOURCE_DIR "/worlds/tabletop.yaml", table_robot, seed);
    bench_hello(t);
    bench_step(t, 0.5);
}

const pons_value *table_thing(const bench *t, const char *id)
{
    size_t i;
    json_t *o;
    json_array_foreach(pons_get(t->telemetry, "scene"), i, o) {
        if (strcmp(pons_get_str(o, "id", ""), id) == 0) {
            return o;
        }
    }
    return NULL;
}

const char *table_where(const bench *t, const char *id)
{
    static char text[128];
    const pons_value *o = table_thing(t, id);
    snprintf(text, sizeof text, "%s %s", pons_get_str(o, "relation", "-"),
             pons_get_str(o, "at", "-"));
    return text;
}

const char *table_holding(const bench *t)
{
    return pons_get_str(t->telemetry, "holding", "");
}

const char *table_run(bench *t, const char *skill, const char *args)
{
    return bench_until_result(t, bench_goal(t, NULL, skill, args), 90.0);
}

void table_done(bench *t, const char *skill, const char *args)
{
    const char *result = table_run(t, skill, args);
    if (strcmp(result, "done 0") != 0) {
        fail_msg("%s %s: %s, holding %s", skill, args, result, table_holding(t));
    }
}

void table_refuses(bench *t, const char *skill, const char *args, const char *code, int number)
{
    bench_forget(t);
    bench_goal(t, NULL, skill, args);
    bench_step(t, 0.05);
    const pons_value *r = bench_last(t, "rejected");
    assert_string_equal(pons_get_str(r, "code", ""), code);
    assert_int_equal(pons_get_int(r, "error_code", 0), number);
}

double table_speed(bench *t)
{
    double before[8], most = 0.0;
    const pons_value *q = pons_get(pons_get(t->telemetry, "arm"), "joints");
    for (size_t i = 0; i < 7; i++) {
        before[i] = json_number_value(json_array_get(q, i));
    }
    bench_step(t, 0.1);
    q = pons_get(pons_get(t->telemetry, "arm"), "joints");
    for (size_t i = 0; i < 7; i++) {
        most = fmax(most, fabs(json_number_value(json_array_get(q, i)) - before[i]) / 0.1);
    }
    return most;
}
