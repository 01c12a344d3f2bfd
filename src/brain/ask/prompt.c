// prompt.c - what the model is asked, within a budget of bytes and tokens.
//
// The request is made when the await starts (not when it is recorded), from the run's own messages
// and the registry as the body has it: after a crash a fresh body may offer other skills, and the
// model should know.
//
// A server cuts a prompt that is too long in silence, and from the front, where the rules and the
// skills are. So it is cut here, the least important first, and each cut is said in the prompt:
//
//     always      the rules, the schema of the answer, what was refused and why, each skill's name,
//                 and of the observation the mode, the goal, what failed last
//     then        the whole observation: shorter texts and lists when it does not fit in half
//     then        the skills' argument schemas: the longest are left out first
//     then        what waits in the queue and the world's objects, the first of each
//     then        the earlier messages, the newest first
//
// Tokens are estimated, on the high side: a third of the bytes of ASCII, half of the others (a
// Chinese character has three). A server that tells its count of a prompt corrects the estimate of
// the next.
#include "brain/react/prompt.h"

#include "brain/guard.h"
#include "pons/buf.h"

#include <string.h>

#define MESSAGES_SENT_MAX 12   // of the run's messages, the newest
#define PREVIOUS_MAX      2000 // bytes of a refused answer that it is reminded of
#define MESSAGE_TOKENS    8    // that a server adds to each message
#define RATIO_MIN         0.5  // how far a server's count is believed
#define RATIO_MAX         4.0

typedef struct room { // what is left
    long bytes, tokens;
} room;

static const char SYSTEM_PROMPT[] =
    "You decide for a mobile robot, one step at a time. Each user message carries an observation "
    "as "
    "JSON (metres, radians, seconds, per cent). Answer with one JSON object that validates against "
    "the schema, nothing else.\n"
    "type: CONTINUE (go on, or start the next operation), RETRY (the same again after a failure), "
    "REPLAN (another way), SWITCH_TASK (another task of the queue, task_id), ASK_HUMAN, FINISH "
    "(every goal of the task is met), ABORT (impossible).\n"
    "ops: {\"op\":\"dispatch\",\"skill\",\"args\",\"goal_index\"}, "
    "{\"op\":\"cancel\",\"goal_id\" (or \"all\")}, {\"op\":\"speak\",\"text\"}, "
    "{\"op\":\"approval\",\"question\",\"options\"}. Leave ops out while a running skill is doing "
    "well: you are asked again when it ends or gets nowhere, or after wake_s. A skill that needs "
    "the base can start only when nothing else uses it, one that takes of a counted resource only "
    "while enough of it is left (robot.resources).\n"
    "When the task has no goals, say in FINISH's claims what is true now: in_zone, holding, "
    "battery.\n"
    "A hard kernel checks everything; what it refuses comes back as last_result.\n"
    "Example: {\"type\":\"CONTINUE\",\"reason\":\"to the kitchen\",\"ops\":[{\"op\":\"dispatch\","
    "\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":\"kitchen\"},\"goal_index\":0}]}";

static room size_of(const char *text);
static bool fits(room r, const char *text);
static void take(room *r, const char *text);
static room part_of(room r, int parts);
static size_t cut_at(const char *text, size_t max);
static pons_value *answer_form(pons_brain *b, room *left);
static char *skills_text(const pons_brain *b, room max);
static char *observation_text(const pons_value *observation, room max);
static void add_context(const pons_brain *b, pons_buf *out, room max);
static pons_value *history(const pons_value *messages, room *left);
static pons_value *message(const char *role, const char *content);

