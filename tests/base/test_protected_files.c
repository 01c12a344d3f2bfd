// A workspace's own files: which names are held for one of them, and that a workspace in which others
// may write is refused with the place and the reason.
#include "pons/protected_files.h"
#include "unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        pons_guard guard;
    } rows[] = {
        {"mcp.json", PONS_GUARD_HIDDEN},
        {"config/mcp.json", PONS_GUARD_HIDDEN},
        {"CONFIG/MCP.JSON", PONS_GUARD_HIDDEN},
        {".env", PONS_GUARD_HIDDEN},
        {"deep/er/.env", PONS_GUARD_HIDDEN},
        {"deep/.env/x", PONS_GUARD_HIDDEN},
        {".e\u200bnv", PONS_GUARD_HIDDEN},
        {"\uff0eenv", PONS_GUARD_HIDDEN},
        {"mcp.j\u017fon", PONS_GUARD_HIDDEN},
        {"graph_config.yaml", PONS_GUARD_PROTECTED},
        {"Graph_Config.yaml", PONS_GUARD_PROTECTED},
        {"config", PONS_GUARD_PROTECTED},
        {"config/kernel.yaml", PONS_GUARD_PROTECTED},
        {"config/\u212aernel.yaml", PONS_GUARD_PROTECTED},
        {"\u212aernel.yaml", PONS_GUARD_PROTECTED},
        {"config/prompts/agent.md", PONS_GUARD_PROTECTED},
        {"pons.db", PONS_GUARD_HIDDEN},
        {"pons.db-wal", PONS_GUARD_HIDDEN},
        {"pons.db-journal", PONS_GUARD_HIDDEN},
        {"pons.db-locks/t-1", PONS_GUARD_HIDDEN},
        {"run/body.sock", PONS_GUARD_HIDDEN},
        {"run/serve.token", PONS_GUARD_HIDDEN},
        {"deep/.env.local", PONS_GUARD_HIDDEN},
        {".ssh/id_ed25519", PONS_GUARD_HIDDEN},
        {"deep/.git/config", PONS_GUARD_HIDDEN},
        {"deep/.git/HEAD", PONS_GUARD_PROTECTED},
        {"trees/companion.mdsl", PONS_GUARD_PROTECTED},
        {"worlds/house.yaml", PONS_GUARD_PROTECTED},
        {"EMBODIED.md", PONS_GUARD_PROTECTED}, // who lifts limits, or starts programs, is a person
        {"embodied.MD", PONS_GUARD_PROTECTED},
        {"SKILLS.md", PONS_GUARD_PROTECTED},
        {"SKILLRUNTIME.md", PONS_GUARD_PROTECTED},
        {"TARGETS.md", PONS_GUARD_PROTECTED},
        {"ENVIRONMENT.md", PONS_GUARD_PROTECTED},
        {"LESSONS.md", PONS_GUARD_PROTECTED},
        {"ACTION.md", PONS_GUARD_PROTECTED},
        {"SESSIONS.md", PONS_GUARD_PROTECTED},
        {"LOG.md", PONS_GUARD_PROTECTED},
        {"profiles/mujoco.md", PONS_GUARD_PROTECTED},
        {"targets/t1/run/body.ledger", PONS_GUARD_PROTECTED},
        {"TASK.md", PONS_GUARD_NONE}, // a plan in words: each step of it is judged and approved
        {"notes/EMBODIED.md", PONS_GUARD_NONE},
        {"lib/pons/http-curl.so", PONS_GUARD_PROTECTED},
        {"lib", PONS_GUARD_PROTECTED},
        {"LIB/tool-x.so", PONS_GUARD_PROTECTED},
        {"lib/notes.txt", PONS_GUARD_PROTECTED},
        {"my/graph-x.so", PONS_GUARD_PROTECTED},
        {"sub/.git/hooks/pre-commit", PONS_GUARD_PROTECTED},
        {".git", PONS_GUARD_PROTECTED},
        {"notes.md", PONS_GUARD_NONE},
        {"my.env", PONS_GUARD_NONE},
        {"configuration/x", PONS_GUARD_NONE},
        {"docs/config/x", PONS_GUARD_NONE},
        {"running", PONS_GUARD_NONE},
        {"src/lib/x.c", PONS_GUARD_NONE},
        {"x.sort", PONS_GUARD_NONE},
        {".gitignore", PONS_GUARD_NONE},
        {".", PONS_GUARD_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pons_guard_entry *why = NULL;
        const pons_guard guard = pons_guard_of(rows[i].path, &why);
        if (guard != rows[i].guard || (guard != PONS_GUARD_NONE && !why)) {
            fail_msg("%s: %d, expected %d", rows[i].path, guard, rows[i].guard);
        }
    }
}

static char root[64], place[PATH_MAX];

static const char *at(const char *relative)
{
    snprintf(place, sizeof place, "%s/%s", root, relative);
    return place;
}

