// test_shared_files_killed.c - a process that keeps a workspace's files dies at each writing call that it makes,
// while somebody edits just before another one: the next life has every edit, none of them is a command
// twice, and what is around the records is as it was. At each, or at some of them (rounds.h), by
// a seed that is printed (PONS_KILL_SEED).
#include "killer.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"
#include "workspace/ws_help.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD "# Mine\n\nWords.\n\n```json\n"
#define TAIL "```\n\nBehind.\n"

enum { EDITS = 3 };

static struct shared {
    int commands[EDITS]; // of each edit, of all lives
} *shared;

typedef struct life {
    char dir[64];
    bool in_place;
    long edit_at[EDITS]; // before which call
    int made;            // edits
    pons_ws_place *place;
} life;

static void path_of(const life *l, const char *name, char ret[128])
{
    snprintf(ret, 128, "%s/%s", l->dir, name);
}

static void put(const life *l, const char *text, bool in_place)
{
    char path[128], temp[128];
    path_of(l, "ACTION.md", path);
    path_of(l, "editor", temp);
    const int fd = open(in_place ? path : temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    if (!in_place) {
        assert_int_equal(rename(temp, path), 0);
    }
}

static char *get(const life *l) // free()
{
    char path[128];
    char *text = calloc(1, 1 << 16);
    path_of(l, "ACTION.md", path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, text, (1 << 16) - 1) >= 0);
    close(fd);
    return text;
}

// One action more in what the file says now.
static void edit(life *l)
{
    char *text = get(l), *list = strstr(text, "\"queue\": ["), *out = calloc(1, 1 << 16);
    assert_non_null(list);
    const char *rest = strchr(list, '[') + 1;
    const int head = (int)(rest - text);
    rest += strspn(rest, " \n");
    snprintf(out, 1 << 16, "%.*s\n  {\"action_id\": \"e%d\", \"action_type\": \"stop\"}%s%s", head,
             text, l->made, *rest == ']' ? "\n" : ",\n  ", rest);
    put(l, out, l->in_place);
    free(text);
    free(out);
    l->made++;
}

static void before(void *user, long call)
{
    life *l = user;
    for (int i = 0; i < EDITS; i++) {
        if (l->edit_at[i] == call && l->made < EDITS) {
            edit(l);
        }
    }
}

static void on_command(void *user, pons_ws_file file, const pons_ws_command *c)
{
    int i;
    (void)user;
    if (file == PONS_WS_ACTION && !c->refused && !c->before && sscanf(c->id, "e%d", &i) == 1) {
        shared->commands[i]++;
    }
}

static void open_place(life *l)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL, .command = on_command, .user = l};
    if (pons_ws_place_open(l->dir, &o, &l->place, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static const pons_ws_record *record(const life *l, const char *id)
{
    const pons_ws_doc *d = pons_ws_place_doc(l->place, PONS_WS_ACTION);
    return d ? pons_ws_find(d, "action", id) : NULL;
}

// What has been told is taken out: who edits goes on from texts that have it still.
static void take_out(const life *l)
{
    for (int i = 0; i < EDITS; i++) {
        char id[8];
        pons_error err = PONS_ERROR_INIT;
        snprintf(id, sizeof id, "e%d", i);
        const pons_ws_change c = {"action", id, NULL};
        if (shared->commands[i] && record(l, id)) {
            pons_ws_place_change(l->place, PONS_WS_ACTION, &c, 1, &err);
        }
    }
}

static void live(life *l, int64_t from_ms, int times)
{
    open_place(l);
    for (int i = 0; i < times; i++) {
        pons_ws_place_poll(l->place, from_ms + i * 700);
        take_out(l);
    }
    pons_ws_place_close(l->place);
}

enum { UNDISTURBED = 1000000 }; // more calls than a life makes

// Lives, one after the other, that die at such a call; how many calls the last one made when it did not die.
static bool dies_at(long at, const pons_rand *seed, bool in_place, long *ret_calls)
{
    life l = {.dir = "/tmp/pons-killed-XXXXXX", .in_place = in_place};
    pons_rand r = *seed;
    char command[128];
    memset(shared, 0, sizeof *shared);
    assert_non_null(mkdtemp(l.dir));
    put(&l, HEAD "{\"queue\": [\n]}\n" TAIL, false);
    for (int i = 0; i < EDITS; i++) {
        l.edit_at[i] = 1 + (long)pons_rand_below(&r, (uint32_t)at + 8);
    }
    killer k = {.at = at, .before = before, .user = &l};
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        killer_wait();
        live(&l, 1000, 12);
        _exit(0);
    }
    if (!killer_run(&k, pid)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        snprintf(command, sizeof command, "rm -r %s", l.dir);
        assert_int_equal(system(command), 0);
        skip();
    }
    *ret_calls = k.calls;
    while (l.made < EDITS) {
        edit(&l);
    }
    live(&l, 100000, 12);
    open_place(&l);
    int lost = 0, twice = 0;
    for (int i = 0; i < EDITS; i++) {
        char id[8];
        snprintf(id, sizeof id, "e%d", i);
        lost += shared->commands[i] == 0 && !record(&l, id);
        twice += shared->commands[i] > 1;
    }
    pons_ws_place_close(l.place);
    char *text = get(&l);
    const bool around = strncmp(text, HEAD, strlen(HEAD)) == 0 && strstr(text, TAIL);
    if (lost || twice || !around) {
        print_error("%s\n", text);
        free(text);
        fail_msg("killed before call %ld, edits before %ld %ld %ld: %d lost, %d twice%s", at,
                 l.edit_at[0], l.edit_at[1], l.edit_at[2], lost, twice,
                 around ? "" : ", the words are not as they were");
    }
    free(text);
    snprintf(command, sizeof command, "rm -r %s", l.dir);
    assert_int_equal(system(command), 0);
    return WIFSIGNALED(k.status);
}

static void at_each_call(bool in_place)
{
    const char *other = getenv("PONS_KILL_SEED");
    const uint64_t seed = other ? strtoull(other, NULL, 10) : 20261123;
    pons_rand r;
    long at = 1, calls = 0, ignored = 0;
    int deaths = 0;
    pons_rand_seed(&r, seed);
    assert_false(dies_at(UNDISTURBED, &r, in_place, &calls));
    const long every = calls / rounds(ROUNDS_workspace_kills);
    const uint32_t stride = every > 1 ? (uint32_t)every : 1;
    while (dies_at(at, &r, in_place, &ignored)) {
        at += stride == 1 ? 1 : 1 + (long)pons_rand_below(&r, 2 * stride - 1);
        pons_rand_u64(&r);
        deaths++;
    }
    print_message("seed %llu: %d deaths, 0 edits lost, 0 twice\n", (unsigned long long)seed,
                  deaths);
    assert_true(deaths > 3);
}

static void with_an_editor_that_writes_in_place(void **state)
{
    (void)state;
    at_each_call(true);
}

static void with_an_editor_that_renames_over(void **state)
{
    (void)state;
    at_each_call(false);
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_an_editor_that_writes_in_place),
        cmocka_unit_test(with_an_editor_that_renames_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