pons_value *pons__decision_request(pons_brain *b, const pons_value *messages,
                                   const pons_value *observation, const char *complaint,
                                   const char *previous)
{
    const room whole = {.bytes = b->rules.prompt_bytes_max,
                        .tokens = (long)(b->rules.prompt_tokens_max / b->prompt_ratio)};
    room left = whole;
    pons_autobuf system = PONS_BUF_INIT, refused = PONS_BUF_INIT;
    pons_autovalue form = answer_form(b, &left);
    take(&left, SYSTEM_PROMPT);
    if (complaint) {
        pons_buf_printf(&refused,
                        "That answer was refused: %s. Answer again with one valid JSON "
                        "object.",
                        complaint);
        take(&left, refused.data);
    }
    pons_autobuf reminded = PONS_BUF_INIT;
    if (complaint && previous && *previous) {
        pons_buf_printf(&reminded, "%.*s", (int)cut_at(previous, PREVIOUS_MAX), previous);
        take(&left, reminded.data);
    }
    char *seen = observation_text(observation, part_of(left, 2));
    take(&left, seen ? seen : "");
    char *skills = skills_text(b, part_of(left, 2));
    pons_buf_printf(&system, "%s\nSkills: %s", SYSTEM_PROMPT, skills ? skills : "[]");
    take(&left, skills ? skills : "");
    free(skills);
    const size_t before = system.len;
    add_context(b, &system, part_of(left, 3));
    take(&left, system.data + before);

    pons_value *list = json_array();
    json_array_append_new(list, message("system", system.data));
    pons_autovalue earlier = history(messages, &left);
    json_array_extend(list, earlier);
    if (seen) {
        json_array_append_new(list, message("user", seen));
    }
    free(seen);
    if (reminded.len > 0) {
        json_array_append_new(list, message("assistant", reminded.data));
    }
    if (refused.len > 0) {
        json_array_append_new(list, message("user", refused.data));
    }
    b->prompt_tokens = whole.tokens - left.tokens;
    return pons_object("messages", list, "schema", form ? pons_value_ref(form) : NULL,
                       "schema_name", json_string("decision"), "observation",
                       observation ? pons_value_ref(observation) : json_null(), NULL);
}

void pons__prompt_learn(pons_brain *b, const pons_value *usage)
{
    const int64_t counted = pons_get_int(usage, "prompt_tokens", 0);
    if (counted <= 0 || b->prompt_tokens <= 0) {
        return;
    }
    const double ratio = (double)counted / (double)b->prompt_tokens;
    b->prompt_ratio = ratio < RATIO_MIN ? RATIO_MIN : ratio > RATIO_MAX ? RATIO_MAX : ratio;
}

// ---- room ---------------------------------------------------------------------------------------

// Bytes as JSON has them on the wire.
static room size_of(const char *text)
{
    long ascii = 0, other = 0, escaped = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        ascii += *c < 0x80;
        other += *c >= 0x80;
        escaped += *c == '"' || *c == '\\' || *c == '\n' ? 1 : *c < 0x20 ? 5 : 0;
    }
    return (room){.bytes = ascii + other + escaped,
                  .tokens = ascii / 3 + other / 2 + MESSAGE_TOKENS};
}

static bool fits(room r, const char *text)
{
    const room size = size_of(text);
    return size.bytes <= r.bytes && size.tokens <= r.tokens;
}

static void take(room *r, const char *text)
{
    const room size = size_of(text);
    r->bytes -= size.bytes;
    r->tokens -= size.tokens;
}

static room part_of(room r, int parts)
{
    return (room){.bytes = r.bytes / parts, .tokens = r.tokens / parts};
}

// ---- cutting ------------------------------------------------------------------------------------

// The most bytes of a text, up to max, that end with a whole character.
static size_t cut_at(const char *text, size_t max)
{
    size_t n = strnlen(text, max + 1);
    if (n > max) {
        for (n = max; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--) {
        }
    }
    return n;
}

// A copy with no text longer than text_max bytes and no list or object longer than list_max.
static pons_value *shortened(const pons_value *v, size_t text_max, size_t list_max)
{
    size_t i;
    json_t *item;
    const char *key;
    if (json_is_string(v) && json_string_length(v) > text_max) {
        const char *text = json_string_value(v);
        return json_sprintf("%.*s…", (int)cut_at(text, text_max), text);
    }
    if (json_is_array(v)) {
        pons_value *list = json_array();
        json_array_foreach(v, i, item)
        {
            if (i < list_max) {
                json_array_append_new(list, shortened(item, text_max, list_max));
            }
        }
        return list;
    }
    if (json_is_object(v)) {
        pons_value *object = json_object();
        i = 0;
        json_object_foreach((json_t *)v, key, item)
        {
            if (i++ < list_max + 16) { // the observation's own members are fewer
                json_object_set_new(object, key, shortened(item, text_max, list_max));
            }
        }
        return object;
    }
    return pons_value_ref(v);
}

