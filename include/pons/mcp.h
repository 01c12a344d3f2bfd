// mcp.h - the Model Context Protocol, both ends: servers' tools as a provider of
// include/pons/ext/tool.h, and a server that offers providers' tools to any MCP client.
//
// Specification: modelcontextprotocol.io, revisions 2025-06-18 and 2025-11-25; 2025-03-26 and
// 2024-11-05 are accepted from older peers. Transports: stdio and streamable HTTP.
#pragma once

#include "pons/ext/tool.h"
#include "pons/linkage.h"

#include <poll.h>

PONS_C_BEGIN

// ---- client -------------------------------------------------------------------------------------

// Reads mcp.json as other programs write it (docs/reference/mcp.md): {"mcpServers": {NAME: {command, args?, env?,
// cwd?} | {url, headers?}}}, each also with disabled?, timeout_s?, risk? (a word, or {TOOL: word}),
// autoApprove? ([TOOL]: "warn" in place of "dangerous"), trust? (its annotations may say "safe").
// ${NAME} and ${NAME:-default} in texts are the environment's, ${workspaceFolder} is `folder`. *ret is the
// object of servers in these words, expanded; one that cannot be had has a `fault`, one line with
// file:line:col. PONS_ENOTFOUND when there is no file; PONS_EINVAL when it is none of servers.
int pons_mcp_load(const char *path, const char *folder, pons_value **ret, pons_error *err);

// Starts the servers, each by itself, in the background. config: {workspace: absolute path,
// servers: from pons_mcp_load, timeout_s? (of a call without progress; 120), start_s? (30)}. What
// servers write to stderr is in run/mcp-NAME.log of the workspace. A tool is named SERVER.TOOL.
// Provider functions as in ext/tool.h; close waits about a second for servers to end.
int pons_mcp_open(const pons_value *config, const pons_clock *clock, pons_tools *ret,
                  pons_error *err);

// How the servers are: [{name, state: "starting" | "ready" | "waiting" (for its next start) |
// "disabled" | "refused" (its entry has a fault), transport, tools, starts, protocol?,
// server?{name, version}, error?}]. Any thread.
int pons_mcp_status(const pons_tools *mcp, pons_value **ret, pons_error *err);

// ---- server -------------------------------------------------------------------------------------

typedef struct pons_mcp_server_ops {
    // A resource list ([{uri, name, description?, mimeType?}]) and the text of one; may be NULL.
    pons_value *(*resources)(void *user);
    int (*read)(void *user, const char *uri, char **ret_text, pons_error *err);
    // Holds a call against what the tool's provider does not know (the critic); negative: refused,
    // and the client is told why. May be NULL.
    int (*check)(void *user, const pons_value *tool, const pons_value *args, pons_error *err);
    // A dangerous call whose client cannot ask its person: puts the question where a person finds
    // it. 1: approved, 0: nobody has answered yet, PONS_EREFUSED: rejected, with the reason. Asked
    // again until the call is over; a question stays when the call gives up. ret_how says how to
    // answer. NULL: such calls are refused.
    int (*ask)(void *user, const char *tool, const pons_value *args, const char *why, char *ret_how,
               size_t cap, pons_error *err);
} pons_mcp_server_ops;

typedef struct pons_mcp_server_options {
    int in_fd, out_fd;       // the client's messages, and ours; a line each
    int stop_fd;             // readable: end; -1: none
    const pons_tools *tools; // (n_tools)
    size_t n_tools;
    pons_clock clock;
    const char *name, *version, *instructions; // instructions may be NULL
    const pons_mcp_server_ops *ops;            // may be NULL
    void *user;
    int64_t approval_wait_ms; // a call waits so long for a person without elicitation; 0: 45 s
    int log_fd;               // one line a note; -1: none
} pons_mcp_server_options;

// Serves until the client closes its end (PONS_OK), stop_fd is readable (PONS_OK), or the client
// breaks the framing (PONS_EPROTOCOL). Calls that run are canceled. Blocks; one thread.
int pons_mcp_serve(const pons_mcp_server_options *o, pons_error *err);

// ---- server, over a transport of the caller's ---------------------------------------------------

// Providers, and any number of clients that share them, each a session. One thread for all of it.
typedef struct pons_mcp_host pons_mcp_host;
typedef struct pons_mcp_session pons_mcp_session;

// A message to the client. of: the id of the client's request that it belongs to (the answer, which
// has no `method`; progress; a question), or NULL. Both borrowed. Must not close the session.
typedef void (*pons_mcp_say_fn)(void *user, const pons_value *m, const pons_value *of);

// o: descriptors but log_fd are not looked at; its pointers outlive the host.
int pons_mcp_host_open(const pons_mcp_server_options *o, pons_mcp_host **ret, pons_error *err);
void pons_mcp_host_close(pons_mcp_host *h); // and its sessions; NULL-safe
int pons_mcp_session_open(pons_mcp_host *h, pons_mcp_say_fn say, void *user, pons_mcp_session **ret,
                          pons_error *err);
void pons_mcp_session_close(pons_mcp_session *s); // its calls are canceled; NULL-safe
void pons_mcp_session_take(pons_mcp_session *s, const pons_value *m); // a message of the client
bool pons_mcp_session_busy(const pons_mcp_session *s);                // calls run, or wait
const char *pons_mcp_session_version(const pons_mcp_session *s); // that was agreed on; "": not yet
// What to poll for, and for how long; then pons_mcp_host_poll.
size_t pons_mcp_host_fds(pons_mcp_host *h, struct pollfd *fds, size_t cap, int *ret_wait_ms);
void pons_mcp_host_poll(pons_mcp_host *h);
bool pons_mcp_version_known(const char *version); // a revision that pons speaks

PONS_C_END
