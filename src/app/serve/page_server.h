// page_server.h - the page and the API beside a brain, as a guest of its session.
#pragma once

#include "app/agent/agent_setup.h"
#include "app/serve/served_graphs.h"
#include "app/serve/workspace_actions.h"
#include "app/session/session.h"

#include <pthread.h>

enum { APP_SERVER_NAMES_MAX = 16 };

typedef struct app_server_session { // the strings are borrowed
    const char *thread, *llm;
    const pons_policy *policy; // open when the session begins
    pons_event_cb on_chat; // every event of every chat with the agent, on its thread; NULL: nobody
    void *user;
} app_server_session;

typedef struct app_server {
    // Set before it is claimed.
    const app_context *c;
    char address[64], token_file[PATH_MAX + 32];
    int port, stop_port; // stop_port -1: as usual
    const char *origins[APP_SERVER_NAMES_MAX], *hosts[APP_SERVER_NAMES_MAX];
    size_t n_origins, n_hosts;
    char *cert, *key; // PEM, freed with it; NULL: one of our own where one is needed
    bool open_doors;
    bool may_lack;          // the session goes on without it: it says why, or who serves
    const char *ui, *tools; // tools: what MCP clients get; NULL: the robot
    // It listens, and the thread is there.
    int (*ready)(void *user, const char *url, const char *stop_url, pons_error *err);
    void *user;
    // Its own.
    app_server_session session;
    app_host host;
    app_mcp_parts mcp;                       // what /mcp offers
    int lock;                                // run/serve.json; -1: not ours
    char fingerprint[PONS_HTTP_FINGERPRINT]; // of the certificate; "": there is none
    pons_traces *traces;                     // where the environment wants them; or NULL
    app_graphs graphs;
    pthread_mutex_t mtx;
    bool announced;    // where it is
    pons_serve *serve; // set by the main thread, under mtx
} app_server;

void app_server_init(app_server *s, const app_context *c);
// Takes the workspace, which is there by now: one process serves it. PONS_EBUSY says who has it.
int app_server_claim(app_server *s, pons_error *err);
app_session_guest app_server_guest(app_server *s, const app_server_session *session);
pons_serve *app_server_serve(app_server *s); // while the session is open; else NULL
void app_server_fini(app_server *s);         // after the session

int app_pem_read(const char *path, char **ret, pons_error *err); // PONS_EINVAL: it is none
