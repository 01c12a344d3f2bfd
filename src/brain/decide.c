// decide.c - what the model is asked, and the check of what it answers.
//
// The request is made when the await starts (not when it is recorded), from the run's own messages
// and the registry as the body has it: after a crash a fresh body may offer other skills, and the
// model should know. Only a complete answer that validates against schemas/decision.json and names
// known skills is a decision.
#include "brain/brain_internal.h"

#include <string.h>

#define MESSAGES_SENT_MAX 12 // of the run's messages, the newest

static const char SYSTEM_PROMPT[] =
    "You decide for a mobile robot, one step at a time. Each user message carries an observation "
    "as "
    "JSON. Answer with one JSON object that validates against the schema, nothing else.\n"
    "type: CONTINUE (go on, or start the next operation), RETRY (the same again after a failure), "
    "REPLAN (another way), SWITCH_TASK, ASK_HUMAN, FINISH (every goal of the task is met), ABORT "
    "(impossible).\n"
    "ops: {\"op\":\"dispatch\",\"skill\",\"args\",\"goal_index\"}, "
    "{\"op\":\"cancel\",\"goal_id\"}, "
    "{\"op\":\"speak\",\"text\"}, {\"op\":\"approval\",\"question\"}. Leave ops out while a "
    "running "
    "skill is doing well. A skill that needs the base can start only when nothing else uses it.\n"
    "A hard kernel checks everything; what it refuses comes back as last_result.";

pons_value *pons__decision_request(pons_brain *b, const pons_value *messages,
                                   const pons_value *observation, const char *complaint,
                                   const char *previous)
{
    pons_value *list = json_array();
    pons_autovalue skills = json_array();
    size_t i;
    json_t *skill;
    json_array_foreach(pons_get(b->port.hello, "skills"), i, skill)
    {
        json_array_append_new(
            skills, pons_object("name", json_string(pons_get_str(skill, "name", "")), "args_schema",
                                pons_get(skill, "args_schema")
                                    ? pons_value_ref(pons_get(skill, "args_schema"))
                                    : json_object(),
                                NULL));
    }
    char *skills_text = NULL;
    if (pons_value_dump(skills, &skills_text) < 0) {
        skills_text = NULL;
    }
    json_array_append_new(list, pons_object("role", json_string("system"), "content",
                                            json_sprintf("%s\nSkills: %s", SYSTEM_PROMPT,
                                                         skills_text ? skills_text : "[]"),
                                            NULL));
    free(skills_text);
    const size_t n = json_array_size(messages);
    for (size_t k = n > MESSAGES_SENT_MAX ? n - MESSAGES_SENT_MAX : 0; k < n; k++) {
        const pons_value *m = json_array_get(messages, k);
        json_array_append_new(
            list, pons_object("role", json_string(pons_get_str(m, "role", "user")), "content",
                              json_string(pons_get_str(m, "content", "")), NULL));
    }
    if (complaint) {
        if (previous && *previous) {
            json_array_append_new(list, pons_object("role", json_string("assistant"), "content",
                                                    json_string(previous), NULL));
        }
        json_array_append_new(list,
                              pons_object("role", json_string("user"), "content",
                                          json_sprintf("That answer was refused: %s. Answer again "
                                                       "with one valid JSON object.",
                                                       complaint),
                                          NULL));
    }
    return pons_object("messages", list, "schema", pons_value_ref(b->decision_schema_value),
                       "schema_name", json_string("decision"), "observation",
                       observation ? pons_value_ref(observation) : json_null(), NULL);
}

int pons__decision_parse(pons_brain *b, const char *content, pons_value **ret, pons_error *err)
{
    pons_value *decision = NULL;
    int rc = pons_value_parse(content, strlen(content), &decision, err);
    if (rc < 0) {
        return pons_error_context(err, "not one JSON object");
    }
    if (b->decision_schema && pons_schema_check(b->decision_schema, decision, err) < 0) {
        pons_value_unref(decision);
        return err->status;
    }
    size_t i;
    json_t *op;
    json_array_foreach(pons_get(decision, "ops"), i, op)
    {
        const char *skill = pons_get_str(op, "skill", NULL);
        if (skill && strcmp(pons_get_str(op, "op", ""), "dispatch") == 0 &&
            !pons__skill(b, skill)) {
            rc = pons_error_set(err, PONS_EINVAL, "brain", "/ops/%zu/skill: unknown skill %s", i,
                                skill);
            pons_value_unref(decision);
            return rc;
        }
    }
    *ret = decision;
    return PONS_OK;
}
