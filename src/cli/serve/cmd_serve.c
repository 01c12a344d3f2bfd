// cmd_serve.c - `pons serve`: the robot's brain, with its page and its API (server.c).
#include "cli/served.h"
#include "pons/rule_policy.h"

#define THREAD "main"

typedef struct words { // as they were typed; NULL: not given
    cli_server_words server;
    const char *thread, *skills, *llm;
    double speed, seed;
    bool alone; // no body is started here
    const char *no_body;
} words;

static int read_words(cli *c, words *w, pons_error *err)
{
    const cli_option options[] = {
        {"--listen", "ADDR:PORT",
         "default 127.0.0.1:2024; Stop is on the next port; port 0: free ones", &w->server.listen},
        {"--stop-port", "PORT", "of Stop, when it is not the next one", &w->server.stop_port},
        {"--token-file", "FILE",
         "who may do what; default run/serve.token, made when it is not there",
         &w->server.token_file},
        {"--no-token", NULL, "programs of this machine need none (they are operators)",
         &w->server.open_doors},
        {"--origin", "URL,…", "pages of others that may ask here too", &w->server.origins},
        {"--host", "NAME,…", "names of this machine that clients use", &w->server.hosts},
        {"--cert", "FILE", "serve https with this certificate (PEM)", &w->server.cert},
        {"--key", "FILE", "its key (PEM)", &w->server.key},
        {"--open", NULL, "open the page in a browser", &w->server.open},
        {"--ui", "DIR", "the page's files, read anew each time", &w->server.ui},
        {"--tools", "LIST",
         "what MCP clients get at /mcp: robot (default), core, modules, mcp; several with commas",
         &w->server.tools},
        {"--thread", "ID", "default: main", &w->thread},
        CLI_ROBOT_OPTIONS(c),
        {"--skills", "NAME,…", "modules skill-NAME that the body has too", &w->skills},
        {"--llm", "SPEC", "as of `pons run`", &w->llm},
        {"--no-body", NULL, "start no body: somebody else does, a service for one", &w->no_body},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1",
         CLI_NUMBER(&w->speed, 0.1, 100.0)},
        {"--seed", "N", "of everything random; default: from the system",
         CLI_NUMBER(&w->seed, 0.0, 9007199254740991.0)},
        {NULL, NULL, NULL, NULL},
    };
    return cli_parse(c, options, err);
}

static int check(const cli *c, const words *w, cli_session_options *o, pons_error *err)
{
    if (c->argc > 0) {
        return app_bad(err, "serve takes no words but options; goals are said to it");
    }
    const int rc = app_thread_name(w->thread, err);
    o->run.speed = w->speed;
    o->run.seed = (uint64_t)w->seed;
    return rc;
}

int cmd_serve(cli *c, pons_error *err)
{
    words w = {.server.tools = "robot", .thread = THREAD, .speed = 1.0};
    cli_session_options o = {.run.speed = 1.0, .serve = true};
    pons_policy policy = {0};
    cli_server *server = NULL;
    int rc = read_words(c, &w, err);
    w.alone = app_fleet_here(&c->app) && !c->app.world &&
              !c->app.driver; // its robots have bodies of their own
    rc = rc < 0 ? rc : check(c, &w, &o, err);
    rc = rc < 0 ? rc : cli_server_create(c, &w.server, &server, err);
    rc = rc < 0 ? rc : app_policy(&c->app, &policy, err);
    rc = rc < 0 ? rc : app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : cli_server_claim(server, err);
    if (rc >= 0) {
        o.run.guests[o.run.n_guests++] = cli_server_guest(
            server, &(app_server_session){.thread = w.thread, .llm = w.llm, .policy = &policy});
        o.run.thread = w.thread;
        o.run.policy = &policy;
        o.run.skills = w.skills;
        o.run.llm = w.llm;
        o.run.body_manual = w.alone || w.no_body;
        rc = cli_session_run(c, &o, err);
    }
    pons_rules_close(&policy);
    cli_server_destroy(server);
    return rc;
}
