// served.h - the page and the API beside a brain: what `pons serve` and `--serve` of other commands
// share. It is made in cli/serve, for every room.
#pragma once

#include "app/serve/page_server.h"
#include "cli/cli.h"

// ---- server.c -----------------------------------------------------------------------------------

typedef struct cli_server_words { // as they were typed; NULL: not given
    const char *listen;           // --serve without an address is "yes"
    const char *stop_port, *token_file, *origins, *hosts, *cert, *key, *open_doors, *open, *ui,
        *tools;
    bool beside; // nobody asked for it: at a free port, and only where nobody else serves
} cli_server_words;

// What other commands than `pons serve` take of them.
#define CLI_SERVER_OPTIONS(w)                                                                      \
    {"--serve", "[ADDR:PORT]",                                                                     \
     "the page and the API too, as of `pons serve`; default 127.0.0.1:2024, 0: a free port",       \
     &(w)->listen},                                                                                \
        {"--open", NULL, "with --serve: open the page in a browser", &(w)->open},                  \
    {                                                                                              \
        "--token-file", "FILE", "with --serve: who may do what; default run/serve.token",          \
            &(w)->token_file                                                                       \
    }

typedef struct cli_server cli_server;

// Checks the words; w is borrowed. *ret is NULL when they ask for no server. PONS_EINVAL.
int cli_server_create(cli *c, const cli_server_words *w, cli_server **ret, pons_error *err);
// Takes the workspace, which is there by now: one process serves it. PONS_EBUSY says who has it.
// NULL-safe.
int cli_server_claim(cli_server *s, pons_error *err);
app_session_guest cli_server_guest(cli_server *s, const app_server_session *session);
// While the session is open; else NULL.
pons_serve *cli_server_serve(cli_server *s);
void cli_server_destroy(cli_server *s); // after the session; NULL-safe

// ---- side_service.c: what lives in one process with a brain, its page and its API ---------------

typedef struct cli_beside {
    const char *llm; // of the brain
    // On a thread of its own, with its own connection to the store, from when the server is ready; its
    // end, also a bad one, is the whole's.
    int (*live)(void *user, pons_error *err);
    void (*leave)(void *user); // it is to end soon
    void *user;
} cli_beside;

// The workspace is made when it is not there. The brain's thread is main.
int cli_server_beside(cli *c, cli_server *server, const cli_beside *o, pons_error *err);

// ---- agent_prompt.c: the agent's prompt, and the page and the API, in one process ---------------

typedef struct cli_agent_prompt_words {
    cli_server_words server;
    const char *session, *llm;
    const char *words; // the first turn; NULL: none
} cli_agent_prompt_words;

int cli_agent_prompt(cli *c, const cli_agent_prompt_words *w, pons_error *err);
