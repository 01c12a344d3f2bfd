// The ledger in parts: many goals in little memory, ids that are never started again whatever became
// of their lines, and a file that is sealed while the process is killed, or the disk fails, at each of
// the calls that change the disk. Those calls are the test's own here, so that it can count them.
#include "body/ledger/ledger.h"
#include "body/ledger/ledger_index.h"
#include "pons/body.h"
#include "rounds.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DAY_MS INT64_C(86400000)
#define KILLED 9

// ---- the disk -----------------------------------------------------------------------------------

static struct {
    bool on;
    int calls, at; // the call of this number is the one
    int why;       // errno that it fails with; 0: the process ends
    bool for_good; // and all after it fail as well
} disk;

// Is this the call? Half of a write may be done by then.
static bool fails(void)
{
    if (!disk.on) {
        return false;
    }
    const int n = disk.calls++;
    if (n != disk.at && !(disk.for_good && n > disk.at)) {
        return false;
    }
    errno = disk.why;
    return true;
}

static int failed(void)
{
    if (disk.why == 0) {
        _exit(KILLED);
    }
    errno = disk.why;
    return -1;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    if (fails()) {
        (void)!syscall(SYS_pwrite64, fd, data, n / 2, at);
        return failed();
    }
    return syscall(SYS_pwrite64, fd, data, n, at);
}

int fsync(int fd)
{
    return fails() ? failed() : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails() ? failed() : (int)syscall(SYS_fdatasync, fd);
}

