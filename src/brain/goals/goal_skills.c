// goal_skills.c - which skills meet a goal, with which arguments, and what says that it is met.
//
// Nothing here knows a skill. What is known stands in the skill's registry item, which the body's hello
// carries (`meets`, schemas/skill.json), beside the function that moves the robot:
//
//     navigate_to_pose  {intent: go_to,  args: {zone: $zone},  test: at,      says: "go to $zone"}
//                       {intent: patrol, args: {zone: $each},  each: zones}
//     dock_to_charger   {intent: charge,                       test: charged}
//     pick              {intent: bring,  args: {object: $object}, step: 1}
//     place             {intent: bring,  args: {object: $object, place: $place}, step: 2}
//
//     a goal's members + an item --fill.c--> a way to meet it (pons__means), for the rules and the model
//     the world        + its test ---------> whether it is met, for R1, R4, recovery
//
// A way whose arguments need a member that the goal lacks is none. A test is one of
//
//     ended     the skill ended well (the last step's; of `each`, once for each of the goal's list), called as
//               the goal says (goal_match.c)
//     at        the robot is in the goal's zone, or stands at its pose: where a motion to it has ended within
//               0.5 m of it, else within 0.1 m and turned as it says; and is sure of that
//     charged   the battery is full, or charges and has what config/kernel.yaml calls charged
//     {facts}   members of the robot's telemetry: equal, for a number at least as much, of a list one item
//               with the members that are named: {"scene": {"id": "apple", "at": "basket"}}
//
// The brain's loop thread.
#include "brain/goals/goal_skills.h"

#include "brain/goals/argument_templates.h"
#include "brain/goals/goal_match.h"
#include "brain/goals/object_search.h"
#include "brain/goals/seen_objects.h"
#include "pons/goal_match.h"
#include "pons/language.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_PLACE_M                                                                                 \
    0.5 // so near a pose is there, when a motion to it has ended: what is free beside it will do
#define ON_PLACE_M 0.1 // so near it is there without one
#define ON_YAW_RAD 0.2 // and so much turned
#define OPEN_TOLD  4   // goals of which the observation has the means

// ---- the ways -----------------------------------------------------------------------------------

// What a zone is called first in a language, or its id.
static const char *called(const pons_brain *b, const char *id, const char *language)
{
    const pons__zone *zone = pons__zone_find(b, id);
    const pons_value *name = json_array_get(pons_get(zone ? zone->names : NULL, language), 0);
    return json_is_string(name) ? json_string_value(name) : id;
}

static const char *say_where(const pons_brain *b, bool zh, char *buf, size_t cap)
{
    const pons__robot *robot = b->seen;
    const pons__pose at = pons__pose_of(robot ? robot->pose : NULL);
    if (!at.known || !pons__place_sure(b)) {
        snprintf(buf, cap, "%s", pons_translate(zh, "I am not sure where I am."));
        return buf;
    }
    snprintf(buf, cap, pons_translate(zh, "I am in %.80s, at (%.2f, %.2f)."),
             robot->zone ? called(b, robot->zone, zh ? "zh" : "en") : pons_translate(zh, "no zone"),
             at.x, at.y);
    return buf;
}

// What a thing is called in a language, or its id; *ret_at: where it is seen now, or where the map has it.
static const char *thing_of(const pons_brain *b, const char *id, const char *language,
                            pons__pose *ret_at)
{
    const pons_value *seen = b->seen ? b->seen->scene : NULL;
    const pons_value *known = b->around ? b->around->objects : NULL;
    const pons_value *at = pons_get(pons__find(seen ? seen : known, "id", id), "position");
    const pons_value *names = pons_get(pons__find(known, "id", id), "names");
    const pons_value *name = json_array_get(pons_get(names, language), 0);
    *ret_at = (pons__pose){.known = json_array_size(at) >= 2,
                           .x = json_number_value(json_array_get(at, 0)),
                           .y = json_number_value(json_array_get(at, 1))};
    return json_is_string(name) ? json_string_value(name) : id;
}

