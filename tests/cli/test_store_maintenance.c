// test_store_maintenance.c - what a workspace keeps, through the program: doctor names damage and repairs it,
// backups are made beside a run and gone on from, and a workspace that may not be written is read.
#include "cli_bench.h"
#include "pons/ext/store.h"
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// `pons doctor` ends with this status; a line about `check` has this state.
static void doctor_says(bench *b, const char *words, int status, const char *check,
                        const char *state)
{
    proc p = {0};
    char all[64];
    bool found = false;
    size_t i;
    json_t *line;
    snprintf(all, sizeof all, "doctor --json %s", words);
    bench_start(b, &p, NULL, all);
    bench_must_exit(&p, status);
    json_array_foreach(p.events, i, line) {
        found = found || (strcmp(pons_get_str(line, "check", ""), check) == 0 &&
                          strcmp(pons_get_str(line, "state", ""), state) == 0);
    }
    if (!found) {
        fail_msg("no %s for %s in\n%s", state, check, p.text);
    }
    bench_free(&p);
}

// A line of `pons doctor` about `check` with the environment's words before it: its state, and what it says.
static void reaches(bench *b, const char *environment, const char *check, const char *state,
                    const char *says)
{
    proc p = {0};
    char words[512];
    bool found = false;
    size_t i;
    json_t *line;
    snprintf(words, sizeof words, "%s %s/pons doctor --json --workspace %s", environment,
             PONS_BINARY_DIR, b->workspace);
    bench_start_program(b, &p, "/usr/bin/env", words);
    bench_finish(&p);
    json_array_foreach(p.events, i, line) {
        found = found || (strcmp(pons_get_str(line, "check", ""), check) == 0 &&
                          strcmp(pons_get_str(line, "state", ""), state) == 0 &&
                          strstr(pons_get_str(line, "detail", ""), says));
    }
    if (!found) {
        fail_msg("no %s for %s with %s in\n%s", state, check, says, p.text);
    }
    bench_free(&p);
}

static void what_is_said_to_be_reachable_is_reached(void **state)
{
    (void)state;
    bench b;
    proc model = {0};
    char environment[128], command[512];
    bench_open(&b);
    reaches(&b, "A=b", "model", "absent", "none is configured");
    reaches(&b, "PONS_LLM_URL=http://127.0.0.1:9/v1", "model", "absent", "127.0.0.1:9");
    const int port = bench_start_model(&b, &model, "--rules");
    snprintf(environment, sizeof environment, "PONS_LLM_URL=http://127.0.0.1:%d/v1", port);
    reaches(&b, environment, "model", "ok", "answers");
    bench_signal(&model, SIGTERM);
    bench_finish(&model);
    bench_free(&model);
    snprintf(command, sizeof command,
             "mkdir -p -m 700 %s/config && sed 's/^broker:.*/broker: "
             "mqtt:\\/\\/127.0.0.1:9/' " PONS_SOURCE_DIR
             "/config/vda5050.yaml > %s/config/vda5050.yaml",
             b.workspace, b.workspace);
    assert_int_equal(system(command), 0);
    reaches(&b, "A=b", "vda5050 broker", "absent", "127.0.0.1 port 9");
    bench_close(&b);
}

static void damage_is_named_and_repaired(void **state)
{
    (void)state;
    bench b;
    char path[200];
    bench_open(&b);
    assert_int_equal(bench_run(&b, "run --thread t " FAST " 去厨房"), 0);
    bench_end_body(&b);
    doctor_says(&b, "", 0, "store", "ok");
    doctor_says(&b, "", 0, "ledger", "ok");
    // A word of a stored event is another one: SQLite sees no damage in that.
    snprintf(path, sizeof path, "%s/pons.db", b.workspace);
    bench_shell("LC_ALL=C sed -i 's/kitchen/kitchem/' '%s'", path);
    doctor_says(&b, "", 1, "store", "damaged");
    doctor_says(&b, "--repair", 0, "store", "repaired");
    doctor_says(&b, "", 0, "store", "ok");
    strcat(path, ".damaged-1");
    assert_int_equal(access(path, F_OK), 0);
    // A line of the ledger.
    bench_shell("sed -i '1s/\"/x/' '%s/run/body.ledger'", b.workspace);
    doctor_says(&b, "", 1, "ledger", "damaged");
    doctor_says(&b, "--repair", 0, "ledger", "repaired");
    doctor_says(&b, "", 0, "ledger", "ok");
    bench_close(&b);
}

