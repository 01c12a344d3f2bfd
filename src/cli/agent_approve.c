// agent_approve.c - `pons approve` for an agent's thread.
//
// When nobody runs the thread, it is opened for a moment: the answer is recorded as that of the
// question that waits, and `pons resume` goes on. When a chat has it, the answer goes into its
// inbox, bound to the question that is open now, and a datagram wakes it.
#include "cli/agent_cli.h"

#include <string.h>
#include <unistd.h>

static void show(const char *thread, const pons_value *question, bool json);
static int post(cli *c, pons_store store, const char *thread, const pons_value *question,
                const pons_value *answer, const char *id);

typedef struct newest {
    pons_value *question; // of the newest event, when that is one
} newest;

// A run that asks waits, so its question is the newest durable event there is.
static int newest_event(void *user, const pons_event_row *row)
{
    newest *n = user;
    const bool plan = strcmp(row->type, "plan_approval_request") == 0;
    const bool tool = strcmp(row->type, "approval_request") == 0;
    pons_value *payload = NULL;
    pons_value_unref(n->question);
    n->question = NULL;
    if ((plan || tool) &&
        pons_value_parse(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        const pons_value *id = pons_get(payload, plan ? "plan_id" : "request_id");
        json_object_set_new(payload, "type", json_string(plan ? "plan_approval" : "tool_approval"));
        json_object_set_new(payload, "id", pons_value_ref(id));
        n->question = payload;
    }
    return 0;
}

int cli_agent_approve(cli *c, pons_store store, const char *thread, const pons_value *answer,
                      const char *id)
{
    pons_error err = PONS_ERROR_INIT;
    cli_agent_parts parts = {0};
    pons_agent *a = NULL;
    const pons_clock clock = pons_clock_real();
    int rc = cli_agent_parts_open(c, thread, &clock, true, &parts, &err);
    if (rc >= 0) {
        const pons_agent_options opts = {.store = store,
                                         .thread = thread,
                                         .clock = clock,
                                         .config = parts.config,
                                         .offline = true};
        rc = pons_agent_open(&opts, &a, &err);
    }
    pons_autovalue question = NULL;
    if (rc >= 0) {
        pons_autovalue questions = pons_agent_questions(a);
        question = pons_value_ref(json_array_get(questions, 0));
    } else if (rc == PONS_EBUSY) {
        newest n = {0};
        rc = store.ops->events(store.self, thread, 0, 0, newest_event, &n, &err);
        question = n.question;
    }
    int status = EXIT_DONE;
    if (rc < 0) {
        status = cli_fail(&err);
    } else if (!answer) {
        show(thread, question, c->json);
        status = question ? EXIT_WAITING : EXIT_DONE;
    } else if (!question) {
        status = cli_bad("approve: %s waits for nobody", thread);
    } else if (pons_agent_answer_check(question, answer, &err) < 0) {
        status = cli_fail(&err);
    } else if (!a) {
        status = post(c, store, thread, question, answer, id);
    } else if (pons_agent_answer(a, id, answer, &err) < 0) {
        status = cli_fail(&err);
    } else if (!c->json) {
        fprintf(stderr, "pons: kept for %s; `pons resume %s` goes on\n", thread, thread);
    }
    pons_agent_close(a);
    cli_agent_parts_close(&parts);
    return status;
}

static void show(const char *thread, const pons_value *question, bool json)
{
    if (json) {
        pons_autovalue list = json_array();
        if (question) {
            json_array_append(list, (pons_value *)(uintptr_t)question);
        }
        cli_print_json(list);
        return;
    }
    if (!question) {
        printf("%s waits for nobody\n", thread);
        return;
    }
    printf("%s asks:\n", thread);
    cli_print_json(question);
}

static int post(cli *c, pons_store store, const char *thread, const pons_value *question,
                const pons_value *answer, const char *id)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue bound = json_copy((pons_value *)(uintptr_t)answer);
    json_object_set_new(bound, "id",
                        id ? json_string(id) : pons_value_ref(pons_get(question, "id")));
    if (pons_inbox_post(store, thread, PONS_AGENT_NS, "answer", bound, &err) < 0) {
        return cli_fail(&err);
    }
    char path[PATH_MAX + PONS_NAME_MAX + 16];
    snprintf(path, sizeof path, "%s/agent-%s.sock", c->run_dir, thread);
    const int fd = pons_datagram_connect(path, &err);
    if (fd >= 0) {
        const ssize_t sent = write(fd, "!", 1);
        (void)sent; // without it the next look finds the answer
        close(fd);
    }
    return EXIT_DONE;
}
