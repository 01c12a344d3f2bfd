// test_memory_flat.c - a brain and a body that do task after task need no more memory than after the first.
//
// Both in this process, on the virtual clock, with a SQLite store and what is shipped of `store.keep`.
// What is counted are the bytes that are allocated at the moment, as malloc (or the sanitizer's) says,
// so neither the machine nor its load is in it. What may stay of a task is a line of the body's ledger,
// for a goal that was known once is known for ever.
#include "pons/body.h"
#include "pons/brain.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "pons/rule_policy.h"
#include "pons/yaml.h"
#include "rounds.h"
#include "unit.h"

#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); // its header comes with another compiler
#endif

#define STEP_NS   (20 * PONS_NS_PER_MS)
#define STEPS_MAX 100000 // of one task
#define KEEP      20     // store.keep.tasks
#define WARM      50     // tasks: more than that, so that what is kept is full
#define TASK_MAX  1536   // bytes that one may leave in memory

typedef struct rig {
    char dir[64], path[96];
    pons_clock_manual clock;
    pons_value *intents, *config, *house;
    pons_store store;
    pons_policy rules;
    pons_body *body;
    pons_brain *brain;
    int ended;
} rig;

static size_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
#endif
}

static void must(int rc, const pons_error *err)
{
    char line[1200];
    if (rc < 0) {
        fail_msg("%s", pons_error_line(err, line, sizeof line));
    }
}

static pons_value *load(const char *relative)
{
    char path[4096];
    pons_yaml *yaml = NULL;
    pons_error err = PONS_ERROR_INIT;
    must(pons_share_path(relative, path, sizeof path, &err), &err);
    must(pons_yaml_load(path, &yaml, &err), &err);
    pons_value *v = pons_value_ref(pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    return v;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    pons_link *theirs = NULL;
    const int rc = pons_link_pair(ret, &theirs, err);
    return rc < 0 ? rc : pons_body_attach(((rig *)user)->body, theirs, err);
}

static void count_ends(void *user, const pons_event *ev)
{
    ((rig *)user)->ended += strcmp(ev->type, "task.done") == 0;
}

static void begin(rig *r)
{
    pons_error err = PONS_ERROR_INIT;
    char world[4096];
    *r = (rig){.clock = {.wall_epoch_ms = 1700000000000}};
    snprintf(r->dir, sizeof r->dir, "%s/pons-flat-XXXXXX", // a sync costs nothing there
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(r->dir));
    snprintf(r->path, sizeof r->path, "%s/pons.db", r->dir);
    must(pons_store_sqlite_open(r->path, &r->store, &err), &err);
    r->intents = load("config/intents.yaml");
    pons_autovalue shipped = load("config/kernel.yaml");
    r->config = json_deep_copy(shipped);
    json_object_set_new(json_object_get(json_object_get(r->config, "store"), "keep"), "tasks",
                        json_integer(KEEP));
    must(pons_rules_open(r->intents, &r->rules, &err), &err);
    must(pons_share_path("worlds/house.yaml", world, sizeof world, &err), &err);
    must(pons_world_load(world, &r->house, &err), &err);
    pons_body_options body = PONS_BODY_OPTIONS_INIT;
    body.robot = &pons_robot_kinematic;
    body.world = r->house;
    body.clock = pons_clock_from_manual(&r->clock);
    body.seed = 1;
    must(pons_body_create(&body, &r->body, &err), &err);
    const pons_brain_options opts = {.store = r->store,
                                     .thread = "flat",
                                     .clock = pons_clock_from_manual(&r->clock),
                                     .seed = 1,
                                     .config = r->config,
                                     .policy = r->rules,
                                     .connect = connect_body,
                                     .on_event = count_ends,
                                     .user = r,
                                     .keep_running = true};
    must(pons_brain_open(&opts, &r->brain, &err), &err);
}

static void end(rig *r)
{
    char command[96];
    pons_brain_close(r->brain);
    pons_body_destroy(r->body);
    pons_rules_close(&r->rules);
    pons_store_close(&r->store);
    pons_value_unref(r->house);
    pons_value_unref(r->intents);
    pons_value_unref(r->config);
    snprintf(command, sizeof command, "rm -rf '%s'", r->dir);
    assert_int_equal(system(command), 0);
}

// So many tasks, one after the other, each said when the one before has ended; no two are the same.
static void work(rig *r, int tasks)
{
    pons_error err = PONS_ERROR_INIT;
    for (int last = r->ended + tasks; r->ended < last;) {
        const int before = r->ended;
        char text[40];
        snprintf(text, sizeof text, "wait 0.%03d seconds", 100 + before);
        const char *goal = text;
        must(pons_brain_add_goals(r->brain, &goal, 1, &err), &err);
        for (long i = 0; r->ended == before; i++) {
            assert_true(i < STEPS_MAX);
            r->clock.now_ns += STEP_NS;
            must(pons_body_step(r->body, STEP_NS, &err), &err);
            must(pons_brain_poll(r->brain, &err), &err);
        }
    }
}

static void tasks_leave_a_line_of_the_ledger(void **state)
{
    (void)state;
    rig r;
    const int more = (int)rounds(ROUNDS_scenario_tasks);
    begin(&r);
    work(&r, WARM);
    const size_t warm = allocated();
    work(&r, more);
    const size_t then = allocated();
    const double per_task = ((double)then - (double)warm) / more;
    print_message("%zu bytes after %d tasks, %zu after %d: %.0f a task\n", warm, WARM, then,
                  WARM + more, per_task);
    assert_true(per_task < TASK_MAX);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tasks_leave_a_line_of_the_ledger)};
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
