// test_shared_files_editors.c - programs that others edit with: one that breaks the syntax for a minute, two at the
// same time, one that goes on from its own text, a program that syncs; a process that is stopped while
// it has a file; a disk that is full. Time is the test's own.
#include "unit.h"
#include "workspace/ws_help.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD "# Mine\n\nWords.\n\n```json\n"
#define TAIL "```\n\nMore words.\n"

typedef struct folder {
    char dir[64];
    pons_ws_place *place;
    char commands[4096]; // "a1 pending>cancelled;"
    int notices;
    int64_t now_ms;
} folder;

static void on_command(void *user, pons_ws_file file, const pons_ws_command *c)
{
    folder *f = user;
    char line[256];
    (void)file;
    snprintf(line, sizeof line, "%s%s %s>%s;", c->refused ? "refused " : "", c->id,
             pons_get_str(c->before, "status", "-"), pons_get_str(c->after, "status", "-"));
    strncat(f->commands, line, sizeof f->commands - strlen(f->commands) - 1);
}

static void on_notice(void *user, const char *file, const char *text)
{
    folder *f = user;
    (void)file;
    (void)text;
    f->notices++;
}

static void put(const folder *f, const char *name, const char *text)
{
    char path[192], temp[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    snprintf(temp, sizeof temp, "%s/temp", f->dir);
    FILE *out = fopen(temp, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    assert_int_equal(rename(temp, path), 0);
}

static char *get(const folder *f, const char *name) // free()
{
    char path[192];
    char *text = calloc(1, 1 << 16);
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    return text;
}

static void open_place(folder *f, bool no_wait)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL,
                                     .no_wait = no_wait,
                                     .command = on_command,
                                     .notice = on_notice,
                                     .user = f};
    if (pons_ws_place_open(f->dir, &o, &f->place, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void folder_open(folder *f, bool no_wait)
{
    *f = (folder){.dir = "/tmp/pons-editors-XXXXXX", .now_ms = 1000};
    assert_non_null(mkdtemp(f->dir));
    put(f, "ACTION.md",
        HEAD "{\"queue\": [\n"
             "  {\"action_id\": \"a1\", \"action_type\": \"stop\", \"status\": \"pending\"},\n"
             "  {\"action_id\": \"a2\", \"action_type\": \"stop\", \"status\": \"running\"}\n"
             "]}\n" TAIL);
    open_place(f, no_wait);
}

static void folder_close(folder *f)
{
    char command[128];
    pons_ws_place_close(f->place);
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
}

static void look(folder *f)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_ws_place_look(f->place, PONS_WS_ACTION, &err) < 0 && err.status != PONS_EBUSY &&
        err.status != PONS_EINVAL) {
        fail_msg("%s", err.message);
    }
}

static int set(folder *f, const char *id, const char *status)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_record *r =
        pons_ws_find(pons_ws_place_doc(f->place, PONS_WS_ACTION), "action", id);
    assert_non_null(r);
    pons_autovalue value = json_copy(r->value);
    json_object_set_new(value, "status", json_string(status));
    const pons_ws_change c = {"action", id, value};
    return pons_ws_place_change(f->place, PONS_WS_ACTION, &c, 1, &err);
}

static int take_out(folder *f, const char *id)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_change c = {"action", id, NULL};
    return pons_ws_place_change(f->place, PONS_WS_ACTION, &c, 1, &err);
}

static const char *status(const folder *f, const char *id)
{
    const pons_ws_record *r =
        pons_ws_find(pons_ws_place_doc(f->place, PONS_WS_ACTION), "action", id);
    return r ? pons_get_str(r->value, "status", "?") : "none";
}

// The text with one piece replaced; free().
static char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    char *out = calloc(1, strlen(text) + strlen(to) + 1);
    memcpy(out, text, (size_t)(at - text));
    strcat(out, to);
    strcat(out, at + strlen(from));
    return out;
}

static char *with_action(const char *text, const char *id) // free()
{
    char action[128];
    snprintf(action, sizeof action, "[\n  {\"action_id\": \"%s\", \"action_type\": \"stop\"},", id);
    return edited(text, "[", action);
}

static int times(const char *all, const char *what)
{
    int n = 0;
    for (const char *at = all; (at = strstr(at, what)); at++) {
        n++;
    }
    return n;
}