// The log of a killed run has sixteen bad bytes: each command that opens the store says what is lost
// with them and changes nothing, until a repair, which keeps the log.
static void a_damaged_log(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    bench_killed_run(&b);
    assert_int_equal(bench_run(&b, "threads"), 0); // it only reads: the log is there still
    bench_shell("test -s '%s/pons.db-wal'", b.workspace);
    bench_shell("cd '%s' && at=$(($(stat -c %%s pons.db-wal) / 2)) && printf 'sixteen bad byte' |"
                " dd of=pons.db-wal bs=1 seek=$at conv=notrunc status=none && mkdir was &&"
                " cp pons.db pons.db-wal pons.db-shm was",
                b.workspace);
    static const char *const words[] = {"threads", "resume t", "say hello", "status",
                                        "threads rm t"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bench_must_fail(&b, words[i], 1, "of threads t cannot be read");
        doctor_says(&b, "", 1, "store", "damaged");
        bench_shell("cd '%s' && cmp pons.db was/pons.db && cmp pons.db-wal was/pons.db-wal",
                    b.workspace);
    }
    doctor_says(&b, "--repair", 0, "store", "repaired");
    bench_shell("cd '%s' && cmp pons.db.damaged-1-wal was/pons.db-wal", b.workspace);
    doctor_says(&b, "", 0, "store", "ok");
    assert_int_equal(bench_run(&b, "threads"), 0);
    bench_close(&b);
}

// body.epoch is damaged: doctor says so and what lifts the latch, and that is what lifts it.
static void a_damaged_latch(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "run --thread t " FAST " 去厨房"), 0);
    bench_end_body(&b);
    doctor_says(&b, "", 0, "latch", "ok");
    bench_shell("printf 'x\\n' > '%s/run/body.epoch'", b.workspace);
    bench_start(&b, &p, NULL, "doctor");
    bench_must_exit(&p, 1);
    const char *line =
        strstr(p.text, "body.epoch is lost or damaged: the next body starts: latched");
    if (!line || !strstr(line, "`pons reset` lifts the latch")) {
        fail_msg("no line of the latch in\n%s", p.text);
    }
    bench_free(&p);
    doctor_says(&b, "--repair", 1, "latch", "damaged"); // only a body writes it
    // Nothing moves before the advice is followed.
    bench_start(&b, &p, NULL, "run --json --thread u " FAST " 'go to the living room'");
    bench_await(&p, "decision", "type", "SWITCH_TASK");
    assert_int_equal(bench_count(&p, "effect", "skill", "navigate_to_pose"), 0);
    assert_int_equal(bench_run(&b, "reset"), 0);
    assert_int_equal(bench_run(&b, "continue --thread u"), 0);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_end_body(&b);
    doctor_says(&b, "", 0, "latch", "ok");
    bench_close(&b);
}

// A store of 20 MB: a thread of events, as a long life leaves them.
static void fill_store(const bench *b)
{
    static char text[4096];
    char path[200];
    pons_store s = {0};
    pons_lease lease = {0};
    snprintf(path, sizeof path, "%s/pons.db", b->workspace);
    assert_int_equal(mkdir(b->workspace, 0700), 0);
    assert_int_equal(pons_store_sqlite_open(path, &s, NULL), 0);
    assert_int_equal(s.ops->lease_acquire(s.self, "long", &lease, NULL), 0);
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 5200; i++) {
        const int n = snprintf(text, 20, "{\"n\":%d,\"t\":\"", i);
        text[n] = 'x';
        memcpy(text + sizeof text - 2, "\"}", 2);
        pons_event_row e = {
            .ns = "kernel", .ts_ms = i, .type = "note", .payload = {text, sizeof text}};
        const pons_commit c = {.lease = &lease, .ns = "kernel", .events = &e, .n_events = 1};
        assert_int_equal(s.ops->commit_async(s.self, &c, NULL), 0);
    }
    s.ops->lease_release(s.self, &lease);
    pons_store_close(&s);
}

static void a_backup_of_20_mb(void **state)
{
    (void)state;
    bench b;
    proc p = {0}, copy = {0};
    char words[300], file[200];
    struct stat st;
    bench_open(&b);
    fill_store(&b);
    snprintf(file, sizeof file, "%s/long.db", b.dir);
    snprintf(words, sizeof words, "backup %s", file);
    bench_start(&b, &p, NULL,
                "run --json --thread t --driver kinematic --seed 3 --speed 5 去厨房 'go to the "
                "living room'");
    bench_await(&p, "decision", NULL, NULL);
    bench_start(&b, &copy, NULL, words);
    bench_await(&p, "telemetry", NULL, NULL); // the run goes on meanwhile
    bench_must_exit(&copy, 0);
    bench_free(&copy);
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_end_body(&b);
    assert_int_equal(stat(file, &st), 0);
    assert_true(st.st_size > 20000000);
    bench_shell("rm -rf '%s' && mkdir '%s' && chmod 700 '%s' && cp '%s' '%s/pons.db'", b.workspace,
                b.workspace, b.workspace, file, b.workspace);
    doctor_says(&b, "", 0, "store", "ok");
    assert_int_equal(bench_run(&b, "resume t"), 0);
    bench_end_body(&b);
    bench_close(&b);
}