static void check(int status, const char *says)
{
    pons_error err = PONS_ERROR_INIT;
    char ws[128];
    snprintf(ws, sizeof ws, "%s/above/ws", root);
    const int rc = pons_workspace_check(ws, &err);
    if (rc != status || (says && !strstr(err.message, says))) {
        fail_msg("%d: %s; expected %d with \"%s\"", rc, err.message, status, says ? says : "");
    }
}

static void file(const char *relative, mode_t mode)
{
    const int fd = open(at(relative), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void mode(const char *relative, mode_t m)
{
    assert_int_equal(chmod(at(relative), m), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void test_who_may_write(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/pons-protect-XXXXXX");
    assert_non_null(mkdtemp(root));
    static const char *const dirs[] = {"above", "above/ws", "above/ws/config", "above/ws/run"};
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        assert_int_equal(mkdir(at(dirs[i]), 0700), 0);
    }
    check(PONS_OK, NULL);
    mode("above/ws", 0755);
    check(PONS_OK, NULL); // others may look
    mode("above/ws", 0777);
    check(PONS_EREFUSED, "may be written by everybody");
    mode("above/ws", 01777);
    check(PONS_EREFUSED, "may be written by everybody"); // sticky is for what is above
    mode("above/ws", 0700);
    mode("above", 0777);
    check(PONS_EREFUSED, "/above may be written by everybody");
    mode("above", 01777);
    check(PONS_OK, NULL);
    mode("above", 0700);
    static const char *const files[] = {
        "above/ws/pons.db",  "above/ws/pons.db-wal",        "above/ws/graph_config.yaml",
        "above/ws/mcp.json", "above/ws/config/kernel.yaml", "above/ws/run/body.epoch"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        file(files[i], 0644);
        check(PONS_OK, NULL);
        mode(files[i], 0666);
        check(PONS_EREFUSED, strrchr(files[i], '/'));
        mode(files[i], 0600);
        if (geteuid() == 0) { // another user's
            assert_int_equal(chown(at(files[i]), 12345, 12345), 0);
            check(PONS_EREFUSED, "belongs to another user");
            assert_int_equal(chown(at(files[i]), 0, 0), 0);
            mode(files[i], 0660);
            assert_int_equal(chown(at(files[i]), 0, 12345), 0);
            check(PONS_EREFUSED, "by its group");
            assert_int_equal(chown(at(files[i]), 0, 0), 0);
            mode(files[i], 0600);
        }
    }
    file("above/ws/notes.md", 0666); // is not pons's own
    check(PONS_OK, NULL);
    file("above/elsewhere", 0666); // what a link leads to is what is read
    assert_int_equal(unlink(at("above/ws/mcp.json")), 0);
    assert_int_equal(symlink("../elsewhere", at("above/ws/mcp.json")), 0);
    check(PONS_EREFUSED, "mcp.json");
    // So is what lies in a folder where somebody else could put another in its place.
    mode("above/elsewhere", 0600);
    check(PONS_OK, NULL);
    assert_int_equal(mkdir(at("open"), 0700), 0);
    file("open/servers", 0600);
    assert_int_equal(unlink(at("above/ws/mcp.json")), 0);
    assert_int_equal(symlink("../way", at("above/ws/mcp.json")), 0);
    assert_int_equal(symlink("../open/servers", at("above/way")), 0);
    check(PONS_OK, NULL);
    mode("open", 0777);
    check(PONS_EREFUSED, "/open may be written by everybody");
    assert_int_equal(unlink(at("open/servers")), 0); // who makes it makes the file
    check(PONS_EREFUSED, "/open may be written by everybody");
    mode("open", 01777);
    check(PONS_OK, NULL);
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// What is not looked at may be anybody's: more than is looked at is refused, and it says so.
static void test_more_than_is_looked_at(void **state)
{
    (void)state;
    char deep[256] = "above/ws/run";
    snprintf(root, sizeof root, "/tmp/pons-protect-XXXXXX");
    assert_non_null(mkdtemp(root));
    static const char *const dirs[] = {"above", "above/ws", "above/ws/run", "above/ws/lib"};
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        assert_int_equal(mkdir(at(dirs[i]), 0700), 0);
    }
    for (int i = 0; i < 15; i++) {
        strcat(deep, "/d");
        assert_int_equal(mkdir(at(deep), 0700), 0);
    }
    check(PONS_OK, NULL);
    strcat(deep, "/open");
    file(deep, 0666);
    check(PONS_EREFUSED, "/d/open may be written by everybody");
    assert_int_equal(unlink(at(deep)), 0);
    assert_int_equal(mkdir(at(deep), 0700), 0);
    check(PONS_EREFUSED, "folders deep");
    assert_int_equal(rmdir(at(deep)), 0);
    char name[64];
    for (int i = 0; i < 20001; i++) {
        snprintf(name, sizeof name, "above/ws/lib/%d", i);
        file(name, 0600);
    }
    check(PONS_EREFUSED, "more than 20000");
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_who_may_write),
        cmocka_unit_test(test_more_than_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
