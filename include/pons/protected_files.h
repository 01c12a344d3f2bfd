// protected_files.h - the files of a workspace that are pons's own: the one table of what it reads as
// configuration or keeps as state, and whether others than its user may write there.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

// Names, as the readers spell them too.
#define PONS_FILE_GRAPH_CONFIG "graph_config.yaml"
#define PONS_FILE_MCP          "mcp.json"
#define PONS_FILE_DB           "pons.db"
#define PONS_DIR_CONFIG        "config"
#define PONS_DIR_LIB           "lib"
#define PONS_DIR_RUN           "run"
#define PONS_DIR_TREES         "trees"
#define PONS_DIR_WORLDS        "worlds"

typedef enum pons_guard {
    PONS_GUARD_NONE,
    PONS_GUARD_PROTECTED, // a model may read it and not write it
    PONS_GUARD_HIDDEN     // nor read it
} pons_guard;

// X(pattern, guard, what): every file and folder that pons reads as configuration, loads as code or
// keeps as state, whether it exists or not. A pattern is a path from the workspace's root; with
// "**/" before it, a name at any depth; '*' stands for any letters but '/'. A folder means all that
// is below it. Letters count without regard to case, invisible ones not at all (pons_guard_fold), so patterns are in
// small letters.
#define PONS_WORKSPACE_TABLE(X)                                                                    \
    X(PONS_FILE_MCP, PONS_GUARD_HIDDEN, "servers that are started, with their keys")               \
    X(PONS_DIR_CONFIG "/" PONS_FILE_MCP, PONS_GUARD_HIDDEN, "the same")                            \
    X("**/.env", PONS_GUARD_HIDDEN, "keys")                                                        \
    X("**/.env.*", PONS_GUARD_HIDDEN, "the same")                                                  \
    X("**/.envrc", PONS_GUARD_HIDDEN, "the same")                                                  \
    X("**/.netrc", PONS_GUARD_HIDDEN, "passwords")                                                 \
    X("**/.pgpass", PONS_GUARD_HIDDEN, "the same")                                                 \
    X("**/.git-credentials", PONS_GUARD_HIDDEN, "the same")                                        \
    X("**/.git/config", PONS_GUARD_HIDDEN, "addresses with their passwords")                       \
    X("**/.ssh", PONS_GUARD_HIDDEN, "keys")                                                        \
    X(PONS_DIR_CONFIG, PONS_GUARD_PROTECTED, "kernel, intents, tools, agent, prompts, world view") \
    X(PONS_FILE_GRAPH_CONFIG, PONS_GUARD_PROTECTED, "the agent's graph and its approvals")         \
    X("kernel.yaml", PONS_GUARD_PROTECTED, "rules of the kernel")                                  \
    X("tools.yaml", PONS_GUARD_PROTECTED, "limits of the tools")                                   \
    X("intents.yaml", PONS_GUARD_PROTECTED, "what words mean")                                     \
    X("world-view.yaml", PONS_GUARD_PROTECTED, "a companion's life")                               \
    X("config.json", PONS_GUARD_PROTECTED, "which robot, which dialect")                           \
    X(".pons", PONS_GUARD_PROTECTED, "generations of the protocol files")                          \
    X("embodied.md", PONS_GUARD_PROTECTED, "what the robot may do")                                \
    X("environment.md", PONS_GUARD_PROTECTED, "what its actions are judged by")                    \
    X("lessons.md", PONS_GUARD_PROTECTED, "what is refused, and why")                              \
    X("targets.md", PONS_GUARD_PROTECTED, "bodies that are started")                               \
    X("skills.md", PONS_GUARD_PROTECTED, "programs that are started as policies")                  \
    X("skillruntime.md", PONS_GUARD_PROTECTED, "the same")                                         \
    X("action.md", PONS_GUARD_PROTECTED, "what the robot does next, asked by nobody else")         \
    X("sessions.md", PONS_GUARD_PROTECTED, "the same")                                             \
    X("robots.md", PONS_GUARD_PROTECTED, "the fleet")                                              \
    X("orchestrator.md", PONS_GUARD_PROTECTED, "the same")                                         \
    X("fleet.yaml", PONS_GUARD_PROTECTED, "the same")                                              \
    X("log.md", PONS_GUARD_PROTECTED, "what happened to the protocol files")                       \
    X("profiles", PONS_GUARD_PROTECTED, "what EMBODIED.md begins as")                              \
    X("targets", PONS_GUARD_PROTECTED, "ledgers and state of further bodies")                      \
    X(PONS_DIR_TREES, PONS_GUARD_PROTECTED, "behaviour trees")                                     \
    X(PONS_DIR_WORLDS, PONS_GUARD_PROTECTED, "worlds and their zones")                             \
    X("scenarios", PONS_GUARD_PROTECTED, "scenarios")                                              \
    X("schemas", PONS_GUARD_PROTECTED, "the shapes that inputs are held against")                  \
    X(PONS_DIR_LIB, PONS_GUARD_PROTECTED, "modules that are loaded")                               \
    X("**/*.so", PONS_GUARD_PROTECTED, "code that can be loaded")                                  \
    X("**/*.so.*", PONS_GUARD_PROTECTED, "the same")                                               \
    X(PONS_DIR_RUN, PONS_GUARD_HIDDEN, "the server's tokens and key, sockets, ledgers, the latch") \
    X(PONS_FILE_DB "*", PONS_GUARD_HIDDEN, "the store, its journals and its locks")                \
    X("**/.git", PONS_GUARD_PROTECTED, "hooks and settings of git")

typedef struct pons_guard_entry {
    const char *pattern;
    pons_guard guard;
    const char *what;
} pons_guard_entry;
const pons_guard_entry *pons_guard_entries(size_t *ret_n);

// A name as the laxest file system would read it: without case, without invisible characters, with
// look-alikes that fold to letters of ASCII. Writes at most cap bytes with the zero.
void pons_guard_fold(const char *name, char *ret, size_t cap);
// Whether the path (components, no "..", relative to the workspace) is what the pattern means or
// below it; both are folded already.
bool pons_guard_matches(const char *pattern, const char *path);
// The table's word on a path; *ret_entry (may be NULL) is why.
pons_guard pons_guard_of(const char *path, const pons_guard_entry **ret_entry);

// Refuses a workspace in which another user could change what pons reads: the folder and those above
// it, run/, the store and every file of the table must belong to this user or root and be writable
// by nobody else (a sticky folder such as /tmp may stand above; a group of one's own is oneself).
// PONS_EREFUSED says which, and why.
int pons_workspace_check(const char *path, pons_error *err);
// The same of one file that is about to be trusted: where its name leads to, and the folders above
// that place.
int pons_file_check(const char *path, pons_error *err);

PONS_C_END
