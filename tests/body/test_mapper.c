// test_mapper.c - the thread around a mapper: which scans it is given, what is saved, and what is never written over. The mapper
// is a table of what its functions answer.
#include "body/costmap/costmap.h"
#include "body/mapping/mapper.h"
#include "pons/file.h"
#include "unit.h"

#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    int load, add;   // what they answer
    int adds, saves; // how often they were called
    bool waits;      // load says that it was called, and waits for
    sem_t called, go;
} fake;

static char dir[] = "/tmp/pons-mapper-XXXXXX";
static char map_path[64], graph_path[64], draft_path[64];
static pons__costmap *grid;
static pons__mapper *m;

static int fake_open(const pons_value *config, void **ret_self, pons_error *err)
{
    (void)config;
    (void)err;
    *ret_self = &fake;
    return PONS_OK;
}

static int fake_place(void *self, pons_pose2 base_in_map, pons_pose2 odom_from_base)
{
    (void)self;
    (void)base_in_map;
    (void)odom_from_base;
    return PONS_OK;
}

static int fake_add(void *self, const pons_scan *scan, pons_pose2 odom_from_base,
                    pons_pose2 *ret_map_from_odom, bool *ret_changed, pons_error *err)
{
    (void)self;
    (void)scan;
    (void)odom_from_base;
    fake.adds++;
    *ret_map_from_odom = (pons_pose2){0};
    *ret_changed = true;
    return fake.add == PONS_OK ? PONS_OK : pons_error_set(err, fake.add, "fake", "no scan");
}

static int fake_map(void *self, pons_slam_map *ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret = (pons_slam_map){.w = 20, .h = 20, .resolution_m = 0.05, .cells = calloc(20, 20)};
    return PONS_OK;
}

static int fake_save(void *self, const char *path, pons_error *err)
{
    (void)self;
    (void)err;
    fake.saves++;
    return pons_file_replace(path, "graph\n", 6, 0600) == 0 ? PONS_OK : PONS_EIO;
}

static int fake_load(void *self, const char *path, pons_error *err)
{
    (void)self;
    (void)path;
    if (fake.waits) {
        sem_post(&fake.called);
        sem_wait(&fake.go);
    }
    return fake.load == PONS_OK ? PONS_OK : pons_error_set(err, fake.load, "fake", "no graph");
}

static void fake_close(void *self)
{
    (void)self;
}

static const pons_slam_ops ops = {PONS_SLAM_ABI, fake_open, fake_place, fake_add,
                                  fake_map,      fake_save, fake_load,  fake_close};

static int open_grid(void **state)
{
    (void)state;
    static const char world[] =
        "{\"bounds\":[0,0,2,2],\"map\":{\"resolution_m\":0.05,\"boxes\":[]}}";
    pons_value *v = NULL;
    if (!mkdtemp(dir) || pons_value_parse(world, strlen(world), &v, NULL) != PONS_OK) {
        return -1;
    }
    snprintf(map_path, sizeof map_path, "%s/new.map.yaml", dir);
    snprintf(graph_path, sizeof graph_path, "%s/new.map.g2o", dir);
    snprintf(draft_path, sizeof draft_path, "%s/new.map.g2o.new", dir);
    const int rc = pons__costmap_from_world(v, &grid, NULL);
    pons_value_unref(v);
    return rc;
}

static void empty(void)
{
    char picture[64];
    unlink(map_path);
    unlink(graph_path);
    unlink(draft_path);
    for (int i = 0; i < 2; i++) {
        snprintf(picture, sizeof picture, "%s/new.map.%d.pgm", dir, i);
        unlink(picture);
    }
}

static int close_grid(void **state)
{
    (void)state;
    pons__costmap_destroy(grid);
    return rmdir(dir);
}

static void open_mapper(int load, bool threaded)
{
    fake.load = load;
    fake.add = PONS_OK;
    fake.adds = fake.saves = 0;
    fake.waits = threaded;
    sem_init(&fake.called, 0, 0);
    sem_init(&fake.go, 0, 0);
    const pons__mapper_options o = {
        .slam = &ops, .grid = grid, .map_path = map_path, .room_m = 0.2, .threaded = threaded};
    assert_int_equal(pons__mapper_create(&o, &m, NULL), PONS_OK);
}

static void start(void)
{
    pons__mapper_start(m, (pons_pose2){0}, (pons_pose2){0});
}

