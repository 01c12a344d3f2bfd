// answer_check.c - the check of what a model answers.
//
// A model may be wrong in every way and for ever. Only a complete answer of at most DECISION_MAX
// bytes that validates against schemas/decision.json, names known skills and known zones, and
// leaves the task with no more goals than one may have, is a decision; anything else goes back
// once with the exact reason, and then the rules decide. Of what a model says no more is stored
// than a decision may have.
//
// What models put around their JSON is taken off: a thought in <think>…</think> and the like, a fence of
// ```, a sentence before and after. What is left is one JSON object, if need be repaired as a plan's is
// (pons_reply_object), or it is refused.
#include "brain/model/answer_check.h"

#include "brain/goals/goal_skills.h"
#include "pons/plan.h"

#include <string.h>

#define DECISION_MAX   (16 * 1024) // bytes of an answer
#define TASK_GOALS_MAX 100         // as schemas/task.json

// ---- what is around it --------------------------------------------------------------------------

// The end of the object that begins at text[from] (behind its brace), or 0 when it has none.
static size_t object_end(const char *text, size_t from)
{
    bool quoted = false;
    int depth = 0;
    for (size_t i = from; text[i]; i++) {
        if (quoted) {
            quoted = text[i] != '"';
            i += text[i] == '\\' && text[i + 1];
        } else if (text[i] == '"') {
            quoted = true;
        } else if (text[i] == '{' || text[i] == '[') {
            depth++;
        } else if ((text[i] == '}' || text[i] == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

// The one decision of an answer: behind its thoughts, the one object with a type; what is there twice, and
// differs, can be meant in two ways. *ret stays NULL when there is none, and err has what is wrong with the first.
static int find_object(const char *content, pons_value **ret, pons_error *err)
{
    const char *text = pons_reply_behind_thoughts(content, strlen(content));
    if (!text) { // what was only considered is no answer
        return pons_error_set(err, PONS_EINVAL, "brain",
                              "not one JSON object: a thought without end");
    }
    bool reported = false;
    pons_autovalue found = NULL;
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        const size_t end = object_end(at, 0);
        pons_error why = PONS_ERROR_INIT;
        pons_autovalue one = NULL;
        const int rc = pons_value_parse(at, end ? end : strlen(at), &one, &why);
        const bool decides = rc >= 0 && pons_get(one, "type");
        if (decides && found && !json_equal((json_t *)found, (json_t *)one)) {
            return pons_error_set(err, PONS_EINVAL, "brain",
                                  "not one JSON object: two decisions that differ");
        }
        if (decides && !found) {
            found = pons_value_ref(one);
        }
        if (rc >= 0 && !decides) { // an object in the prose
            pons_error_set(&why, PONS_EINVAL, "brain", "an object without type");
        }
        if (!decides && !reported) {
            *err = why;
            reported = true;
        }
        if (!end) {
            break; // it was cut: what is inside of it is no answer
        }
        at += end - 1;
    }
    if (found) {
        *ret = pons_value_ref(found);
        return PONS_OK;
    }
    return reported
               ? pons_error_context(err, "not one JSON object")
               : pons_error_set(err, PONS_EINVAL, "brain", "not one JSON object: there is none");
}

// ---- the decision -------------------------------------------------------------------------------

static int check_ops(const pons_brain *b, const pons_value *said, pons_error *err)
{
    PONS__AUTO_LIST(asked) ops = {0};
    int rc = PONS_OK;
    pons__list_read(&pons__asked_record, said, &ops);
    for (size_t i = 0; rc >= 0 && i < ops.n; i++) {
        const pons__asked *op = ops.at[i];
        if (op->op == PONS_OP_DISPATCH && *op->skill && !pons__skill(b, op->skill)) {
            rc = pons_error_set(err, PONS_EINVAL, "brain", "/ops/%zu/skill: unknown skill %s", i,
                                op->skill);
        }
    }
    return rc;
}

// What the schema cannot say: what each intent needs, and the zones of this world.
static int check_goal(const pons_brain *b, const pons_value *said, size_t i, pons_error *err)
{
    char buf[64];
    PONS__AUTO(goal) goal = pons__record_read(&pons__goal_record, said);
    const bool nameless = strcmp(goal->intent, "do") == 0 && !*goal->skill;
    const char *lacks = nameless ? "skill" : pons__means_lack(b, goal, buf, sizeof buf);
    int rc = PONS_OK;
    if (lacks) {
        rc = pons_error_set(err, PONS_EINVAL, "brain", "/plan_patch/goals/%zu: %s needs %s", i,
                            goal->intent, lacks);
    } else if (*goal->zone && !pons__zone_find(b, goal->zone)) {
        rc = pons_error_set(err, PONS_EINVAL, "brain",
                            "/plan_patch/goals/%zu/zone: unknown zone %.60s", i, goal->zone);
    }
    pons_each(stop, goal->zones) {
        if (rc >= 0 && !pons__zone_find(b, json_string_value(stop))) {
            rc = pons_error_set(err, PONS_EINVAL, "brain",
                                "/plan_patch/goals/%zu/zones/%zu: unknown zone %.60s", i, stop_at,
                                json_string_value(stop));
        }
    }
    return rc;
}

// A person's own goals stay whatever a patch says, so they count.
static int check_goals(const pons_brain *b, const pons__task *task, const pons_value *patch,
                       pons_error *err)
{
    size_t i, own = 0;
    json_t *goal;
    for (i = 0; task && i < task->goals.n; i++) {
        own += !((const pons__goal *)task->goals.at[i])->added;
    }
    if (own + json_array_size(patch) > TASK_GOALS_MAX) {
        return pons_error_set(
            err, PONS_EINVAL, "brain",
            "/plan_patch/goals: %zu goals beside the task's %zu; at most %d in all",
            json_array_size(patch), own, TASK_GOALS_MAX);
    }
    int rc = PONS_OK;
    json_array_foreach(patch, i, goal) {
        rc = rc < 0 ? rc : check_goal(b, goal, i, err);
    }
    return rc;
}

int pons__decision_parse(pons_brain *b, const pons__task *task, const char *content,
                         pons__decision **ret, pons_error *err)
{
    pons_autovalue decision = NULL;
    const size_t n = strlen(content);
    if (n > DECISION_MAX) {
        return pons_error_set(err, PONS_EINVAL, "brain", "an answer of %zu bytes; at most %d", n,
                              DECISION_MAX);
    }
    pons_error damage = PONS_ERROR_INIT;
    int rc = find_object(content, &decision, err);
    if (rc < 0 && pons_reply_object(content, n, "type", &decision, &damage) >= 0) {
        rc = PONS_OK;
    }
    rc = rc < 0 ? rc : pons__door_check(b, PONS_DOOR_DECISION, decision, err);
    if (rc < 0) {
        return rc;
    }
    pons__decision *d = pons__record_read(&pons__decision_record, decision);
    PONS__AUTO(patch) patch = pons__record_read(&pons__patch_record, d->plan_patch);
    rc = check_ops(b, d->ops, err);
    rc = rc < 0 ? rc : check_goals(b, task, patch->goals, err);
    if (rc < 0) {
        pons__record_free(&pons__decision_record, d);
        return rc;
    }
    *ret = d;
    return PONS_OK;
}

pons__model_answer pons__decision_answer(const pons__model_answer *said, int64_t tokens)
{
    const size_t n = strlen(said->content);
    return n > DECISION_MAX ? (pons__model_answer){.too_long = (int64_t)n, .tokens = tokens}
                            : (pons__model_answer){
                                  .content = said->content, .usage = said->usage, .tokens = tokens};
}
