// prompt.c - what the model is asked, within a budget of bytes and tokens.
//
// The request is made when the await starts (not when it is recorded), from the run's own messages
// and the registry as the body has it: after a crash a fresh body may offer other skills, and the
// model should know.
//
// A server cuts a prompt that is too long in silence, and from the front, where the rules and the
// skills are. So it is cut here, the least important first, and each cut is said in the prompt:
//
//     always      the rules, the form of the answer (answer_schema.c), what was refused and why, each skill's
//                 name, and of the observation the mode, the goal, what failed last
//     then        the whole observation: shorter texts and lists when it does not fit in half
//     then        the skills' arguments, what they do, what their failures advise
//     then        what waits in the queue and the world's objects, the first of each
//     then        what went before, the newest first: each decision, and what had happened
//
//
// Data is quoted: what people, things and results say stands in it as JSON strings, cut and escaped, and the
// rules say that it tells the model nothing to do. What a skill says of itself is of code; it has one line. What
// a model does with all that is what R4 lets pass, and nothing that it writes is a person's word (inbox_read.c).
//
// What is told twice is told once: zones and skills stand in the system message, numbers have three
// places, and of an earlier observation only what had happened is left. In the shipped house the first
// request is some 1,400 tokens, and what goes before adds a few hundred, so that a model with a context
// of 4,096 tokens is enough.
#include "brain/model/prompt.h"

#include "brain/model/answer_schema.h"
#include "brain/model/prompt_budget.h"
#include "brain/model/schema_words.h"
#include "pons/buf.h"
#include "pons/printable.h"

#include <string.h>

#define MESSAGES_SENT_MAX 10   // of what went before, the newest
#define PREVIOUS_MAX      2000 // bytes of a refused answer that it is reminded of
#define RATIO_MIN         0.5  // how far a server's count is believed
#define RATIO_MAX         4.0

typedef struct ask { // who asks, of what
    pons_brain *b;
    const pons__react *react;
    const pons__skills *skills;
} ask;

static const char SYSTEM_PROMPT[] = {
#include "brain/model/system_prompt.md.h"
};

// ---- parts --------------------------------------------------------------------------------------

// What its failures advise, those of one advice together: " Failures: replan 103 206; abort 204; else
// retry."
static void add_advice(pons_buf *out, const pons_value *error_map)
{
    pons_buf_printf(out, " Failures: ");
    for (int word = PONS_RECOVER_NONE + 1; pons__recovery_words[word]; word++) {
        bool any = false;
        pons_each_member(code, advice, error_map) {
            const char *says = json_is_string(advice) ? json_string_value(advice) : "";
            if (strcmp(says, pons__recovery_words[word]) == 0 && strcmp(code, "default") != 0) {
                pons_buf_printf(out, "%s %s", any ? "" : says, code);
                any = true;
            }
        }
        pons_buf_printf(out, "%s", any ? "; " : "");
    }
    pons_buf_printf(out, "else %s.", pons_get_str(error_map, "default", "retry"));
}

// On one line, whatever it says.
static void add_words(pons_buf *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        pons_buf_byte(out, (uint8_t)((unsigned char)*c < ' ' || *c == 127 ? ' ' : *c));
    }
}

// A line about a skill: "- dock_to_charger(): Drive to the charger. Needs base. Failures: …". Level 0 has
// all of it, 1 no advice, 2 not what it does, 3 its name alone.
static void add_skill(pons_buf *out, const pons__registered *skill, int level)
{
    pons_buf_printf(out, "- %s", skill->name);
    if (level < 3) {
        char *arguments = pons__form_words(skill->args_schema);
        pons_buf_printf(out, "(%s)", arguments ? arguments : "");
        free(arguments);
    }
    if (level < 2) {
        pons_buf_printf(out, ": ");
        add_words(out, skill->description);
        pons_each(resource, skill->resources) {
            pons_buf_printf(out, "%s%s", resource_at ? ", " : " Needs ",
                            json_string_value(resource));
        }
        pons_buf_printf(out, "%s", json_array_size(skill->resources) > 0 ? "." : "");
        pons_each_member(name, amount, skill->counted) {
            pons_buf_printf(out, " Takes %g of %s.", json_number_value(amount), name);
        }
    }
    if (level < 1 && json_object_size(skill->error_map) > 1) {
        add_advice(out, skill->error_map);
    }
    pons_buf_printf(out, "\n");
}