// The task without its plan, and with no more goals than list_max, from the one at hand on.
static pons_value *task_at_hand(const pons_value *task, size_t list_max)
{
    if (!json_is_object(task)) {
        return json_null();
    }
    const pons_value *goals = pons_get(task, "goals");
    const int64_t at = pons_get_int(task, "goal_index", 0);
    const size_t from = at > 0 ? (size_t)at : 0;
    pons_value *window = json_array();
    for (size_t i = from; i < json_array_size(goals) && i - from < list_max; i++) {
        json_array_append(window, json_array_get(goals, i));
    }
    pons_value *cut = pons__with(task, "goals", window);
    json_object_del(cut, "plan");
    json_object_set_new(cut, "goals_from", json_integer((json_int_t)from));
    json_object_set_new(cut, "goals_of", json_integer((json_int_t)json_array_size(goals)));
    return cut;
}

// As much of it as fits; the last try has the mode, the goal at hand and what failed, and little
// else. The caller frees.
static char *observation_text(const pons_value *observation, room max)
{
    static const struct {
        size_t text_max, list_max;
    } tries[] = {{1000, 32}, {300, 16}, {120, 8}, {60, 3}};
    char *text = NULL;
    if (!json_is_object(observation) || pons_value_line(observation, &text) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof tries / sizeof tries[0] && !fits(max, text); i++) {
        pons_autovalue task = task_at_hand(pons_get(observation, "task"), tries[i].list_max);
        pons_autovalue with_task = pons__with(observation, "task", pons_value_ref(task));
        pons_autovalue cut = shortened(with_task, tries[i].text_max, tries[i].list_max);
        json_object_set_new(cut, "cut",
                            json_sprintf("to fit: texts to %zu bytes, lists to %zu items, no plan",
                                         tries[i].text_max, tries[i].list_max));
        free(text);
        text = NULL;
        if (pons_value_line(cut, &text) < 0) {
            return NULL;
        }
    }
    if (fits(max, text)) {
        return text;
    }
    free(text);
    text = NULL;
    pons_autovalue task = task_at_hand(pons_get(observation, "task"), 1);
    pons_autovalue rest = pons_object(
        "mode", pons_value_ref(pons_get(observation, "mode")), "task", pons_value_ref(task),
        "last_result", pons_value_ref(pons_get(observation, "last_result")), "failures",
        pons_value_ref(pons_get(observation, "failures")), "cut", json_string("to fit"), NULL);
    pons_autovalue least = shortened(rest, 60, 1);
    return pons_value_line(least, &text) < 0 ? NULL : text;
}

// ---- the form of an answer ----------------------------------------------------------------------

// Names of things of the world, by their key; NULL: none.
static pons_value *ids_of(const pons_value *things)
{
    pons_value *ids = json_array();
    size_t i;
    json_t *thing;
    json_array_foreach(things, i, thing)
    {
        json_array_append_new(ids, json_string(pons_get_str(thing, "id", "")));
    }
    return ids;
}

// A skill's arguments with the zones and objects that there are.
static pons_value *legal_args(const pons_brain *b, const pons_value *schema)
{
    const struct {
        const char *name;
        const pons_value *things;
    } rows[] = {{"zone", pons_get(b->world, "zones")}, {"object", pons_get(b->world, "objects")}};
    pons_value *args = json_deep_copy((json_t *)schema);
    pons_value *properties = json_object_get(args, "properties");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_value *property = json_object_get(properties, rows[i].name);
        if (property && json_array_size(rows[i].things) > 0 && !pons_get(property, "enum")) {
            json_object_set_new(property, "enum", ids_of(rows[i].things));
        }
    }
    return args;
}