// What the memory says of the goal's thing; false: it has nothing to say, and the map does.
static bool remembered(const pons_brain *b, const pons__goal *goal, bool zh, pons_buf *says)
{
    const bool sees = b->seen && b->seen->scene;
    pons_autovalue found = *goal->object && !sees ? pons__seen_find(b, goal->object, 0) : NULL;
    pons__pose at;
    thing_of(b, goal->object, "en", &at);
    return found && (json_array_size(found) > 0 || !at.known) &&
           pons__seen_says(b, goal->object, zh, says);
}

// Where the robot is, or the goal's zone, place or thing, and how far that is. NULL: no memory.
static pons_value *say_place(const pons_brain *b, const pons__goal *goal, bool zh)
{
    const pons__pose here = pons__pose_of(b->seen ? b->seen->pose : NULL);
    const pons__zone *zone = pons__zone_find(b, goal->zone);
    const char *language = zh ? "zh" : "en";
    pons__pose at = pons__pose_of(zone ? zone->target : goal->pose);
    pons_autobuf says = PONS_BUF_INIT;
    if (!zone && !goal->pose && !*goal->object) {
        char text[320];
        return pons_string(say_where(b, zh, text, sizeof text));
    }
    const char *what = zone          ? called(b, goal->zone, language)
                       : !goal->pose ? thing_of(b, goal->object, language, &at)
                       : zh          ? "那里"
                                     : "it";
    if (!at.known) {
        pons_buf_printf(&says, pons_translate(zh, "I do not know where %s is."), what);
        return says.failed ? NULL : pons_string(says.data);
    }
    pons_buf_printf(&says, pons_translate(zh, "%s is at (%.2f, %.2f)"), what, at.x, at.y);
    if (here.known && pons__place_sure(b)) {
        pons_buf_printf(&says, pons_translate(zh, ", %.1f m from here"),
                        hypot(at.x - here.x, at.y - here.y));
    }
    pons_buf_str(&says, zh ? "。" : ".");
    return says.failed ? NULL : pons_string(says.data);
}

static pons_value *say_here(const pons_brain *b, const pons__goal *goal, bool zh)
{
    pons_autobuf says = PONS_BUF_INIT;
    if (*goal->zone || goal->pose || !remembered(b, goal, zh, &says)) {
        return say_place(b, goal, zh);
    }
    return says.failed ? NULL : pons_string(says.data);
}

static const char *say_battery(const pons_brain *b, bool zh, char *buf, size_t cap)
{
    const double pct = b->seen ? b->seen->battery_pct : NAN;
    const bool charging = b->seen && strcmp(b->seen->battery_state, "charging") == 0;
    if (isnan(pct)) {
        snprintf(buf, cap, "%s", pons_translate(zh, "I do not know how full the battery is."));
    } else {
        snprintf(buf, cap, pons_translate(zh, "The battery is at %.0f per cent%s."), pct,
                 !charging ? "" : pons_translate(zh, ", and charging"));
    }
    return buf;
}

// Whether a thing is there: as it is seen now, where the robot sees things; else as the map has it, and so it is said.
static const char *say_found(const pons_brain *b, const pons__goal *goal, bool zh, char *buf,
                             size_t cap)
{
    const bool seen = b->seen && b->seen->scene;
    const char *language = zh ? "zh" : "en";
    pons_autobuf says = PONS_BUF_INIT;
    if (remembered(b, goal, zh, &says)) {
        snprintf(buf, cap, "%s", says.data ? says.data : "");
        return buf;
    }
    pons__pose where;
    const char *what = thing_of(b, goal->object, language, &where);
    const pons__zone *zone = pons__zone_find(b, goal->zone);
    const bool found = where.known && (!zone || pons__zone_contains(zone, &where));
    const char *place = zone ? called(b, goal->zone, language) : zh ? "这里" : "here";
    if (zh) {
        snprintf(buf, cap, "%s%.80s%s%.80s。", seen ? "" : "按地图，", place, found ? "有" : "没有",
                 what);
    } else {
        snprintf(buf, cap, "%s is %s%s%.80s%s.", what, found ? "" : "not ", zone ? "in " : "",
                 place, seen ? "" : ", as the map has it");
    }
    return buf;
}