// What runs goes on meanwhile; its state is written as soon as the text can be read again.
static void a_minute_of_broken_syntax(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "running"), PONS_OK);
    char *good = get(&f, "ACTION.md");
    char *more = with_action(good, "a3");
    char *broken = edited(more, "\"action_type\": \"stop\"}", "\"action_type\": \"stop\"");
    put(&f, "ACTION.md", broken);
    for (int s = 0; s < 60; s++) {
        f.now_ms += 1000;
        pons_ws_place_poll(f.place, f.now_ms);
        look(&f);
        assert_int_equal(set(&f, "a2", "completed"), PONS_EBUSY);
        assert_string_equal(status(&f, "a2"), "running");
        char *is = get(&f, "ACTION.md");
        assert_string_equal(is, broken);
        free(is);
    }
    assert_int_equal(f.notices, 1); // not each second
    assert_string_equal(f.commands, "");
    put(&f, "ACTION.md", more); // mended
    look(&f);
    assert_string_equal(f.commands, "a3 ->pending;");
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    char *is = get(&f, "ACTION.md");
    assert_int_equal(strncmp(is, HEAD, strlen(HEAD)), 0);
    assert_non_null(strstr(is, TAIL));
    free(is);
    free(good);
    free(more);
    free(broken);
    folder_close(&f);
}

// Each has read the file, and saves without looking at it again.
static void two_editors(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    char *both = get(&f, "ACTION.md");
    char *one = with_action(both, "mine"), *other = with_action(both, "theirs");
    char *one_more = edited(one, "Words.", "My words."),
         *other_more = edited(other, "More words.", "Their words.");
    put(&f, "ACTION.md", one_more);
    look(&f);
    put(&f, "ACTION.md", other_more);
    look(&f);
    put(&f, "ACTION.md", one_more); // saved again, unchanged
    look(&f);
    assert_string_equal(f.commands, "mine ->pending;theirs ->pending;");
    char *is = get(&f, "ACTION.md");
    assert_non_null(strstr(is, "My words."));
    assert_non_null(strstr(is, "Their words."));
    free(is);
    // Taken out meanwhile, they do not come back with texts of before.
    assert_int_equal(take_out(&f, "mine"), PONS_OK);
    assert_int_equal(take_out(&f, "theirs"), PONS_OK);
    put(&f, "ACTION.md", other_more);
    look(&f);
    put(&f, "ACTION.md", one_more);
    look(&f);
    assert_string_equal(status(&f, "mine"), "none");
    assert_string_equal(status(&f, "theirs"), "none");
    assert_string_equal(f.commands, "mine ->pending;theirs ->pending;");
    free(both);
    free(one);
    free(other);
    free(one_more);
    free(other_more);
    folder_close(&f);
}

// It saves again and again from what it read once: each change counts, against what it said before.
static void one_that_never_looks(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    char *text = get(&f, "ACTION.md");
    char *added = with_action(text, "e1");
    char *changed = edited(added, "\"stop\"", "\"check_connection\"");
    char *cancelled = edited(changed, "\"pending\"", "\"cancelled\"");
    put(&f, "ACTION.md", added);
    look(&f);
    put(&f, "ACTION.md", changed);
    look(&f);
    const pons_ws_record *r =
        pons_ws_find(pons_ws_place_doc(f.place, PONS_WS_ACTION), "action", "e1");
    assert_non_null(r);
    assert_string_equal(pons_get_str(r->value, "action_type", ""), "check_connection");
    put(&f, "ACTION.md", cancelled);
    look(&f);
    assert_string_equal(status(&f, "a1"), "cancelled");
    assert_string_equal(f.commands, "e1 ->pending;e1 pending>pending;a1 pending>cancelled;");
    free(text);
    free(added);
    free(changed);
    free(cancelled);
    folder_close(&f);
}

// What files of a folder say is as old as that.
static void make_old(const folder *f, const char *sub, time_t seconds)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", f->dir, sub);
    DIR *d = opendir(path);
    const struct timespec at[2] = {{.tv_sec = time(NULL) - seconds},
                                   {.tv_sec = time(NULL) - seconds}};
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (e->d_name[0] != '.') {
            utimensat(dirfd(d), e->d_name, at, 0);
        }
    }
    closedir(d);
}

