// cmd_agent.c - `pons agent`: a turn, or a chat, with the planning agent; and what `pons resume`
// and `pons approve` do with its threads.
//
// A session is opened with all its parts, talked with (chat.c), and closed; /clear, /sessions and
// /model leave one and open another, at the same prompt. A turn that a signal or a crash cut short is
// gone on with first.
#include "app/agent/agent_setup.h"
#include "cli/agent/agent_cli.h"
#include "cli/agent/chat.h"
#include "cli/agent/undo.h"
#include "cli/served.h"
#include "pons/rule_policy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the command --------------------------------------------------------------------------------

static int list_sessions(cli *c, pons_error *err)
{
    cli_chat s = {.c = c, .wake_fd = -1};
    int rc = app_store_read(&c->app, &s.store, err);
    rc = rc < 0 ? rc : cli_sessions_print(&s, err);
    pons_store_close(&s.store);
    return rc;
}

static int newest(cli *c, const char *folder, char ret[PONS_NAME_MAX], pons_error *err)
{
    pons_store store = {0};
    char here[PATH_MAX] = "";
    if (!realpath(folder ? folder : ".", here)) {
        here[0] = '\0';
    }
    int rc = app_store_read(&c->app, &store, err);
    rc = rc < 0 ? rc : cli_session_newest(c, store, here, ret, err);
    pons_store_close(&store);
    return rc;
}

// What is left of a turn goes on where it was begun: its files are those of that folder.
static int find_folder(cli_chat *s, const char *wanted, bool resume, pons_error *err)
{
    char had[PATH_MAX];
    const bool person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !s->c->json;
    if (resume && app_folder_of_session(&s->c->app, s->thread, had)) {
        return cli_folder_find(s->c, had, APP_FOLDER_NEVER_ASK, s->folder, err);
    }
    resume = resume || s->plan; // a plan's files are the workspace's
    const app_folder_ask ask = wanted   ? APP_FOLDER_TRUST
                               : person ? APP_FOLDER_ASK
                                        : APP_FOLDER_NEVER_ASK;
    return cli_folder_find(s->c, resume ? s->c->app.workspace : wanted, ask, s->folder, err);
}

static void on_event(void *user, const pons_event *ev)
{
    cli_chat *s = user;
    cli_agent_view_event(&s->view, ev);
    pons_traces_event(s->traces, ev);
}

static int session(cli_chat *s, const char *words, bool resume, pons_error *err)
{
    int rc = app_agent_parts_open(&s->c->app, s->thread, &s->clock, &s->store, NULL, s->folder,
                                  &s->parts, err);
    rc = rc < 0 || s->plan ? rc
                           : app_picture_middleware_open(&s->parts, s->llm_spec, &s->clock, err);
    rc = rc < 0 ? rc : pons_traces_from_environment(&s->traces, err);
    if (rc >= 0) {
        const char *model = getenv("PONS_LLM_MODEL");
        char server[256];
        const pons_agent_options opts = {
            .store = s->store,
            .thread = s->thread,
            .clock = s->clock,
            .config = s->parts.config,
            .llm = s->llm.ops ? &s->llm : NULL,
            .model = model && *model ? model : NULL,
            .model_first = s->model_chosen,
            .tools = s->parts.tools,
            .n_tools = s->parts.n_tools,
            .prompts = s->parts.prompts,
            .middleware = &s->parts.seeing,
            .n_middleware = s->parts.n_seeing,
            .cameras = s->parts.camera_names,
            .judge = s->parts.judge,
            .judge_user = s->parts.judge_user,
            .look = s->parts.judge ? pons_robot_tools_look : NULL,
            .look_user = s->parts.files.robot.self,
            .about = cli_chat_about,
            .about_user = s,
            .place = s->folder,
            .pictures_to = app_agent_pictures_to(&s->c->app, s->llm_spec, server, sizeof server),
            .on_event = on_event,
            .user = s};
        app_agent_parts_wait(&s->parts, &s->clock);
        rc = pons_agent_open(&opts, &s->a, err);
    }
    if (rc >= 0) {
        app_folder_note_session(&s->c->app, s->thread, s->folder);
        rc = cli_chat_talk(s, words, resume, err);
    }
    pons_agent_close(s->a);
    s->a = NULL;
    cli_chat_close(s);
    app_agent_parts_close(&s->parts);
    pons_traces_close(s->traces);
    s->traces = NULL;
    return rc;
}

// One after the other, as the person goes from one to the next.
static int one_by_one(cli_chat *s, const char *words, bool resume, const char *folder,
                      pons_error *err)
{
    pons_error lacks = PONS_ERROR_INIT;
    int rc =
        s->plan ? PONS_OK : app_agent_model(&s->c->app, s->llm_spec, &s->clock, &s->llm, &lacks);
    if (rc < 0 && !(rc == PONS_EENV && resume)) {
        *err = lacks;
        return rc;
    }
    rc = app_workspace(&s->c->app, true, err);
    rc = rc < 0 ? rc : app_store(&s->c->app, &s->store, err);
    if (rc >= 0 && lacks.status < 0 && !pons_agent_plan_is_given(s->store, s->thread)) {
        *err = lacks; // a person's plan goes on without a model
        rc = lacks.status;
    }
    rc = rc < 0 ? rc : find_folder(s, folder, resume, err);
    cli_chat_signals();
    rc = rc < 0 ? rc : session(s, words, resume, err);
    while (rc >= 0 && (s->next[0] || s->again) && !cli_chat_left()) {
        if (s->next[0]) {
            snprintf(s->thread, sizeof s->thread, "%s", s->next);
        }
        if (s->again) { // another model
            s->llm.ops->close(s->llm.self);
            s->llm = (pons_llm){0};
            rc = app_agent_model(&s->c->app, s->llm_spec, &s->clock, &s->llm, err);
        }
        s->next[0] = '\0';
        s->again = s->quit = false;
        rc = rc < 0 ? rc : session(s, NULL, false, err);
    }
    cli_prompt_stop();
    if (s->llm.ops) {
        s->llm.ops->close(s->llm.self);
    }
    pons_store_close(&s->store);
    return rc;
}