// What templates are filled from: the goal's members, the robot's, and sentences in the language of the goal: `here`
// says where the robot is, or the goal's zone or thing, `battery` how full it is, `found` whether that thing is there.
static pons_value *members_of(const pons_brain *b, const pons__goal *goal)
{
    char says[320];
    const bool zh = pons_language_chinese(goal->text);
    pons_value *from = pons__record_write(&pons__goal_record, goal);
    json_object_set_new(from, "robot", b->robot ? pons_value_ref(b->robot) : json_object());
    json_object_set_new(from, "here", say_here(b, goal, zh));
    json_object_set_new(from, "battery", pons_string(say_battery(b, zh, says, sizeof says)));
    json_object_set_new(from, "found", pons_string(say_found(b, goal, zh, says, sizeof says)));
    return from;
}

bool pons__goal_says(const pons_brain *b, const pons__goal *goal, pons_buf *out)
{
    char says[320];
    const bool zh = pons_language_chinese(goal->text);
    if (strcmp(goal->intent, "where") == 0) {
        pons_autovalue here = say_here(b, goal, zh);
        return pons_buf_str(out, here ? json_string_value(here) : "") >= 0;
    }
    if (strcmp(goal->intent, "battery") == 0) {
        return pons_buf_str(out, say_battery(b, zh, says, sizeof says)) >= 0;
    }
    return strcmp(goal->intent, "look_for") == 0 &&
           pons_buf_str(out, say_found(b, goal, zh, says, sizeof says)) >= 0;
}

// The first of the goal's list that is still to be done; *ret_at: its place. NULL: none.
static const pons_value *next_of(const pons_value *list, const pons_value *done, size_t *ret_at)
{
    for (*ret_at = 0; *ret_at < json_array_size(list); (*ret_at)++) {
        const pons_value *item = json_array_get(list, *ret_at);
        if (json_is_string(item) && !pons__has(done, json_string_value(item))) {
            return item;
        }
    }
    return NULL;
}

static const char *number_member(const pons_value *args)
{
    pons_each_member(key, item, args) {
        if (json_is_string(item) && strncmp(json_string_value(item), "$seconds", 8) == 0) {
            return key;
        }
    }
    return "";
}

static const pons_value *test_filled(const pons__meets *row, const pons_value *members)
{
    return json_is_object(row->test) ? pons__fill(row->test, members) : pons_value_ref(row->test);
}

// What it does, in the record's words, or by its name where those lack something.
static pons_value *said_by(const char *says, const pons_value *members, const char *name)
{
    pons_value *text = *says ? pons__fill_text(says, members) : NULL;
    return text ? text : json_string(name);
}

// One row of an item, filled; NULL: it does not fit this goal.
static pons__means *way(const pons__registered *skill, const pons__meets *row,
                        const pons__goal *goal, const pons_value *members)
{
    pons_autovalue from = json_copy((json_t *)members);
    const pons_value *list = *row->each ? pons_get(from, row->each) : NULL;
    char place[48] = "";
    if (*row->each) {
        size_t at;
        const pons_value *next = next_of(list, goal->visited, &at);
        if (!next) {
            return NULL;
        }
        json_object_set(from, "each", (json_t *)next);
        snprintf(place, sizeof place, " (%zu of %zu)", at + 1, json_array_size(list));
    }
    pons_value *args = row->args ? pons__fill(row->args, from) : json_object();
    if (!args) {
        return NULL;
    }
    pons__means *m = pons__record_new(&pons__means_record);
    pons_autovalue says = said_by(row->says, from, skill->name);
    pons__set_text(&m->skill, skill->name);
    pons__set_text(&m->intent, goal->intent);
    pons__set_text(&m->amount, number_member(row->args));
    pons__set_textf(&m->says, "%s%s", json_string_value(says), place);
    pons__json(&m->args, args);
    pons__json(&m->test, test_filled(row, from));
    m->step = row->step;
    m->each = *row->each;
    return m;
}