// As much of each as fits; advice goes first, then what they do, then their arguments. The caller frees.
static char *skills_text(const pons_brain *b, pons__room max)
{
    static const char *const lacks[] = {"", "(Left out: what failures advise.)\n",
                                        "(Left out: what they do, what failures advise.)\n",
                                        "(Left out: all but their names.)\n"};
    const pons__list *skills = &b->port.skills;
    char *reported = NULL;
    for (int level = 0; !reported && level < 4; level++) {
        pons_autobuf text = PONS_BUF_INIT;
        for (size_t i = 0; i < skills->n; i++) {
            add_skill(&text, skills->at[i], level);
        }
        if (text.data) {
            pons_buf_printf(&text, "%s", lacks[level]);
        }
        if (!text.data || pons__room_fits(max, text.data)) {
            reported = strdup(text.data ? text.data : "");
        }
    }
    pons_autobuf names = PONS_BUF_INIT; // a body with so many skills that not even their names fit
    for (size_t i = 0; !reported && i < skills->n; i++) {
        const pons__registered *skill = skills->at[i];
        if (pons__room_fits(max, skill->name)) {
            pons_buf_printf(&names, "%s ", skill->name);
            pons__room_take(&max, skill->name);
        }
    }
    return reported ? reported : strdup(names.data ? names.data : "");
}

// An item of the world: 0 all that is said of it, 1 without what it is called and with no state that says
// nothing, 2 its id.
static pons_value *reported_item(const pons_value *item, int level)
{
    pons_autovalue whole = pons__rounded(item);
    if (level == 2 && pons_get(item, "id")) {
        return pons_value_ref(pons_get(item, "id"));
    }
    if (level > 0) {
        json_object_del(whole, "names");
    }
    if (strcmp(pons_get_str(whole, "state", ""), "clear") == 0) {
        json_object_del(whole, "state");
    }
    return pons__shortened(whole, 120, 8);
}

// As many of them as fit, the first ones first; how many.
static size_t write_items(pons_buf *out, const pons_value *items, int level, pons__room max)
{
    const size_t n = json_array_size(items);
    for (size_t i = 0; i < n; i++) {
        pons_autovalue item = reported_item(json_array_get(items, i), level);
        char *line = NULL;
        const bool fits = pons_value_line(item, &line) >= 0 && pons__room_add(&max, line);
        if (fits) {
            pons_buf_printf(out, "%s%s", i ? ", " : "", line);
        }
        free(line);
        if (!fits) {
            return i;
        }
    }
    return n;
}

// {"title": [item, …]}: the briefer, the more there are; where not even their ids fit, the first of them, and how many
// are not there.
static void add_list(pons_buf *out, const char *title, const pons_value *items, pons__room max)
{
    static const int levels[] = {0, 1, 2, 1};
    const size_t n = json_array_size(items);
    size_t reported = 0;
    pons_autobuf list = PONS_BUF_INIT;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0] && reported < n; i++) {
        pons_autobuf tried = PONS_BUF_INIT;
        reported = write_items(&tried, items, levels[i], max);
        pons_buf_clear(&list);
        pons_buf_bytes(&list, tried.data, tried.len);
    }
    if (n > 0) {
        pons_buf_printf(out, "\n%s: [%s]", title, list.data ? list.data : "");
    }
    if (reported < n) {
        pons_buf_printf(out, " (%zu more are left out to fit)", n - reported);
    }
}

static void add_context(const pons_brain *b, pons_buf *out, pons__room max)
{
    pons_autovalue waiting = json_array();
    for (size_t i = 0; i < b->tasks->queue.n; i++) {
        const pons__task *task = b->tasks->queue.at[i];
        if (strcmp(task->id, b->tasks->active_task_id) != 0) {
            json_array_append_new(waiting, pons__record_write(&pons__waiting_record, task));
        }
    }
    PONS__AUTO_LIST(place) zones = {0};
    pons__list_read(&pons__place_record, b->around ? b->around->zones : NULL, &zones);
    pons_autovalue places = pons__list_write(&pons__place_record, &zones);
    const pons_value *bounds = pons_get(b->port.greeting.as.hello.world, "bounds");
    pons_autovalue map = bounds ? json_pack("[O]", bounds) : json_array();
    add_list(out, "Map, its bounds", map, pons__room_part(max, 4));
    add_list(out, "Zones, clear where no state is told", places, pons__room_part(max, 2));
    add_list(out, "Waiting tasks", waiting, pons__room_part(max, 2));
    add_list(out, "Objects", b->around ? b->around->objects : NULL, pons__room_part(max, 2));
    pons_autovalue more = b->opts.context ? b->opts.context(b->opts.user) : NULL;
    pons_each_member(title, list, more) {
        add_list(out, title, list, pons__room_part(max, 2));
    }
}