static void a_server_makes_its_own_backups(void **state)
{
    (void)state;
    bench b;
    char words[300];
    bench_open(&b);
    snprintf(words, sizeof words, "backup %s/copy.db", b.dir);
    setenv("PONS_STORE", "postgresql://localhost/nowhere", 1);
    bench_must_fail(&b, words, 3, "pg_dump --schema=pons");
    unsetenv("PONS_STORE");
    assert_int_not_equal(access(words + strlen("backup "), F_OK), 0);
    bench_close(&b);
}

static void backups_beside_a_run(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char words[300], file[200] = "";
    int made = 0;
    bench_open(&b);
    bench_must_fail(&b, "backup", 2, "name");
    bench_start(&b, &p, NULL, "run --json --thread t " FAST " 去厨房 'go to the living room'");
    bench_await(&p, "decision", NULL, NULL);
    while (bench_alive(&p) && made < 8) { // each is checked by the backup itself
        snprintf(file, sizeof file, "%s/backup-%d.db", b.dir, made++);
        snprintf(words, sizeof words, "backup %s", file);
        assert_int_equal(bench_run(&b, words), 0);
        struct stat st;
        assert_int_equal(stat(file, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    assert_true(made > 0);
    bench_must_fail(&b, words, 2, "overwritten");
    bench_end_body(&b);
    for (int i = 0; i<made; i += made> 1 ? made - 1 : 1) { // the first and the last go on
        bench_shell(
            "rm -rf '%s' && mkdir '%s' && chmod 700 '%s' && cp '%s/backup-%d.db' '%s/pons.db'",
            b.workspace, b.workspace, b.workspace, b.dir, i, b.workspace);
        doctor_says(&b, "", 0, "store", "ok");
        assert_int_equal(bench_run(&b, "resume t"), 0);
        bench_end_body(&b);
    }
    bench_close(&b);
}

typedef enum wall { MOUNT, USER } wall; // what keeps it from being written

// Runs `pons WORDS` in a mount namespace in which the workspace cannot be written, or as a user who
// may not write it; its status, -1: that cannot be had here.
static int read_only(bench *b, wall how, const char *words)
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const bool mounted =
            how == MOUNT && unshare(CLONE_NEWNS) == 0 &&
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount(b->workspace, b->workspace, NULL, MS_BIND, NULL) == 0 &&
            mount(NULL, b->workspace, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
        if (!mounted && how == MOUNT) {
            _exit(99);
        }
        if (!mounted) {
            if (geteuid() == 0) {
                bench_shell("chown -R root '%s' && chmod -R a+rX '%s'", b->dir, b->dir);
                if (setgid(65534) != 0 || setuid(65534) != 0) {
                    _exit(99);
                }
            } else {
                bench_shell("chmod -R a-w '%s'", b->workspace);
            }
        }
        char probe[200];
        snprintf(probe, sizeof probe, "%s/probe", b->workspace);
        if (open(probe, O_WRONLY | O_CREAT, 0600) >= 0) {
            _exit(99); // it can be written after all
        }
        _exit(bench_run(b, words));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) != 99 ? WEXITSTATUS(status) : -1;
}

static void look_only(wall how)
{
    static const char *const looks[] = {"status", "threads", "threads show t", "threads history t",
                                        "threads events t"};
    bench b;
    bench_open(&b);
    // Killed, so that there is a log; then without its index; then closed, so that there is neither.
    bench_killed_run(&b);
    for (int left = 0; left < 3; left++) {
        if (left == 1) {
            bench_shell("rm -f '%s/pons.db-shm'", b.workspace);
        } else if (left == 2) {
            assert_int_equal(bench_run(&b, "resume t"), 0);
            bench_end_body(&b);
        }
        for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
            const int status = read_only(&b, how, looks[i]);
            if (status < 0) {
                skip();
            }
            assert_int_equal(status, 0);
        }
        assert_int_equal(read_only(&b, how, "threads copy t u"), 3);
    }
    bench_close(&b);
}

static void a_workspace_on_a_read_only_mount(void **state)
{
    (void)state;
    look_only(MOUNT);
}

static void a_workspace_of_another_user(void **state)
{
    (void)state;
    look_only(USER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(damage_is_named_and_repaired, bench_teardown),
        cmocka_unit_test_teardown(what_is_said_to_be_reachable_is_reached, bench_teardown),
        cmocka_unit_test_teardown(a_damaged_log, bench_teardown),
        cmocka_unit_test_teardown(a_damaged_latch, bench_teardown),
        cmocka_unit_test_teardown(backups_beside_a_run, bench_teardown),
        cmocka_unit_test_teardown(a_backup_of_20_mb, bench_teardown),
        cmocka_unit_test_teardown(a_server_makes_its_own_backups, bench_teardown),
        cmocka_unit_test_teardown(a_workspace_on_a_read_only_mount, bench_teardown),
        cmocka_unit_test_teardown(a_workspace_of_another_user, bench_teardown),
    };
    return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