static int by_step(const void *a, const void *b)
{
    const pons__means *x = *(const pons__means *const *)a, *y = *(const pons__means *const *)b;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step)
                              : (x->order > y->order) - (x->order < y->order);
}

static void add_ways(const pons__registered *skill, const pons__goal *goal,
                     const pons_value *members, pons__list *to)
{
    for (size_t i = 0; i < skill->meets.n; i++) {
        const pons__meets *row = skill->meets.at[i];
        pons__means *m =
            strcmp(row->intent, goal->intent) == 0 ? way(skill, row, goal, members) : NULL;
        if (m) {
            m->order = (int64_t)to->n;
            pons__list_add(to, m);
        }
    }
}

// A skill that was called by its name, or by one of its phrases. Its row of the intent "do" says when that is met.
static void add_call(const pons__registered *skill, const pons__goal *goal,
                     const pons_value *members, pons__list *to)
{
    const pons__meets *row = NULL;
    for (size_t i = 0; skill && !row && i < skill->meets.n; i++) {
        const pons__meets *one = skill->meets.at[i];
        row = strcmp(one->intent, "do") == 0 ? one : NULL;
    }
    pons__means *m = pons__record_new(&pons__means_record);
    pons_autovalue says = said_by(row ? row->says : "", members, goal->skill);
    pons__set_text(&m->skill, goal->skill);
    pons__set_text(&m->intent, goal->intent);
    pons__set_text(&m->says, json_string_value(says));
    pons__json(&m->args, goal->args ? pons_value_ref(goal->args) : json_object());
    if (row) {
        pons__json(&m->test, test_filled(row, members));
    }
    pons__list_add(to, m);
}

static pons__list ways(const pons_brain *b, const pons__goal *goal, const pons_value *members)
{
    pons__list list = {0};
    if (*goal->skill) {
        add_call(pons__skill(b, goal->skill), goal, members, &list);
    }
    pons__means *search =
        pons__is_object_search(goal) ? pons__object_search_next(b, pons__means_for, goal) : NULL;
    if (search) {
        pons__list_add(&list, search);
    }
    for (size_t i = 0; !*goal->skill && i < b->port.skills.n; i++) {
        add_ways(b->port.skills.at[i], goal, members, &list);
    }
    if (list.n > 1) {
        qsort(list.at, list.n, sizeof *list.at, by_step);
    }
    return list;
}

bool pons__means_moves(const pons_brain *b, const char *skill)
{
    const pons__registered *item = pons__skill(b, skill);
    return item && item->remains && json_array_size(item->resources) > 0;
}

// The most that one call may do of it, by the skill's schema; INFINITY: any.
static double most_of(const pons__registered *item, double all)
{
    const pons_value *of = pons_get(pons_get(item->args_schema, "properties"), item->remains);
    const double most = pons_get_num(of, all < 0.0 ? "minimum" : "maximum", INFINITY);
    return most * all > 0.0 ? fabs(most) : INFINITY; // what it may not do at all is refused
}