// What came out of the file waits for long, as more comes than can be looked at, and says what was taken in
// and is gone since. The generations that it is of are a minute old by then, and are kept for it.
static void one_that_is_looked_at_late(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    char *text = get(&f, "ACTION.md"), path[192];
    char *added = with_action(text, "e1");
    char *more = with_action(added, "e2");
    put(&f, "ACTION.md", added);
    snprintf(path, sizeof path, "%s/ACTION.md", f.dir);
    const int late = open(path, O_WRONLY); // an editor that writes in place has it open
    assert_true(late >= 0);
    const struct timespec at[2] = {{.tv_sec = time(NULL) - 200}, {.tv_sec = time(NULL) - 200}};
    assert_int_equal(futimens(late, at), 0);
    look(&f);
    assert_int_equal(take_out(&f, "e1"), PONS_OK);
    make_old(&f, ".pons/base", 220);
    pons_ws_place_close(f.place); // another life, which knows of times by the files alone
    open_place(&f, false);
    for (int i = 0; i < 160; i++) {
        assert_int_equal(set(&f, "a1", i % 2 ? "pending" : "running"), PONS_OK);
    }
    char *now = get(&f, "ACTION.md");
    char *other = with_action(now, "e9"); // what is taken in now forgets what is long over
    put(&f, "ACTION.md", other);
    look(&f);
    assert_int_equal(pwrite(late, more, strlen(more), 0), strlen(more));
    close(late);
    f.now_ms += 5000;
    pons_ws_place_poll(f.place, f.now_ms);
    look(&f);
    assert_int_equal(times(f.commands, "e1 ->"), 1);
    assert_int_equal(times(f.commands, "e2 ->"), 1);
    free(text);
    free(added);
    free(more);
    free(now);
    free(other);
    folder_close(&f);
}

// As Syncthing does: ours goes aside under another name, another machine's older text takes its place.
static void a_program_that_syncs(void **state)
{
    (void)state;
    folder f;
    char from[128], to[192];
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "running"), PONS_OK);
    char *text = get(&f, "ACTION.md");
    char *remote = with_action(text, "remote");
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    assert_int_equal(take_out(&f, "a1"), PONS_OK);
    snprintf(from, sizeof from, "%s/ACTION.md", f.dir);
    snprintf(to, sizeof to, "%s/ACTION.sync-conflict-20250401-120000-ABC.md", f.dir);
    assert_int_equal(rename(from, to), 0);
    put(&f, "ACTION.md", remote);
    f.now_ms += 5000;
    pons_ws_place_poll(f.place, f.now_ms);
    look(&f);
    f.now_ms += 5000;
    pons_ws_place_poll(f.place, f.now_ms);
    assert_string_equal(f.commands, "remote ->pending;");
    assert_string_equal(status(&f, "a2"), "completed"); // what has happened since holds
    assert_string_equal(status(&f, "a1"), "none");
    assert_true(f.notices >= 1);
    assert_int_equal(access(to, F_OK), 0); // told, and left where it is
    free(text);
    free(remote);
    folder_close(&f);
}

// Another process was stopped in the middle: nobody who drives a robot waits for it.
static void who_is_stopped_holds_nobody_up(void **state)
{
    (void)state;
    folder f;
    char path[128];
    folder_open(&f, true);
    snprintf(path, sizeof path, "%s/.pons/ACTION.md.lock", f.dir);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(set(&f, "a2", "completed"), PONS_EAGAIN);
    char *text = get(&f, "ACTION.md"), *more = with_action(text, "e1");
    put(&f, "ACTION.md", more);
    for (int i = 0; i < 100; i++) {
        f.now_ms += 100;
        pons_ws_place_poll(f.place, f.now_ms);
    }
    assert_string_equal(f.commands, "");
    close(fd); // it goes on
    struct timespec old[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    snprintf(path, sizeof path, "%s/ACTION.md", f.dir);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0); // nobody has just written it
    for (int i = 0; i < 10; i++) {
        f.now_ms += 100;
        pons_ws_place_poll(f.place, f.now_ms);
    }
    assert_string_equal(f.commands, "e1 ->pending;");
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    free(text);
    free(more);
    folder_close(&f);
}

static int files_of(const folder *f, const char *sub, const char *ends)
{
    char path[128];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", f->dir, sub);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        const size_t len = strlen(e->d_name), tail = strlen(ends);
        n += e->d_name[0] != '.' && len >= tail && strcmp(e->d_name + len - tail, ends) == 0;
    }
    closedir(d);
    return n;
}