static void scan(int64_t stamp_ns)
{
    const pons_scan s = {.stamp_ns = stamp_ns};
    pons__mapper_scan(m, &s, (pons_pose2){0});
}

static pons__mapper_state state_now(void)
{
    pons__mapper_take(m, grid);
    return pons__mapper_state_of(m);
}

static void close_mapper(void)
{
    pons__mapper_destroy(m);
    empty();
}

// The thread is still at the start when both come.
static void a_second_stop_takes_nothing_from_the_first(void **state)
{
    (void)state;
    open_mapper(PONS_ENOTFOUND, true);
    start();
    scan(1);
    pons__mapper_stop(m);
    pons__mapper_stop(m);
    sem_post(&fake.go);
    pons__mapper_destroy(m);
    assert_true(fake.saves > 0);
    assert_int_equal(access(graph_path, F_OK), 0);
    empty();
}

static void a_graph_that_cannot_be_read_is_left_alone(void **state)
{
    (void)state;
    open_mapper(PONS_EINVAL, false);
    start();
    scan(1);
    pons__mapper_stop(m);
    assert_int_equal(state_now(), PONS__MAPPER_FAILED);
    assert_non_null(strstr(pons__mapper_fault(m), "no graph"));
    assert_int_equal(fake.adds, 0);
    assert_int_equal(fake.saves, 0);
    close_mapper();
}

static void a_scan_during_a_start_that_fails_is_dropped(void **state)
{
    (void)state;
    open_mapper(PONS_EINVAL, true);
    start();
    sem_wait(&fake.called);
    scan(1);
    sem_post(&fake.go);
    while (state_now() != PONS__MAPPER_FAILED) {
        sched_yield();
    }
    fake.load = PONS_OK;
    start();
    sem_post(&fake.go);
    pons__mapper_destroy(m);
    assert_int_equal(fake.adds, 0);
    assert_int_equal(fake.saves, 0);
    empty();
}

static void a_map_without_its_graph_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(pons_file_replace(map_path, "mine\n", 5, 0600), 0);
    open_mapper(PONS_ENOTFOUND, false);
    start();
    scan(1);
    assert_int_equal(state_now(), PONS__MAPPER_FAILED);
    assert_non_null(strstr(pons__mapper_fault(m), "new.map.g2o"));
    assert_int_equal(fake.saves, 0);
    close_mapper();
}

static void a_start_after_a_failure_begins_anew(void **state)
{
    (void)state;
    open_mapper(PONS_EINVAL, false);
    start();
    assert_int_equal(state_now(), PONS__MAPPER_FAILED);
    fake.load = PONS_OK;
    start();
    assert_int_equal(pons__mapper_state_of(m), PONS__MAPPER_RUNNING); // before the next take
    assert_false(pons__mapper_newest(m)->placed);
    scan(1);
    assert_int_equal(state_now(), PONS__MAPPER_RUNNING);
    assert_true(pons__mapper_newest(m)->placed);
    close_mapper();
}

static void a_scan_that_is_refused_is_one_of_many(void **state)
{
    (void)state;
    open_mapper(PONS_OK, false);
    start();
    fake.add = PONS_EINVAL;
    for (int i = 1; i < 20; i++) {
        scan(i);
    }
    assert_int_equal(state_now(), PONS__MAPPER_RUNNING);
    fake.add = PONS_OK;
    scan(20);
    fake.add = PONS_EINVAL;
    for (int i = 1; i < 20; i++) {
        scan(20 + i);
    }
    assert_int_equal(state_now(), PONS__MAPPER_RUNNING);
    scan(40);
    assert_int_equal(state_now(), PONS__MAPPER_FAILED);
    assert_non_null(strstr(pons__mapper_fault(m), "no scan"));
    close_mapper();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_stop_takes_nothing_from_the_first),
        cmocka_unit_test(a_graph_that_cannot_be_read_is_left_alone),
        cmocka_unit_test(a_scan_during_a_start_that_fails_is_dropped),
        cmocka_unit_test(a_map_without_its_graph_is_left_alone),
        cmocka_unit_test(a_start_after_a_failure_begins_anew),
        cmocka_unit_test(a_scan_that_is_refused_is_one_of_many),
    };
    return cmocka_run_group_tests(tests, open_grid, close_grid);
}