// Where a call of the goal was cut short, or did a part, the next one is for the rest; and of what is more than one call
// may do, for as much as it may.
static void take_rest(const pons_brain *b, const pons__goal *goal, pons__list *means)
{
    for (size_t i = 0; i < means->n; i++) {
        pons__means *m = means->at[i];
        const pons__registered *item = pons__skill(b, m->skill);
        const double all = item && item->remains ? pons_get_num(m->args, item->remains, NAN) : NAN;
        const double rest = goal->left > 0.0 ? goal->left : fabs(all);
        const double most =
            isfinite(all) && pons__means_moves(b, m->skill) ? most_of(item, all) : INFINITY;
        if (isfinite(all) && (goal->left > 0.0 || rest > most)) {
            pons_value *args = json_copy((json_t *)m->args);
            json_object_set_new(args, item->remains, json_real(copysign(fmin(rest, most), all)));
            pons__json(&m->args, args);
        }
    }
}

pons__list pons__means_of(const pons_brain *b, const pons__goal *goal, int64_t goal_index)
{
    pons_autovalue members = members_of(b, goal);
    pons__list list = ways(b, goal, members);
    take_rest(b, goal, &list);
    for (size_t i = 0; i < list.n; i++) {
        ((pons__means *)list.at[i])->goal_index = goal_index;
    }
    return list;
}

pons__means *pons__means_alone(const pons_brain *b, const pons__goal *goal)
{
    pons_autovalue members = pons__record_write(&pons__goal_record, goal);
    PONS__AUTO_MEANS list = ways(b, goal, members);
    const pons__means *last = list.n ? list.at[list.n - 1] : NULL;
    pons__means *first = NULL;
    if (last && ((pons__means *)list.at[0])->step == last->step &&
        !((pons__means *)list.at[0])->each) {
        first = pons__list_take(&list, 0);
    }
    return first;
}

void pons__means_clear(pons__list *means)
{
    pons__list_clear(&pons__means_record, means);
}

static void tell(const pons__list *means, pons_value *to)
{
    const pons__means *last = NULL;
    for (size_t i = 0; i < means->n; i++) {
        const pons__means *m = means->at[i];
        if (!last || m->step != last->step) {
            json_array_append_new(to, pons__record_write(&pons__means_record, m));
        }
        last = m;
    }
}

pons_value *pons__means_reported(const pons_brain *b, const pons__task *task)
{
    static const char *const always[] = {"wait", "look"};
    pons_value *reported = json_array();
    size_t open = 0;
    for (size_t i = 0; task && i < task->goals.n && open < OPEN_TOLD; i++) {
        const pons__goal *goal = task->goals.at[i];
        if (!goal->done) {
            PONS__AUTO_MEANS means = pons__means_of(b, goal, (int64_t)i);
            tell(&means, reported);
            open++;
        }
    }
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        PONS__AUTO(means) m = pons__means_for(b, always[i], NULL, NULL);
        if (m) {
            json_array_append_new(reported, pons__record_write(&pons__means_record, m));
        }
    }
    return reported;
}

pons__means *pons__means_for(const pons_brain *b, const char *intent, const char *member,
                             pons_value *value)
{
    pons_autovalue v = pons_object("intent", json_string(intent), NULL);
    if (member) {
        json_object_set_new(v, member, value);
    }
    PONS__AUTO(goal) goal = pons__record_read(&pons__goal_record, v);
    PONS__AUTO_MEANS means = pons__means_of(b, goal, -1);
    pons__means *first = means.n ? pons__list_take(&means, 0) : NULL;
    return first;
}

// ---- is it met? ---------------------------------------------------------------------------------

static bool at_place(const pons_brain *b, const pons__goal *goal)
{
    const pons_value *pose = pons__place_sure(b) && b->seen ? b->seen->pose : NULL;
    const pons__pose at = pons__pose_of(pose), to = pons__pose_of(goal->pose);
    if (goal->pose) { // a person named the very place
        const double away_m = pose ? hypot(at.x - to.x, at.y - to.y) : INFINITY;
        const bool turned = !pons_get(goal->pose, "yaw") ||
                            fabs(remainder(at.yaw - to.yaw, 2.0 * M_PI)) < ON_YAW_RAD;
        return goal->reached ? away_m < AT_PLACE_M : away_m < ON_PLACE_M && turned;
    }
    const pons__zone *zone = pons__zone_find(b, goal->zone);
    return zone && pose && pons__zone_contains(zone, &at);
}

