// fuzz_terminal.c - whatever a command line holds, the strict grammar refuses it with a reason, or
// gives words that are its own: the same each time, nothing hidden among cat's names, nothing that a
// shell would have read in another way. Without a wall no line is safe.
//
// The first byte of an input says in which folder it is read; the rest is the command.
#include "pons/ext/tool.h"
#include "tools/command/command_risk.h"
#include "tools/command/safe_commands.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"
#include "tools/sandbox/sandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static pons__core core;
static char root[] = "/tmp/pons-fuzz-XXXXXX";
static const char *const folders[] = {"sub", "run"};

static void must(int holds)
{
    if (!holds) {
        abort();
    }
}

static void end(void)
{
    unlinkat(core.root_fd, ".env", 0);
    unlinkat(core.root_fd, "link", 0);
    for (size_t i = 0; i < 2; i++) {
        unlinkat(core.root_fd, folders[i], AT_REMOVEDIR);
    }
    rmdir(root);
    pons__guards_fini(&core);
    pons__wall_destroy(core.wall);
    pons_value_unref(core.config);
    close(core.root_fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    pons_value_init();
    must(mkdtemp(root) && realpath(root, core.workspace));
    core.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    core.config = json_object();
    core.clock = pons_clock_real();
    pthread_mutex_init(&core.links_mtx, NULL);
    must(pons__guards_init(&core) == PONS_OK && pons__wall_create(&core, &core.wall) == PONS_OK);
    for (size_t i = 0; i < 2; i++) {
        must(mkdirat(core.root_fd, folders[i], 0700) == 0);
    }
    must(symlinkat("/etc", core.root_fd, "link") == 0);
    const int fd = openat(core.root_fd, ".env", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    must(fd >= 0);
    close(fd);
    pons__wall_permit(0);
    atexit(end);
    return 0;
}

// The command without quotation marks is its words in their order, with BLANKs between.
static void same_words(const char *command, const pons__command *cmd)
{
    enum { BLANK = 1 };
    char *bare = calloc(1, strlen(command) + 1);
    size_t n = 0;
    char quote = 0;
    for (const char *at = command; *at; at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"') {
            quote = quote ? 0 : *at;
        } else {
            bare[n++] = !quote && *at == ' ' ? BLANK : *at;
        }
    }
    const char *at = bare + strspn(bare, "\1");
    size_t i = 0;
    if (strcspn(at, "\1") == 5 && (at[0] == 'e' || at[0] == 'f') &&
        strncmp(at + 1, "grep", 4) == 0) { // grep -E, grep -F
        must(cmd->n >= 2 && cmd->argv[1][1] == (at[0] == 'e' ? 'E' : 'F'));
        at += 5;
        i = 2;
    }
    for (; i < cmd->n; i++) {
        const size_t len = strlen(cmd->argv[i]);
        at += strspn(at, "\1");
        must(strncmp(at, cmd->argv[i], len) == 0 && (at[len] == BLANK || at[len] == '\0'));
        at += len;
    }
    must(strspn(at, "\1") == strlen(at));
    free(bare);
}

static void look_at(const char *command, const char *cwd, const pons__command *cmd)
{
    must(cmd->n > 0 && cmd->n <= PONS__ARGV_MAX && !cmd->argv[cmd->n]);
    must(!strpbrk(command, "\n\r\t\\\x7f"));
    for (size_t i = 0; i < cmd->n; i++) {
        must(!pons__invisible(cmd->argv[i]));
    }
    must(cmd->git == (strcmp(cmd->argv[0], "git") == 0));
    if (!cmd->git) {
        same_words(command, cmd);
    }
    bool names = false;
    for (size_t i = 1; i < cmd->n && strcmp(cmd->argv[0], "cat") == 0; i++) {
        char path[2 * PATH_MAX], normal[PATH_MAX];
        pons_error err = PONS_ERROR_INIT;
        names |= strcmp(cmd->argv[i], "--") == 0;
        if (names || cmd->argv[i][0] != '-') {
            snprintf(path, sizeof path, "%s/%s", cwd, cmd->argv[i]);
            must(pons__path_normal(&core, cmd->argv[i][0] == '/' ? cmd->argv[i] : path, normal,
                                   &err) == PONS_OK);
            must(pons__guard_of(&core, normal) == PONS_GUARD_NONE && !strstr(path, "/../"));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    char *command = calloc(1, size), reason[PONS__LINE_MAX];
    const char *cwd = data[0] & 1 ? "sub" : ".";
    memcpy(command, data + 1, size - 1);
    pons__command cmd, again;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons__grammar_read(&core, command, cwd, &cmd, &err);
    if (rc < 0) {
        must(err.message[0] && !cmd.text && cmd.n == 0);
    } else {
        look_at(command, cwd, &cmd);
        must(pons__grammar_read(&core, command, cwd, &again, &err) == PONS_OK && again.n == cmd.n);
        for (size_t i = 0; i < cmd.n; i++) {
            must(strcmp(cmd.argv[i], again.argv[i]) == 0);
        }
        pons__command_fini(&again);
        pons__command_fini(&cmd);
    }
    const pons_tool_risk risk =
        pons__command_risk(&core, command, cwd, NULL, reason, sizeof reason);
    must((risk == PONS_TOOL_DANGEROUS || risk == PONS_TOOL_BLOCKED) && reason[0]);
    free(command);
    return 0;
}