// The skills that R4 would let go out now, and what each may be given.
static pons_value *menu_of(pons_brain *b)
{
    pons_value *menu = json_array();
    size_t i;
    json_t *skill;
    json_array_foreach(pons_get(b->port.hello, "skills"), i, skill)
    {
        const char *name = pons_get_str(skill, "name", "");
        pons_autovalue held = pons__guard_kernel(b, name);
        if (held || !pons_get(skill, "args_schema")) {
            continue;
        }
        json_array_append_new(
            menu, json_pack("{s:s, s:{s:{s:s}, s:{s:s}, s:o, s:{s:s, s:i}}, s:[s,s,s], s:b}",
                            "type", "object", "properties", "op", "const", "dispatch", "skill",
                            "const", name, "args", legal_args(b, pons_get(skill, "args_schema")),
                            "goal_index", "type", "integer", "minimum", 0, "required", "op",
                            "skill", "args", "additionalProperties", 0));
    }
    return menu;
}

// The schema of the answer. What may be dispatched now is enumerated in it, so that a server that
// forces answers into a schema lets a small model name nothing that there is not; where that does not
// fit the published schema is sent.
static pons_value *answer_form(pons_brain *b, room *left)
{
    const pons_value *published = pons__door_schema(b, PONS_DOOR_DECISION);
    if (!published) {
        return NULL;
    }
    pons_value *form = json_deep_copy((json_t *)published);
    pons_autovalue menu = menu_of(b);
    char *text = NULL;
    if (json_array_size(menu) > 0) {
        json_object_set_new(json_object_get(form, "$defs"), "dispatch",
                            json_pack("{s:O}", "anyOf", menu));
    }
    if (pons_value_line(form, &text) > 0 && !fits(part_of(*left, 2), text)) {
        pons_value_unref(form);
        form = pons_value_ref(published);
        free(text);
        text = NULL;
        pons_value_line(form, &text);
    }
    take(left, text ? text : "");
    free(text);
    return form;
}

// ---- parts --------------------------------------------------------------------------------------

// "103 replan, default retry": what its failures advise.
static pons_value *advice_of(const pons_value *error_map)
{
    pons_autobuf text = PONS_BUF_INIT;
    const char *code;
    json_t *word;
    json_object_foreach((json_t *)error_map, code, word)
    {
        pons_buf_printf(&text, "%s%s %s", text.len ? ", " : "", code,
                        json_is_string(word) ? json_string_value(word) : "");
    }
    return text.data ? json_string(text.data) : NULL;
}

// As much of a skill as there is room for: level 0 has all of it.
static pons_value *skill_told(const pons_value *skill, size_t level, long schema_max)
{
    const pons_value *args = pons_get(skill, "args_schema");
    const pons_value *needs = pons_get(skill, "resources_required");
    const pons_value *takes = pons_get(skill, "resources_counted");
    const char *about = pons_get_str(skill, "description", NULL);
    char *line = NULL;
    const long n = args ? pons_value_line(args, &line) : 0;
    free(line);
    return pons_object("name", json_string(pons_get_str(skill, "name", "")), "does",
                       about && level < 3 ? json_string(about) : NULL, "needs",
                       json_array_size(needs) > 0 && level < 3 ? pons_value_ref(needs) : NULL,
                       "takes", takes && level < 3 ? pons_value_ref(takes) : NULL, "args_schema",
                       !args             ? json_object()
                       : n <= schema_max ? pons_value_ref(args)
                                         : json_string("left out to fit"),
                       "failures", level < 1 ? advice_of(pons_get(skill, "error_map")) : NULL,
                       NULL);
}

// Names, what they do, argument schemas, advice; advice goes first, then the longest schemas. The caller
// frees.
static char *skills_text(const pons_brain *b, room max)
{
    static const long schema_max[] = {1L << 30, 1L << 30, 4096, 1024, 256, 0};
    char *text = NULL;
    for (size_t k = 0; k < sizeof schema_max / sizeof schema_max[0]; k++) {
        pons_autovalue skills = json_array();
        size_t i;
        json_t *skill;
        json_array_foreach(pons_get(b->port.hello, "skills"), i, skill)
        {
            json_array_append_new(skills, skill_told(skill, k, schema_max[k]));
        }
        free(text);
        text = NULL;
        if (pons_value_line(skills, &text) < 0) {
            return NULL;
        }
        if (fits(max, text)) {
            return text;
        }
    }
    pons_autobuf names = PONS_BUF_INIT; // a body with so many skills that not even their names fit
    size_t i;
    json_t *skill;
    json_array_foreach(pons_get(b->port.hello, "skills"), i, skill)
    {
        const char *name = pons_get_str(skill, "name", "");
        if (fits(max, name)) {
            pons_buf_printf(&names, "%s ", name);
            take(&max, name);
        }
    }
    free(text);
    return strdup(names.data ? names.data : "");
}