static bool charged(const pons_brain *b)
{
    return b->seen && pons__charges_now(b->seen) &&
           (strcmp(b->seen->battery_state, "full") == 0 ||
            b->seen->battery_pct >= b->rules.battery_charged_pct);
}

// Of the robot as K2 has it, or else of the telemetry.
static bool facts_hold(const pons_brain *b, const pons_value *facts)
{
    bool hold = json_object_size(facts) > 0;
    pons_each_member(name, wanted, facts) {
        const pons_value *robot = pons_get(b->robot, name);
        const pons_value *is = robot ? robot : pons_get(b->port.telemetry, name);
        hold = hold && pons_value_shows(is, wanted);
    }
    return hold;
}

// The test of its last step; NULL: its skill's end.
static const pons_value *test_of(const pons__list *means)
{
    return means->n ? ((const pons__means *)means->at[means->n - 1])->test : NULL;
}

static bool is_word(const pons_value *test, const char *word)
{
    return json_is_string(test) && strcmp(json_string_value(test), word) == 0;
}

static bool has_test(const pons_brain *b, const pons__goal *goal, const char *word)
{
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    return is_word(test_of(&means), word);
}

bool pons__means_met(const pons_brain *b, const pons__goal *goal)
{
    if (pons__is_object_search(goal)) {
        return pons__object_search_met(b, pons__means_for, goal);
    }
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    const pons_value *test = test_of(&means);
    return is_word(test, "at")        ? at_place(b, goal)
           : is_word(test, "charged") ? charged(b)
           : json_is_object(test)     ? facts_hold(b, test)
                                      : goal->done;
}

bool pons__means_once(const pons_brain *b, const pons__goal *goal)
{
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    const pons_value *test = test_of(&means);
    const bool each = means.n && ((const pons__means *)means.at[means.n - 1])->each;
    return each || (test && !is_word(test, "ended"));
}

// The first "$name" of a template that the goal has not; NULL: it has all.
static const char *lacking(const pons_value *template, const pons_value *members)
{
    const char *name = NULL;
    pons_each_member(key, item, template) {
        const char *text = json_is_string(item) ? json_string_value(item) : "";
        const bool plain = text[0] == '$' && !strpbrk(text, "|.") && strcmp(text, "$each") != 0 &&
                           strcmp(text, "$here") != 0;
        name = name || !plain || pons_get(members, text + 1) ? name : text + 1;
    }
    return name;
}

const char *pons__means_lack(const pons_brain *b, const pons__goal *goal, char *buf, size_t cap)
{
    pons_autovalue members = pons__record_write(&pons__goal_record, goal);
    PONS__AUTO_MEANS fit = pons__means_of(b, goal, 0);
    const bool any = fit.n > 0;
    buf[0] = '\0';
    for (size_t i = 0; !any && i < b->port.skills.n; i++) {
        const pons__registered *skill = b->port.skills.at[i];
        for (size_t k = 0; k < skill->meets.n; k++) {
            const pons__meets *row = skill->meets.at[k];
            const char *name = lacking(row->args, members);
            name = *row->each && !pons_get(members, row->each) ? row->each : name;
            const size_t n = strlen(buf);
            if (strcmp(row->intent, goal->intent) == 0 && name && !strstr(buf, name)) {
                snprintf(buf + n, cap - n, "%s%s", n ? " or " : "", name);
            }
        }
    }
    return buf[0] ? buf : NULL;
}

