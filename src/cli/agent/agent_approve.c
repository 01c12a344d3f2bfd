// agent_approve.c - `pons approve` for an agent's thread.
//
// When nobody runs the thread, it is opened for a moment: the answer is recorded as that of the
// question that waits, and `pons resume` goes on. When a chat has it, the answer goes into its
// inbox, bound to the question that is open now, and a datagram wakes it.
#include "app/agent/agent_setup.h"
#include "cli/agent/agent_cli.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#define LOOK_EVERY_MS 20
#define LOOKS         250 // for the lease of another `pons approve`, which has it for a moment

// A run that asks waits, so its questions are the newest durable events there are.
static int newest_event(void *user, const pons_event_row *row)
{
    pons_value *questions = user;
    const bool plan = strcmp(row->type, "plan_approval_request") == 0;
    const bool tool = strcmp(row->type, "approval_request") == 0;
    pons_value *payload = NULL;
    if (!plan && !tool) {
        json_array_clear(questions);
    }
    if ((plan || tool) &&
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        const pons_value *id = pons_get(payload, plan ? "plan_id" : "request_id");
        json_object_set_new(payload, "type", json_string(plan ? "plan_approval" : "tool_approval"));
        json_object_set_new(payload, "id", pons_value_ref(id));
        json_array_append_new(questions, payload);
    }
    return 0;
}

static void show(const char *thread, const pons_value *open, bool json)
{
    if (json) {
        cli_print_json(open);
    } else if (json_array_size(open) == 0) {
        cli_out("%s waits for nobody\n", thread);
    } else {
        cli_out("%s asks:\n", thread);
        for (size_t i = 0; i < json_array_size(open); i++) {
            cli_print_json(json_array_get(open, i));
        }
    }
}

static int post(pons_store store, const char *thread, const char *path, const pons_value *question,
                const pons_value *answer, pons_error *err)
{
    pons_autovalue bound = json_copy((pons_value *)(uintptr_t)answer);
    json_object_set_new(bound, "id", pons_value_ref(pons_get(question, "id")));
    const int rc = pons_inbox_post(store, thread, PONS_AGENT_NS, "answer", bound, err);
    if (rc < 0) {
        return rc;
    }
    pons_error none = PONS_ERROR_INIT;
    const int fd = pons_datagram_connect(path, &none);
    if (fd >= 0) {
        const ssize_t sent = write(fd, "!", 1);
        (void)sent; // without it the next look finds the answer
        close(fd);
    }
    return PONS_OK;
}

static bool listens(const char *path)
{
    pons_error none = PONS_ERROR_INIT;
    const int fd = pons_datagram_connect(path, &none);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

// A chat keeps the thread; another `pons approve` has it for a moment, and then its answer counts:
// one that was posted beside it would be told as kept, and be for nothing.
static int open_thread(const pons_agent_options *opts, const char *path, pons_agent **ret,
                       pons_error *err)
{
    for (int looks = 0;; looks++) {
        const int rc = pons_agent_open(opts, ret, err);
        if (rc != PONS_EBUSY || looks == LOOKS || listens(path)) {
            return rc;
        }
        poll(NULL, 0, LOOK_EVERY_MS);
    }
}

int cli_agent_approve(cli *c, pons_store store, const char *thread, const pons_value *answer,
                      const char *id, pons_error *err)
{
    app_agent_parts parts = {0};
    pons_agent *a = NULL;
    char path[PATH_MAX + PONS_NAME_MAX + 16];
    const pons_clock clock = pons_clock_real();
    snprintf(path, sizeof path, "%s/agent-%s.sock", c->app.run_dir, thread);
    char folder[PATH_MAX]; // what is allowed for good is so where the session works, not everywhere
    const bool known = app_folder_of_session(&c->app, thread, folder);
    if (!known && answer && pons_get(answer, "always")) {
        return app_bad(err, "approve: %s is not known to work in a folder: approve this once",
                       thread);
    }
    int rc = app_agent_parts_open(&c->app, thread, &clock, NULL, NULL, NULL, &parts, err);
    if (rc >= 0) {
        const pons_agent_options opts = {.store = store,
                                         .thread = thread,
                                         .clock = clock,
                                         .config = parts.config,
                                         .place = known ? folder : NULL,
                                         .offline = true};
        rc = open_thread(&opts, path, &a, err);
    }
    pons_autovalue open = NULL;
    if (rc >= 0) {
        open = pons_agent_questions(a);
    } else if (rc == PONS_EBUSY) {
        open = json_array();
        rc = store.ops->events(store.self, thread, 0, 0, newest_event, open, err);
    }
    const pons_value *question = id ? app_question_named(open, id) : json_array_get(open, 0);
    if (rc >= 0 && !answer) {
        show(thread, open, c->json);
        rc = json_array_size(open) > 0 ? APP_WAITING : PONS_OK;
    } else if (rc >= 0 && json_array_size(open) == 0) {
        rc = app_bad(err, "approve: %s waits for nobody", thread);
    } else if (rc >= 0 && !id && json_array_size(open) > 1) {
        rc = app_question_which(thread, open, err);
    } else if (rc >= 0 && !question) {
        rc = app_question_unknown(thread, id, open, err);
    } else if (rc >= 0) {
        rc = pons_agent_answer_check(question, answer, err);
        rc = rc < 0 ? rc
             : a    ? pons_agent_answer(a, pons_get_str(question, "id", ""), answer, err)
                    : post(store, thread, path, question, answer, err);
        if (rc >= 0 && a && !c->json) {
            cli_err("pons: kept for %s; `pons resume %s` goes on\n", thread, thread);
        }
    }
    pons_agent_close(a);
    app_agent_parts_close(&parts);
    return rc;
}
