// tools.h - the core tools: files, a terminal, the web, and the workspace's own knowledge, as a
// provider of include/pons/ext/tool.h.
//
// read_file write_file edit_file list_dir search_files terminal fetch_url search_knowledge search_lessons.
// Paths are relative to the workspace and never lead out of it. What a tool may cost in time,
// memory and output is bounded by the configuration, and what was cut says so.
#pragma once

#include "pons/ext/tool.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <sys/stat.h>

PONS_C_BEGIN

// Opens the core tools. config (copied; config/tools.yaml has every key with its default):
//
//   {workspace: absolute path of an existing directory,   required
//    tools?: [names]                  only these; default: all
//    risk?: {TOOL: word}              in place of a tool's own risk; a call's own risk stays
//    hidden?: [paths]                 neither read nor written nor searched, and
//    protected?: [paths]              read, but not written, beside pons/protected_files.h's table
//    output_kb?, write_kb?, workers?, files{}?, terminal{}?, fetch{}?, knowledge{}?}
//
// PONS_EINVAL names the path of a bad key, PONS_EENV a workspace that can't be opened. ret->ops
// ->close(ret->self) ends what runs; it waits for a name look-up for at most two seconds. Threads:
// list, generation, assess and start from any; next, cancel, adopt and close from the host's.
//
// Effects are done once a key: write_file, edit_file and terminal keep run/tools.ledger in the workspace,
// synced before they begin. After a restart `adopt` gives a finished call's stored result, says
// PONS_ENOTFOUND where nothing was begun, PONS_ECLOSED where it cannot be known.
int pons_core_tools_open(const pons_value *config, const pons_clock *clock, pons_tools *ret,
                         pons_error *err);

// What write_file and edit_file replaced is kept in run/undo of the workspace before they write (the
// newest 500 versions, 256 MB), whoever had the tools open. t: the provider that pons_core_tools_open
// gave (PONS_EUNSUPPORTED for another's). Both read and write files: not for a loop thread in a hurry.
//
// *ret, newest first: [{path, tool, at_ms, created, changed}]; changed: it is no longer what was
// written, so that an undo asks for force.
int pons_core_tools_writes(const pons_tools *t, pons_value **ret, pons_error *err);
// Takes the newest `steps` writes back, all or (PONS_EREFUSED, PONS_ENOTFOUND) none; *ret: [{path,
// did: "restored" | "removed", bytes, lost?}]. PONS_EREFUSED names a file that somebody has changed
// since; with force what is there now goes to `lost`, a file in run/undo. Killed at any point: the
// next undo finishes the step that was cut short.
int pons_core_tools_undo(const pons_tools *t, size_t steps, bool force, pons_value **ret,
                         pons_error *err);

// A workspace's files for a person who looks at them from elsewhere (`pons serve`): what the tools may
// read, by the same table, configuration and identities. config: as for pons_core_tools_open. Any thread.
typedef struct pons_tools_view pons_tools_view;
int pons_tools_view_open(const pons_value *config, const pons_clock *clock, pons_tools_view **ret,
                         pons_error *err);
void pons_tools_view_close(pons_tools_view *v); // NULL-safe
// A file or folder for reading, of which no part of the path is a link: a descriptor of the caller's.
// PONS_EREFUSED: it is hidden, outside, or of another kind; PONS_ENOTFOUND.
int pons_tools_view_file(const pons_tools_view *v, const char *path, pons_error *err);
// Whether an entry of a folder, in this state, may be named.
bool pons_tools_view_names(const pons_tools_view *v, const char *folder, const char *name,
                           const struct stat *st);

// Whether commands that nobody is asked about can run behind the kernel's wall here (docs/reference/tools.md):
// a trial runs. detail gets one line: how, or PONS_EENV and why not. Without it every command asks.
int pons_core_tools_wall(const char *workspace, char *detail, size_t cap);

PONS_C_END