// Written late, into the old file, while the new one cannot be read: it waits, also for the next life.
static void a_late_edit_waits_for_a_file_that_can_be_read(void **state)
{
    (void)state;
    folder f;
    char path[128];
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "running"), PONS_OK);
    char *text = get(&f, "ACTION.md"), *late = with_action(text, "late");
    snprintf(path, sizeof path, "%s/ACTION.md", f.dir);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    pons_ws_place_poll(f.place, f.now_ms);
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    put(&f, "ACTION.md", HEAD "{\"queue\": [\n" TAIL);
    assert_int_equal(write(fd, late, strlen(late)), strlen(late));
    close(fd);
    for (int s = 0; s < 60; s++) {
        f.now_ms += 1000;
        pons_ws_place_poll(f.place, f.now_ms);
    }
    assert_true(files_of(&f, ".pons/old", "") >= 1);
    pons_ws_place_close(f.place);
    open_place(&f, false);
    put(&f, "ACTION.md", HEAD "{\"queue\": []}\n" TAIL);
    for (int s = 0; s < 10; s++) {
        f.now_ms += 1000;
        pons_ws_place_poll(f.place, f.now_ms);
        look(&f);
    }
    assert_int_equal(times(f.commands, "late ->pending;"), 1);
    assert_string_equal(status(&f, "late"), "pending");
    assert_int_equal(files_of(&f, ".pons/old", ""), 0);
    free(text);
    free(late);
    folder_close(&f);
}

// A text that nobody can read, written late: it is put where a person finds it.
static void half_of_a_late_text_is_put_aside(void **state)
{
    (void)state;
    folder f;
    char path[128];
    folder_open(&f, false);
    snprintf(path, sizeof path, "%s/ACTION.md", f.dir);
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_APPEND);
    assert_true(fd >= 0);
    pons_ws_place_poll(f.place, f.now_ms);
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    const char *half = HEAD "{\"queue\": [\n";
    assert_int_equal(write(fd, half, strlen(half)), strlen(half));
    close(fd);
    for (int s = 0; s < 90; s++) {
        f.now_ms += 1000;
        pons_ws_place_poll(f.place, f.now_ms);
    }
    assert_int_equal(files_of(&f, ".pons/old", ".aside"), 1);
    const int reported = f.notices;
    pons_ws_place_close(f.place);
    open_place(&f, false);
    for (int s = 0; s < 90; s++) {
        f.now_ms += 1000;
        pons_ws_place_poll(f.place, f.now_ms);
    }
    assert_int_equal(f.notices, reported); // once
    folder_close(&f);
}

// Nothing can be written: what is there stays so, what is asked for fails, and all of it counts afterwards, once.
static void a_disk_that_is_full(void **state)
{
    (void)state;
    folder f;
    struct rlimit was;
    pons_error err = PONS_ERROR_INIT;
    folder_open(&f, false);
    assert_int_equal(set(&f, "a2", "running"), PONS_OK);
    char *text = get(&f, "ACTION.md"), *more = with_action(text, "e1");
    put(&f, "ACTION.md", more);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    const int looked = pons_ws_place_look(f.place, PONS_WS_ACTION, &err);
    const int changed = set(&f, "a2", "completed");
    const int again = set(&f, "a2", "completed");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(looked, PONS_EIO);
    assert_int_equal(changed, PONS_EIO);
    assert_int_equal(again, PONS_EIO);
    assert_string_equal(f.commands, "");
    assert_string_equal(status(&f, "a2"), "running");
    char *is = get(&f, "ACTION.md");
    assert_string_equal(is, more);
    free(is);
    look(&f);
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    assert_string_equal(f.commands, "e1 ->pending;");
    is = get(&f, "ACTION.md");
    assert_non_null(strstr(is, "e1"));
    assert_non_null(strstr(is, TAIL));
    free(is);
    free(text);
    free(more);
    folder_close(&f);
}

// An editor that has never seen a stamp, and has more words than the file of the first write.
static void words_of_a_text_without_a_stamp(void **state)
{
    (void)state;
    folder f;
    folder_open(&f, false);
    char *text = get(&f, "ACTION.md"); // no stamp yet
    char *more = edited(text, "Words.", "Words.\n\nMore of mine.");
    assert_int_equal(set(&f, "a2", "completed"), PONS_OK);
    put(&f, "ACTION.md", more);
    look(&f);
    char *is = get(&f, "ACTION.md");
    assert_non_null(strstr(is, "More of mine."));
    assert_string_equal(status(&f, "a2"), "completed");
    free(is);
    free(text);
    free(more);
    folder_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minute_of_broken_syntax),
        cmocka_unit_test(two_editors),
        cmocka_unit_test(one_that_never_looks),
        cmocka_unit_test(one_that_is_looked_at_late),
        cmocka_unit_test(a_program_that_syncs),
        cmocka_unit_test(who_is_stopped_holds_nobody_up),
        cmocka_unit_test(a_late_edit_waits_for_a_file_that_can_be_read),
        cmocka_unit_test(half_of_a_late_text_is_put_aside),
        cmocka_unit_test(a_disk_that_is_full),
        cmocka_unit_test(words_of_a_text_without_a_stamp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