pons__goal *pons__means_charging(const pons_brain *b)
{
    for (size_t i = 0; i < b->port.skills.n; i++) {
        const pons__registered *skill = b->port.skills.at[i];
        for (size_t k = 0; k < skill->meets.n; k++) {
            const pons__meets *row = skill->meets.at[k];
            if (is_word(row->test, "charged")) {
                pons__goal *goal = pons__record_new(&pons__goal_record);
                pons__set_text(&goal->intent, row->intent);
                return goal;
            }
        }
    }
    return NULL;
}

bool pons__means_charges(const pons_brain *b)
{
    pons__goal *goal = pons__means_charging(b);
    pons__record_free(&pons__goal_record, goal);
    return goal;
}

bool pons__means_of_place(const pons_brain *b, const pons__goal *goal)
{
    return has_test(b, goal, "at");
}

bool pons__means_of_charge(const pons_brain *b, const pons__goal *goal)
{
    return has_test(b, goal, "charged");
}

static bool all_ways(const pons_brain *b, const pons__goal *goal,
                     bool (*are)(const pons_brain *b, const char *skill))
{
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    bool all = means.n > 0;
    for (size_t i = 0; i < means.n; i++) {
        all = all && are(b, ((const pons__means *)means.at[i])->skill);
    }
    return all;
}

static bool leaves_base(const pons_brain *b, const char *skill)
{
    const pons__registered *item = pons__skill(b, skill);
    return item && !pons__has(item->resources, "base");
}

bool pons__means_stays(const pons_brain *b, const pons__goal *goal)
{
    return all_ways(b, goal, leaves_base);
}

bool pons__means_words(const pons_brain *b, const pons__goal *goal)
{
    return all_ways(b, goal, pons__means_beside);
}

bool pons__means_leads(const pons_brain *b, const pons__goal *goal, const char *skill)
{
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    bool leads = false;
    for (size_t i = 0; i < means.n; i++) {
        const pons__means *m = means.at[i];
        leads = leads || ((m->each || is_word(m->test, "at")) && strcmp(m->skill, skill) == 0);
    }
    return leads;
}

// ---- a skill has ended --------------------------------------------------------------------------

// The member of its list that a call of such a way was for: what its arguments have where the way's
// own have the next one.
static void note_one(const pons_brain *b, pons__goal *goal, const pons_value *args)
{
    pons_each_member(key, item, args) {
        const char *named = json_is_string(item) ? json_string_value(item) : "";
        const pons__zone *zone = pons__zone_find(b, named);
        const char *id = zone ? zone->id : named;
        if (pons__has(goal->zones, id) && !pons__has(goal->visited, id)) {
            pons_value *visited = goal->visited ? json_copy((json_t *)goal->visited) : json_array();
            json_array_append_new(visited, json_string(id));
            pons__json(&goal->visited, visited);
        }
    }
    size_t at;
    goal->done = json_array_size(goal->zones) > 0 && !next_of(goal->zones, goal->visited, &at);
}

// How much a call does of what the goal's own call is to do, in its direction; NAN: it is no such call.
// *ret_rest: how much that is, or what is left of it.
static double share(const pons_brain *b, const pons__goal *goal, const char *skill,
                    const pons_value *args, double *ret_rest)
{
    const pons__registered *item = pons__skill(b, skill);
    const char *name = item ? item->remains : NULL;
    const double asked = name ? pons_get_num(args, name, NAN) : NAN;
    pons_autovalue members = members_of(b, goal);
    PONS__AUTO_MEANS list = ways(b, goal, members);
    const pons__means *last = list.n ? list.at[list.n - 1] : NULL;
    const bool own = last && !last->each && (!last->test || is_word(last->test, "ended")) &&
                     strcmp(last->skill, skill) == 0;
    const double all = own && name ? pons_get_num(last->args, name, NAN) : NAN;
    *ret_rest = goal->left > 0.0 ? goal->left : fabs(all);
    return asked * all >= 0.0 ? fabs(asked) : NAN;
}