// What the rules would do, where they understand the task: a weak model may just say so, too.
static pons_value *rules_would(const ask *a)
{
    const pons_policy *rules = &a->b->opts.policy;
    pons_autovalue said = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!a->react->task || a->react->task->goals.n == 0 ||
        rules->ops->decide(rules->self, a->react->observation, &said, &none) < 0) {
        return NULL;
    }
    return pons_object("type", pons_optional(pons_get(said, "type")), "ops",
                       pons_optional(pons_get(said, "ops")), NULL);
}

// The observation as it is asked about: without what stands in the system message already.
static pons_value *seen_now(const ask *a)
{
    pons_value *seen = pons__rounded(a->react->observation);
    pons_value *would = rules_would(a);
    json_object_del(seen, "skills");
    json_object_del(seen, "limits");
    json_object_del(json_object_get(seen, "world"), "zones");
    if (would) {
        json_object_set_new(seen, "rules_would", would);
    }
    return seen;
}

// An earlier message as it is remembered: of an observation, where that was and what had happened; a
// result by itself stands in the observation after it (NULL). The caller frees.
static char *remembered(const pons__message *earlier)
{
    static const char *const kept[] = {"iter",    "woke",     "last_result",
                                       "results", "failures", "human"};
    pons_autovalue seen = NULL;
    char *text = NULL;
    if (strcmp(earlier->role, "assistant") == 0 ||
        pons_value_parse(earlier->content, strlen(earlier->content), &seen, NULL) < 0) {
        return strdup(earlier->content);
    }
    if (!pons_get(seen, "iter")) {
        return NULL;
    }
    pons_autovalue brief =
        pons_object("zone", pons_optional(pons_get(pons_get(seen, "robot"), "zone")), NULL);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const pons_value *member = pons_get(seen, kept[i]);
        if (member && !json_is_null(member)) {
            json_object_set_new(brief, kept[i], pons__shortened(member, 120, 8));
        }
    }
    json_object_del(json_object_get(brief, "last_result"), "metrics");
    pons_autovalue round = pons__rounded(brief);
    return pons_value_line(round, &text) < 0 ? NULL : text;
}

static pons_value *message(const char *role, const char *content)
{
    return pons_object("role", json_string(role), "content", json_string(content ? content : ""),
                       NULL);
}

// What was before the newest message, which is the observation: the newest of it that fits.
static pons_value *history(const pons_value *messages, pons__room *left)
{
    static const char note[] = "(Earlier messages are left out to fit.)";
    pons_value *list = json_array();
    pons__room r = *left;
    pons__room_take(&r, note);
    bool more = false;
    for (size_t i = json_array_size(messages); i > 1 && !more; i--) {
        PONS__AUTO(message)
        m = pons__record_read(&pons__message_record, json_array_get(messages, i - 2));
        char *text = remembered(m);
        if (text) {
            more = json_array_size(list) == MESSAGES_SENT_MAX || !pons__room_fits(r, text);
        }
        if (text && !more) {
            pons__room_take(&r, text);
            json_array_insert_new(list, 0, message(*m->role ? m->role : "user", text));
        }
        free(text);
    }
    if (more) {
        json_array_insert_new(list, 0, message("user", note));
    }
    *left = r;
    return list;
}