int link(const char *from, const char *to)
{
    return fails() ? failed() : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int rename(const char *from, const char *to)
{
    return fails() ? failed() : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    return fails() ? failed() : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int ftruncate(int fd, off_t n)
{
    return fails() ? failed() : (int)syscall(SYS_ftruncate, fd, n);
}

// ---- the ledger ---------------------------------------------------------------------------------

static char dir[64], path[96];
static int64_t wall_ms;

static int64_t wall(void *ctx)
{
    (void)ctx;
    return wall_ms;
}

static int make_dir(void **state)
{
    (void)state;
    struct stat st; // a sync costs nothing there
    snprintf(dir, sizeof dir, "%s/pons-parts-XXXXXX",
             stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/body.ledger", dir);
    const pons_clock real = pons_clock_real();
    wall_ms = pons_wall_ms(&real);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char name[400];
        snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.') {
            unlink(name);
        }
    }
    closedir(d);
    return rmdir(dir);
}

static int append(pons__ledger *l, const char *goal_id, pons_goal_state state)
{
    const pons_ledger_line one = {.goal_id = goal_id,
                                  .args_hash = "h",
                                  .skill = "wait",
                                  .state = state,
                                  .boot_id = "b1",
                                  .epoch = 5,
                                  .ended = pons_goal_over(state)};
    return pons__ledger_append(l, &one, 1, NULL);
}

// NULL: the disk fails, and may.
static pons__ledger *open_ledger(int64_t part_bytes, int64_t size_bytes, int64_t audit_ms)
{
    pons__ledger *l = NULL;
    pons_error err = PONS_ERROR_INIT;
    char text[1024];
    if (pons__ledger_open(path, &l, &err) < 0) {
        if (disk.on && disk.calls > disk.at) {
            return NULL;
        }
        fail_msg("%s", pons_error_line(&err, text, sizeof text));
    }
    pons__ledger_bounds b = {.part_bytes = part_bytes,
                             .size_bytes = size_bytes,
                             .audit_ms = audit_ms,
                             .clock = pons_clock_real()};
    b.clock.wall_ms = wall;
    pons__ledger_bound(l, &b);
    return l;
}

static const char *id(int i)
{
    static char ids[4][16];
    static int at;
    at = (at + 1) % 4;
    snprintf(ids[at], sizeof ids[at], "goal-%d", i);
    return ids[at];
}

static const char *state_of(pons__ledger *l, const char *goal_id, bool *ret_kept)
{
    pons__ledger_entry received;
    if (!pons__ledger_find(l, goal_id, &received)) {
        return "unknown";
    }
    *ret_kept = received.kept;
    assert_string_equal(received.line.goal_id, goal_id);
    assert_string_equal(received.line.skill, received.kept ? "wait" : "");
    return pons_goal_states[received.line.state];
}

static void must_know(pons__ledger *l, int from, int to, bool kept)
{
    for (int i = from; i < to; i++) {
        bool has = !kept;
        assert_string_equal(state_of(l, id(i), &has), "done");
        assert_int_equal(has, kept);
        assert_int_equal(append(l, id(i), PONS_GOAL_STARTED), PONS_EEXIST);
    }
}

static bool there(const char *name)
{
    struct stat st;
    char at[256];
    snprintf(at, sizeof at, "%s/%s", dir, name);
    return stat(at, &st) == 0;
}

static void drop(const char *name)
{
    char at[256];
    snprintf(at, sizeof at, "%s/%s", dir, name);
    assert_int_equal(unlink(at), 0);
}

static void run(pons__ledger *l, int from, int to)
{
    for (int i = from; i < to; i++) {
        assert_int_equal(append(l, id(i), PONS_GOAL_STARTED), PONS_OK);
        assert_int_equal(append(l, id(i), PONS_GOAL_DONE), PONS_OK);
    }
}

// ---- tests --------------------------------------------------------------------------------------

// PONS_ROUNDS=body_goals=1000000 makes it a million.
static void many_goals_take_little_memory_each(void **state)
{
    (void)state;
    const int goals = (int)rounds(ROUNDS_body_goals);
    pons__ledger *l = open_ledger(1 << 20, INT64_MAX, 0);
    run(l, 0, goals);
    assert_true(pons__ledger_parts(l) >= goals / 10000);
    pons__ledger_close(l);
    l = open_ledger(1 << 20, INT64_MAX, 0);
    assert_int_equal(pons__ledger_goals(l), goals);
    for (int i = 0; i < goals; i += 97) {
        must_know(l, i, i + 1, true);
    }
    bool kept;
    assert_string_equal(state_of(l, id(goals), &kept), "unknown");
    assert_int_equal(append(l, id(goals), PONS_GOAL_STARTED), PONS_OK);
    pons__ledger_close(l);
    // What a goal takes is a slot of the index, and the room that it leaves free.
    pons__index ix = {0};
    for (int i = 0; i < goals; i++) {
        assert_int_equal(pons__index_reserve(&ix, 1), PONS_OK);
        pons__index_put(&ix, pons__index_key(id(i)),
                        (pons__place){.part = 1, .at = 0, .state = PONS_GOAL_DONE});
    }
    assert_int_equal(ix.n, goals);
    assert_true(ix.cap * 16 / ix.n <= 43);
    pons__index_fini(&ix);
}

static void a_goal_ends_in_another_part_than_it_began(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(2000, INT64_MAX, 0);
    assert_int_equal(append(l, "long", PONS_GOAL_STARTED), PONS_OK);
    run(l, 0, 40);
    assert_true(pons__ledger_parts(l) > 2);
    assert_string_equal(pons__ledger_unfinished(l, "b1"), "long");
    pons__ledger_close(l);
    l = open_ledger(2000, INT64_MAX, 0);
    assert_string_equal(pons__ledger_unfinished(l, "b1"), "long");
    assert_int_equal(append(l, "long", PONS_GOAL_STARTED), PONS_EEXIST);
    assert_int_equal(append(l, "long", PONS_GOAL_DONE), PONS_OK);
    pons__ledger_close(l);
    l = open_ledger(2000, INT64_MAX, 0);
    assert_null(pons__ledger_unfinished(l, NULL));
    must_know(l, 0, 40, true);
    assert_int_equal(pons__ledger_epoch(l), 5);
    pons__ledger_close(l);
}

static void a_stop_is_known_in_the_next_part(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(2000, INT64_MAX, 0);
    pons_ledger_note note = {
        .kind = PONS_LEDGER_LATCH, .origin = "stop", .reason = "a cat", .boot_id = "b1"};
    assert_int_equal(pons__ledger_note(l, &note, NULL), PONS_OK);
    run(l, 0, 40);
    pons__ledger_close(l);
    l = open_ledger(2000, INT64_MAX, 0);
    assert_true(pons__ledger_witness(l)->latched);
    assert_int_equal(pons__ledger_witness(l)->origin, PONS__ORIGIN_STOP);
    assert_string_equal(pons__ledger_witness(l)->reason, "a cat");
    note.kind = PONS_LEDGER_RESET;
    assert_int_equal(pons__ledger_note(l, &note, NULL), PONS_OK);
    run(l, 40, 80);
    pons__ledger_close(l);
    l = open_ledger(2000, INT64_MAX, 0);
    assert_false(pons__ledger_witness(l)->latched);
    pons__ledger_close(l);
}

// Old lines go, the ids stay; and not before their time, wherever the clock jumps.
static void what_was_removed_is_not_started_again(void **state)
{
    (void)state;
    const int64_t now_ms = wall_ms;
    pons__ledger *l = open_ledger(2000, 0, 30 * DAY_MS);
    run(l, 0, 40);
    const int64_t parts = pons__ledger_parts(l);
    assert_true(parts > 2);
    pons__ledger_close(l);
    wall_ms = now_ms - 400 * DAY_MS;
    l = open_ledger(2000, 0, 30 * DAY_MS);
    assert_int_equal(pons__ledger_parts(l), parts);
    pons__ledger_close(l);
    wall_ms = now_ms + 29 * DAY_MS;
    l = open_ledger(2000, 0, 30 * DAY_MS);
    assert_int_equal(pons__ledger_parts(l), parts);
    pons__ledger_close(l);
    wall_ms = now_ms + 400 * DAY_MS;
    l = open_ledger(2000, INT64_MAX, 30 * DAY_MS); // there is room for them
    assert_int_equal(pons__ledger_parts(l), parts);
    pons__ledger_close(l);
    l = open_ledger(2000, 0, 0); // none ever
    assert_int_equal(pons__ledger_parts(l), parts);
    pons__ledger_close(l);
    drop("body.ledger.1.ids"); // made again before its lines go
    for (int life = 0; life < 2; life++) {
        l = open_ledger(2000, 0, 30 * DAY_MS);
        assert_int_equal(pons__ledger_parts(l), 0);
        assert_false(there("body.ledger.1"));
        assert_int_equal(pons__ledger_goals(l), 40);
        must_know(l, 0, 20, false);
        pons__ledger_close(l);
    }
    pons_body_files f;
    assert_int_equal(pons_body_verify(dir, &f, NULL), PONS_OK);
    assert_int_equal(f.goals, 40);
}

static void ids_are_made_again_from_their_lines(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(2000, INT64_MAX, 0);
    run(l, 0, 40);
    pons__ledger_close(l);
    drop("body.ledger.1.ids");
    char at[256];
    snprintf(at, sizeof at, "%s.2.ids", path);
    FILE *f = fopen(at, "r+");
    assert_non_null(f);
    fseek(f, 20, SEEK_SET);
    fputc('?', f);
    fclose(f);
    l = open_ledger(2000, INT64_MAX, 0);
    assert_true(there("body.ledger.1.ids"));
    must_know(l, 0, 40, true);
    pons__ledger_close(l);
}

static void a_part_that_is_missing_is_named_and_repaired(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(2000, INT64_MAX, 0);
    run(l, 0, 40);
    pons__ledger_close(l);
    drop("body.ledger.2");
    l = open_ledger(2000, INT64_MAX, 0); // its goals are known
    bool kept = true;
    assert_string_equal(state_of(l, id(9), &kept), "done");
    pons__ledger_close(l);
    drop("body.ledger.2.ids");
    pons_error err = PONS_ERROR_INIT;
    pons_body_files f;
    l = NULL;
    assert_int_equal(pons__ledger_open(path, &l, &err), PONS_ECORRUPT);
    assert_non_null(strstr(err.source, "body.ledger.2"));
    assert_non_null(strstr(err.message, "`pons doctor --repair`"));
    assert_int_equal(pons_body_verify(dir, &f, NULL), PONS_ECORRUPT);
    int64_t lost = 0;
    char copy[256] = "";
    assert_int_equal(pons_body_repair(dir, &lost, copy, sizeof copy, &err), PONS_OK);
    assert_int_equal(lost, 1);
    assert_int_equal(pons_body_verify(dir, &f, &err), PONS_OK);
    assert_true(f.boots_latched);
    assert_string_equal(f.origin, "unknown");
    l = open_ledger(2000, INT64_MAX, 0);
    must_know(l, 0, 3, true);
    must_know(l, 38, 40, true);
    pons__ledger_close(l);
}

static void a_damaged_line_of_a_sealed_part_is_refused_and_repaired(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(2000, INT64_MAX, 0);
    run(l, 0, 40);
    pons__ledger_close(l);
    char at[256];
    snprintf(at, sizeof at, "%s.1", path);
    assert_int_equal(chmod(at, 0600), 0);
    FILE *f = fopen(at, "r+");
    assert_non_null(f);
    char line[1024];
    assert_non_null(fgets(line, sizeof line, f)); // started
    const long second = ftell(f);
    fseek(f, second + 20, SEEK_SET);
    fputc('\1', f);
    fclose(f);
    l = open_ledger(2000, INT64_MAX, 0);
    must_know(l, 0, 1, false);
    must_know(l, 1, 40, true);
    pons__ledger_close(l);
    pons_error err = PONS_ERROR_INIT;
    pons_body_files files;
    assert_int_equal(pons_body_verify(dir, &files, &err), PONS_ECORRUPT);
    assert_non_null(strstr(err.source, "body.ledger.1:2"));
    int64_t lost = 0;
    char copy[256] = "";
    assert_int_equal(pons_body_repair(dir, &lost, copy, sizeof copy, &err), PONS_OK);
    assert_int_equal(lost, 1);
    assert_non_null(strstr(copy, "body.ledger.1.damaged-1"));
    assert_int_equal(pons_body_verify(dir, &files, &err), PONS_OK);
    assert_true(files.boots_latched);
    l = open_ledger(2000, INT64_MAX, 0);
    assert_int_equal(append(l, id(0), PONS_GOAL_STARTED), PONS_EEXIST);
    must_know(l, 1, 40, true);
    pons__ledger_close(l);
}

static void the_file_that_is_written_is_missed(void **state)
{
    (void)state;
    pons__ledger *l = open_ledger(2000, INT64_MAX, 0);
    run(l, 0, 40);
    pons__ledger_close(l);
    drop("body.ledger");
    pons_body_files f;
    assert_int_equal(pons_body_verify(dir, &f, NULL), PONS_OK);
    assert_true(f.boots_latched);
    assert_false(there("body.ledger")); // it was only looked at
    for (int life = 0; life < 2; life++) {
        l = open_ledger(2000, INT64_MAX, 0);
        assert_true(pons__ledger_witness(l)->latched);
        assert_int_equal(pons__ledger_witness(l)->origin, PONS__ORIGIN_UNKNOWN);
        must_know(l, 0, 10, true);
        pons__ledger_close(l);
    }
}

// ---- a disk that fails --------------------------------------------------------------------------

// Goals until some part was sealed, then some more. What was acknowledged is told through the pipe:
// goal and state, two bytes each.
static void life(int reported, int from, int to)
{
    pons__ledger *l = open_ledger(900, 900, 1);
    for (int i = from; l && i < to; i++) {
        static const pons_goal_state states[] = {PONS_GOAL_STARTED, PONS_GOAL_DONE};
        for (size_t k = 0; k < 2; k++) {
            if (append(l, id(i), states[k]) == PONS_OK) {
                const uint8_t say[2] = {(uint8_t)i, (uint8_t)states[k]};
                assert_int_equal(write(reported, say, 2), 2);
            } else {
                break;
            }
        }
    }
    pons__ledger_close(l);
}

// The calls that it made, or -1 when it was killed.
static int live(int from, int to, int acknowledged[256])
{
    int reported[2], counted[2];
    assert_int_equal(pipe(reported), 0);
    assert_int_equal(pipe(counted), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        disk.on = true;
        disk.calls = 0;
        life(reported[1], from, to);
        disk.on = false;
        _exit(write(counted[1], &disk.calls, sizeof disk.calls) == sizeof disk.calls ? 0 : 1);
    }
    close(reported[1]);
    close(counted[1]);
    uint8_t say[2];
    while (read(reported[0], say, 2) == 2) {
        acknowledged[say[0]] = say[1];
    }
    int calls = -1, status = 0;
    (void)!read(counted[0], &calls, sizeof calls);
    close(reported[0]);
    close(counted[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) &&
                (WEXITSTATUS(status) == 0 || (disk.why == 0 && WEXITSTATUS(status) == KILLED)));
    return calls;
}

static void each_call(int why, bool for_good)
{
    disk.at = -1;
    disk.for_good = false;
    int none[256] = {0};
    const int calls = live(0, 7, none);
    assert_true(calls > 20 && there("body.ledger.1.ids") && !there("body.ledger.1"));
    const int asked = (int)rounds(ROUNDS_body_faults), n = asked < calls ? asked : calls;
    for (int k = 0; k < n; k++) {
        const int at = n > 1 ? k * (calls - 1) / (n - 1) : 0;
        int acknowledged[256] = {0};
        remove_dir(NULL);
        make_dir(NULL);
        wall_ms += 10 * DAY_MS; // so that parts are removed as well
        disk.at = at;
        disk.why = why;
        disk.for_good = for_good;
        live(0, 7, acknowledged);
        disk.at = -1;
        disk.for_good = false;
        live(7, 12, acknowledged);
        pons__ledger *l = open_ledger(900, INT64_MAX, 0);
        for (int i = 0; i < 12; i++) {
            if (!acknowledged[i]) {
                continue;
            }
            pons__ledger_entry received;
            if (!pons__ledger_find(l, id(i), &received) || !received.started ||
                received.line.state < acknowledged[i] || !(received.kept || received.removed)) {
                fail_msg("call %d (%s): goal %d is lost", at, why ? strerror(why) : "killed", i);
            }
            assert_int_equal(append(l, id(i), PONS_GOAL_STARTED), PONS_EEXIST);
        }
        for (int i = 7; i < 12; i++) { // the disk is well again, and so is the ledger
            assert_int_equal(acknowledged[i], PONS_GOAL_DONE);
        }
        assert_int_equal(pons__ledger_torn(l), 0);
        pons__ledger_close(l);
        pons_body_files f;
        assert_int_equal(pons_body_verify(dir, &f, NULL), PONS_OK);
    }
}

static void killed_at_each_call(void **state)
{
    (void)state;
    wall_ms += 10 * DAY_MS;
    each_call(0, false);
}

static void a_disk_that_is_full_at_each_call(void **state)
{
    (void)state;
    wall_ms += 10 * DAY_MS;
    each_call(ENOSPC, false);
}

static void a_disk_that_stays_full_from_each_call_on(void **state)
{
    (void)state;
    wall_ms += 10 * DAY_MS;
    each_call(ENOSPC, true);
}

static void a_disk_that_fails_at_each_call(void **state)
{
    (void)state;
    wall_ms += 10 * DAY_MS;
    each_call(EIO, false);
}

int main(void)
{
    pons_value_init();
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        IN_DIR(many_goals_take_little_memory_each),
        IN_DIR(a_goal_ends_in_another_part_than_it_began),
        IN_DIR(a_stop_is_known_in_the_next_part),
        IN_DIR(what_was_removed_is_not_started_again),
        IN_DIR(ids_are_made_again_from_their_lines),
        IN_DIR(a_part_that_is_missing_is_named_and_repaired),
        IN_DIR(a_damaged_line_of_a_sealed_part_is_refused_and_repaired),
        IN_DIR(the_file_that_is_written_is_missed),
        IN_DIR(killed_at_each_call),
        IN_DIR(a_disk_that_is_full_at_each_call),
        IN_DIR(a_disk_that_stays_full_from_each_call_on),
        IN_DIR(a_disk_that_fails_at_each_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