// {"title": [item, …]} as long as there is room; says how many are not there.
static void add_list(pons_buf *out, const char *title, const pons_value *items, room max)
{
    pons_autobuf list = PONS_BUF_INIT;
    const size_t n = json_array_size(items);
    size_t i = 0;
    for (; i < n; i++) {
        pons_autovalue item = shortened(json_array_get(items, i), 120, 8);
        char *line = NULL;
        if (pons_value_line(item, &line) < 0 || !fits(max, line)) {
            free(line);
            break;
        }
        pons_buf_printf(&list, "%s%s", i ? ", " : "", line);
        take(&max, line);
        free(line);
    }
    if (n > 0) {
        pons_buf_printf(out, "\n%s: [%s]", title, list.data ? list.data : "");
    }
    if (i < n) {
        pons_buf_printf(out, " (%zu more are left out to fit)", n - i);
    }
}

static void add_context(const pons_brain *b, pons_buf *out, room max)
{
    pons_autovalue waiting = json_array();
    for (size_t i = 0; i < b->tasks->queue.n; i++) {
        const pons__task *task = b->tasks->queue.at[i];
        if (strcmp(task->id, b->tasks->active_task_id) != 0) {
            json_array_append_new(waiting, pons_object("id", json_string(task->id), "text",
                                                       json_string(task->text), "priority",
                                                       json_integer(task->priority), NULL));
        }
    }
    pons_autovalue places = json_array();
    size_t i;
    json_t *zone;
    json_array_foreach(pons_get(b->world, "zones"), i, zone)
    {
        const pons_value *target = pons_get(zone, "target");
        json_array_append_new(places,
                              pons_object("zone", json_string(pons_get_str(zone, "id", "")), "x",
                                          target ? pons_optional(pons_get(target, "x")) : NULL, "y",
                                          target ? pons_optional(pons_get(target, "y")) : NULL,
                                          "state", pons_optional(pons_get(zone, "state")), NULL));
    }
    const pons_value *bounds = pons_get(pons_get(b->port.hello, "world"), "bounds");
    pons_autovalue map = bounds ? json_pack("[O]", bounds) : json_array();
    add_list(out, "Map, its bounds", map, part_of(max, 4));
    add_list(out, "Zones", places, part_of(max, 2));
    add_list(out, "Waiting tasks", waiting, part_of(max, 2));
    add_list(out, "Objects", pons_get(b->world, "objects"), part_of(max, 2));
}

// The run's messages before the newest, which is the observation: the newest of them that fit.
static pons_value *history(const pons_value *messages, room *left)
{
    const size_t n = json_array_size(messages), last = n > 0 ? n - 1 : 0;
    const size_t oldest = last > MESSAGES_SENT_MAX - 1 ? last - (MESSAGES_SENT_MAX - 1) : 0;
    static const char note[] = "(Earlier messages are left out to fit.)";
    pons_value *list = json_array();
    size_t from = last;
    room r = *left;
    take(&r, note);
    for (; from > oldest; from--) {
        const char *text = pons_get_str(json_array_get(messages, from - 1), "content", "");
        if (!fits(r, text)) {
            break;
        }
        take(&r, text);
    }
    if (from > oldest) {
        json_array_append_new(list, message("user", note));
    }
    for (size_t k = from; k < last; k++) {
        const pons_value *m = json_array_get(messages, k);
        json_array_append_new(
            list, message(pons_get_str(m, "role", "user"), pons_get_str(m, "content", "")));
    }
    *left = r;
    return list;
}

static pons_value *message(const char *role, const char *content)
{
    return pons_object("role", json_string(role), "content", json_string(content ? content : ""),
                       NULL);
}