// ---- cutting ------------------------------------------------------------------------------------

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
static char *observation_text(const ask *a, pons__room max)
{
    static const struct {
        size_t text_max, list_max;
    } tries[] = {{1000, 32}, {300, 16}, {120, 8}, {60, 3}};
    char *text = NULL;
    pons_autovalue seen = json_is_object(a->react->observation) ? seen_now(a) : NULL;
    if (!seen || pons_value_line(seen, &text) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof tries / sizeof tries[0] && !pons__room_fits(max, text); i++) {
        pons_autovalue task = task_at_hand(pons_get(seen, "task"), tries[i].list_max);
        pons_autovalue with_task = pons__with(seen, "task", pons_value_ref(task));
        pons_autovalue cut = pons__shortened(with_task, tries[i].text_max, tries[i].list_max);
        json_object_set_new(cut, "cut",
                            json_sprintf("to fit: texts to %zu bytes, lists to %zu items, no plan",
                                         tries[i].text_max, tries[i].list_max));
        free(text);
        text = NULL;
        if (pons_value_line(cut, &text) < 0) {
            return NULL;
        }
    }
    if (pons__room_fits(max, text)) {
        return text;
    }
    free(text);
    text = NULL;
    pons_autovalue task = task_at_hand(pons_get(seen, "task"), 1);
    pons_autovalue rest =
        pons_object("mode", pons_value_ref(pons_get(seen, "mode")), "task", pons_value_ref(task),
                    "last_result", pons_value_ref(pons_get(seen, "last_result")), "failures",
                    pons_value_ref(pons_get(seen, "failures")), "cut", json_string("to fit"), NULL);
    pons_autovalue least = pons__shortened(rest, 60, 1);
    return pons_value_line(least, &text) < 0 ? NULL : text;
}

// ---- the form of an answer ----------------------------------------------------------------------

// The menu of this moment (answer_schema.c); without what it may be given to a skill where it is too long, and
// the published schema before the body has said what there is.
static pons_value *answer_form(const ask *a, pons__room *left)
{
    pons_value *form = pons__menu(a->b, a->react, a->skills);
    char *text = NULL;
    if (form && pons_value_line(form, &text) > 0 &&
        !pons__room_fits(pons__room_part(*left, 2), text)) {
        pons_value_unref(form);
        free(text);
        text = NULL;
        form = pons__menu_short(a->b, a->skills);
    }
    if (!form) {
        form = pons_value_ref(pons__door_schema(a->b, PONS_DOOR_DECISION));
    }
    if (form && !text) {
        pons_value_line(form, &text);
    }
    pons__room_take(left, text ? text : "");
    free(text);
    return form;
}

pons_value *pons__decision_request(pons_brain *b, const pons_value *messages,
                                   const pons__react *react, const pons__skills *skills,
                                   const char *complaint, const char *previous)
{
    const pons__room whole = {.bytes = b->rules.prompt_bytes_max,
                              .tokens = (long)(b->rules.prompt_tokens_max / b->prompt_ratio)};
    const ask a = {.b = b, .react = react, .skills = skills};
    pons__room left = whole;
    pons_autobuf system = PONS_BUF_INIT, refused = PONS_BUF_INIT;
    pons_autovalue form = answer_form(&a, &left);
    pons__room_take(&left, SYSTEM_PROMPT);
    if (complaint) {
        pons_buf_printf(&refused,
                        "That answer was refused: %s. Answer again with one valid JSON "
                        "object.",
                        complaint);
        pons__room_take(&left, refused.data);
    }
    pons_autobuf reminded = PONS_BUF_INIT;
    if (complaint && previous && *previous) {
        pons_buf_printf(&reminded, "%.*s", (int)pons_text_whole(previous, PREVIOUS_MAX), previous);
        pons__room_take(&left, reminded.data);
    }
    char *seen = observation_text(&a, pons__room_part(left, 2));
    pons__room_take(&left, seen ? seen : "");
    char *registry = skills_text(b, pons__room_part(left, 2));
    pons_buf_printf(&system, "%s\nSkills:\n%s", SYSTEM_PROMPT, registry ? registry : "");
    pons__room_take(&left, registry ? registry : "");
    free(registry);
    const size_t before = system.len;
    add_context(b, &system, pons__room_part(left, 2));
    pons__room_take(&left, system.data + before);

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
                       react->observation ? pons_value_ref(react->observation) : json_null(), NULL);
}

void pons__prompt_learn(pons_brain *b, int64_t counted)
{
    if (counted <= 0 || b->prompt_tokens <= 0) {
        return;
    }
    const double ratio = (double)counted / (double)b->prompt_tokens;
    b->prompt_ratio = ratio < RATIO_MIN ? RATIO_MIN : ratio > RATIO_MAX ? RATIO_MAX : ratio;
}