static int run_agent(cli *c, const char *thread, const char *llm_spec, const char *words,
                     bool resume, const char *folder, bool model_chosen, const pons_plan *plan,
                     const char *picture, pons_error *err)
{
    cli_chat s = {.c = c,
                  .llm_spec = llm_spec,
                  .plan = plan,
                  .clock = pons_clock_real(),
                  .stdin_open = true,
                  .wake_fd = -1,
                  .queue = json_array(),
                  .pictures = json_array(),
                  .model_chosen = model_chosen,
                  .input = PONS_BUF_INIT};
    snprintf(s.thread, sizeof s.thread, "%s", thread);
    cli_agent_view_init(&s.view, c->json, isatty(STDOUT_FILENO));
    int rc = app_policy(&c->app, &s.policy, err);
    if (rc >= 0 && words && !plan &&
        cli_chat_stop(&s, words)) { // before a model, tools, or what is left of a turn
        rc = s.word_failed ? APP_NO_SUCCESS : PONS_OK;
    } else {
        rc = rc < 0 || !picture ? rc : cli_chat_picture(&s, picture, true, err);
        rc = rc < 0 ? rc : one_by_one(&s, words, resume, folder, err);
    }
    cli_agent_view_fini(&s.view);
    pons_value_unref(s.queue);
    pons_value_unref(s.pictures);
    pons_buf_fini(&s.input);
    pons_rules_close(&s.policy);
    return rc;
}

int cmd_agent(cli *c, pons_error *err)
{
    const char *thread = NULL, *name = NULL, *llm = NULL, *model = NULL, *folder = NULL;
    const char *go_on = NULL, *sessions = NULL;
    cli_undo_words undo = {0};
    char found[PONS_NAME_MAX];
    cli_agent_prompt_words served = {0};
    const char *picture = NULL;
    const cli_option options[] = {
        {"--picture", "FILE", "a JPEG or PNG that goes with the words", &picture},
        {"--session", "ID", "whose history is kept; default: agent", &name},
        {"--thread", "ID", "the same", &thread},
        {"--continue", NULL, "the newest session of this folder", &go_on},
        {"--sessions", NULL, "show the sessions, with their first and last words", &sessions},
        {"--folder", "DIR", "the folder to work in, which is trusted by that; default: here",
         &folder},
        {"--model", "NAME", "the model to ask; default: PONS_LLM_MODEL", &model},
        {"--llm", "SPEC", "URL or script:FILE; default: the environment's model", &llm},
        {"--list", NULL, "undo: the writes that can be taken back", &undo.list},
        {"--steps", "N", "undo: the newest N writes; default: 1", &undo.steps},
        {"--force", NULL, "undo: also what was changed since, which is kept aside", &undo.force},
        CLI_SERVER_OPTIONS(&served.server),
        CLI_ROBOT_OPTIONS(c),
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    thread = name ? name : thread;
    if (c->argc > 0 && strcmp(c->argv[0], "undo") == 0) {
        undo.thread = thread;
        undo.folder = folder;
        return cli_agent_undo(c, &undo, err);
    }
    if (undo.list || undo.steps || undo.force) {
        return app_bad(err, "agent: --list, --steps and --force are of `pons agent undo`");
    }
    if (go_on && thread) {
        return app_bad(err, "agent: --continue finds the session; --session names it: one of them");
    }
    if (sessions) {
        return list_sessions(c, err);
    }
    if (model && (!*model || setenv("PONS_LLM_MODEL", model, 1) != 0)) {
        return app_bad(err, "agent: --model needs a name");
    }
    if (go_on) {
        const int rc = newest(c, folder, found, err);
        if (rc < 0) {
            return rc;
        }
        thread = found;
    }
    thread = thread ? thread : CLI_SESSION_DEFAULT;
    const int named = app_thread_name(thread, err);
    if (named < 0) {
        return named;
    }
    pons_autobuf words = PONS_BUF_INIT;
    const int read = cli_words(c, 0, SIZE_MAX, &words, err);
    if (read < 0 || (c->argc > 0 && words.data[strspn(words.data, " \t\r\n")] == '\0')) {
        return read < 0 ? read : app_bad(err, "agent: there is nothing to say");
    }
    if (served.server.listen || served.server.open || served.server.token_file) {
        served.session = thread;
        served.llm = llm;
        served.words = c->argc > 0 ? words.data : NULL;
        return cli_agent_prompt(c, &served, err);
    }
    return run_agent(c, thread, llm, c->argc > 0 ? words.data : NULL, false, folder, model != NULL,
                     NULL, picture, err);
}

int cli_agent_resume(cli *c, const char *thread, const char *llm, pons_error *err)
{
    return run_agent(c, thread, llm, NULL, true, NULL, false, NULL, NULL, err);
}

int cli_agent_plan(cli *c, const pons_plan *plan, pons_error *err)
{
    char thread[PONS_NAME_MAX];
    app_new_thread(thread);
    return run_agent(c, thread, NULL, plan->goal, false, NULL, false, plan, NULL, err);
}
