// arm_table.h - a body with an arm in the tabletop, under the virtual clock and by the link alone: what the arm's tests
// share. Each of these fails the test when it is not so.
#ifndef BODY_ARM_TABLE_H
#define BODY_ARM_TABLE_H

#include "body_bench.h"
#include "pons/ext/robot.h"

extern const pons_robot_ops *table_robot; // MuJoCo's, once it is loaded

// True: it is loaded. False: a message says why not, and the test's exit code is that.
bool table_load(int *ret_code);
void table_open(bench *t, uint64_t seed);
const pons_value *table_thing(const bench *t, const char *id); // NULL: it is not seen
const char *table_where(const bench *t, const char *id); // "in basket", "held -"; static storage
const char *table_holding(const bench *t);               // "": nothing
// Until it has ended: how, as bench_until_result; and one that ends well.
const char *table_run(bench *t, const char *skill, const char *args);
void table_done(bench *t, const char *skill, const char *args);
void table_refuses(bench *t, const char *skill, const char *args, const char *code, int number);
double table_speed(bench *t); // of the fastest joint, between two looks

#endif