void pons__means_ended(const pons_brain *b, pons__goal *goal, const char *skill,
                       const pons_value *args)
{
    if (pons__is_object_search(goal)) {
        pons__object_search_ended(b, pons__means_for, goal, skill);
        return;
    }
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    const int64_t last = means.n ? ((const pons__means *)means.at[means.n - 1])->step : 0;
    for (size_t i = 0; i < means.n; i++) {
        const pons__means *m = means.at[i];
        const bool ends = !m->test || is_word(m->test, "ended");
        const bool arrives = goal->pose && is_word(m->test, "at");
        if (strcmp(m->skill, skill) != 0 || m->step != last || (!ends && !arrives)) {
            continue;
        }
        double rest = 0.0;
        const double part =
            ends && pons__means_moves(b, skill) ? share(b, goal, skill, args, &rest) : NAN;
        if (m->each) {
            note_one(b, goal, args);
        } else if (isfinite(part)) { // of a relative move, in how many calls soever
            goal->done = goal->done || pons__meant_far(part, rest);
            pons__means_left(b, goal, skill, args, 0.0);
        } else if (pons__meant(b, goal, m, args)) {
            goal->done = goal->done || ends;
            goal->reached = goal->reached || arrives;
        }
        break;
    }
}

bool pons__means_by_end(const pons_brain *b, const pons__goal *goal, const char *skill,
                        const pons_value *args)
{
    PONS__AUTO_MEANS means = pons__means_of(b, goal, 0);
    const pons__means *last = means.n ? means.at[means.n - 1] : NULL;
    const bool ends = last && !last->each && (!last->test || is_word(last->test, "ended"));
    return ends && strcmp(last->skill, skill) == 0 && pons__meant(b, goal, last, args);
}

bool pons__means_own(const pons_brain *b, const pons__goal *goal, const char *skill,
                     const pons_value *args)
{
    double rest = 0.0;
    return isfinite(share(b, goal, skill, args, &rest));
}

void pons__means_agreed(const pons_brain *b, pons__goal *goal, const char *skill,
                        const pons_value *args)
{
    double rest = 0.0;
    const double some = share(b, goal, skill, args, &rest);
    const pons__registered *item = pons__skill(b, skill);
    const bool all_it_may =
        isfinite(some) &&
        pons__meant_far(
            some, most_of(item, pons_get_num(args, item->remains, 0.0))); // the rest is to follow
    if (isfinite(some) && pons__means_moves(b, skill) && !all_it_may) {
        goal->left = fmax(some, PONS__REST_LEAST);
    }
}

double pons__means_beyond(const pons_brain *b, const pons__goal *goal, const char *skill,
                          const pons_value *args)
{
    double rest = 0.0;
    const double more = share(b, goal, skill, args, &rest) - rest;
    return more > 0.02 * rest + PONS__REST_LEAST ? more : 0.0;
}

bool pons__means_part(const pons_brain *b, const pons__goal *goal, const char *skill,
                      const pons_value *args)
{
    double rest = 0.0;
    const double some = share(b, goal, skill, args, &rest);
    return isfinite(some) && !pons__meant_far(some, rest);
}

void pons__means_left(const pons_brain *b, pons__goal *goal, const char *skill,
                      const pons_value *args, double left)
{
    double rest = 0.0;
    const double done = share(b, goal, skill, args, &rest) - left;
    if (!goal->done && isfinite(done)) {
        goal->left = fmin(rest, fmax(rest - fmax(done, 0.0), PONS__REST_LEAST));
    }
}

// ---- what a skill is ----------------------------------------------------------------------------

const char *pons__means_stop(const pons_brain *b)
{
    for (size_t i = 0; i < b->port.skills.n; i++) {
        const pons__registered *skill = b->port.skills.at[i];
        if (skill->stops) {
            return skill->name;
        }
    }
    return ""; // of a body that does not say: its own latch stops it
}

bool pons__means_beside(const pons_brain *b, const char *skill)
{
    const pons__registered *item = pons__skill(b, skill);
    return item && item->beside;
}
