// What people say becomes goals: a table of sentences in Chinese and English beside the goals they
// must become, and of what must be refused with a message that says what is known. Each row is
// written as the goals are summed up by sum_up(), below: "go_to kitchen; wait 5 [stop] !" are two
// goals, a control word and a hurry; "? text" is a refusal whose message holds the text.
#include "llm/llm_fixture.h"
#include "pons/rule_policy.h"
#include "rounds.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_ZONES "kitchen,living_room,bedroom,corridor,exit"

static const struct {
    const char *said, *expected;
} table[] = {
    // go to
    {"去厨房", "go_to kitchen"},
    {"到客厅去", "go_to living_room"},
    {"回客厅", "go_to living_room"},
    {"回到起居室", "go_to living_room"},
    {"前往卧室", "go_to bedroom"},
    {"请你去一下厨房", "go_to kitchen"},
    {"走到走廊", "go_to corridor"},
    {"往卧室走", "go_to bedroom"},
    {"带我去卧室", "go_to bedroom"},
    {"厨房", "go_to kitchen"},
    {"去厨房看看吧", "go_to kitchen"},
    {"机器人，你能不能去厨房", "go_to kitchen"},
    {"go to the kitchen", "go_to kitchen"},
    {"go back to the living room", "go_to living_room"},
    {"Go Back To The LIVING_ROOM.", "go_to living_room"},
    {"head to the lounge", "go_to living_room"},
    {"navigate to living-room", "go_to living_room"},
    {"could you drive over to the hall, please?", "go_to corridor"},
    {"I want you to go to the bedroom", "go_to bedroom"},
    {"return to kitchen", "go_to kitchen"},
    {"the kitchen", "go_to kitchen"},
    {"ｇｏ　ｔｏ　ｋｉｔｃｈｅｎ", "go_to kitchen"},
    {"go\tto \n the kitchen", "go_to kitchen"},
    {"take me to the bedroom", "go_to bedroom"},
    {"\"go to the kitchen\"", "go_to kitchen"},
    // questions, and what follows without a word between
    {"现在电量多少?", "battery"},
    {"电量还有多少", "battery"},
    {"how much battery do you have left?", "battery"},
    {"看看厨房有没有苹果", "go_to kitchen; look_for kitchen apple_1"},
    {"去厨房看看有没有苹果", "go_to kitchen; look_for kitchen apple_1"},
    {"check whether there is an apple in the kitchen", "go_to kitchen; look_for kitchen apple_1"},
    {"请去卧室等我五秒钟再回来", "go_to bedroom; wait 5; come_back"},
    // a question about a place is answered, never driven
    {"厨房在哪", "where kitchen"},
    {"卧室在哪儿", "where bedroom"},
    {"厨房在哪里？", "where kitchen"},
    {"你知道厨房在哪吗", "where kitchen"},
    {"厨房怎么走", "where kitchen"},
    {"厨房有多远", "where kitchen"},
    {"到厨房要多久", "where kitchen"},
    {"where is the kitchen", "where kitchen"},
    {"where's the bedroom?", "where bedroom"},
    {"how far is the kitchen", "where kitchen"},
    {"how long does it take to get to the kitchen?", "where kitchen"},
    {"where is the apple", "where apple_1"},
    {"苹果在哪里", "where apple_1"},
    {"where is the moon", "? unknown place \"moon\""},
    {"is the kitchen free", "? did not understand"},
    {"去厨房了吗", "? 这是在问"},
    {"你去厨房了没有", "? 没有叫"},
    {"厨房吗", "? 没听懂"},
    {"厨房呢", "? 没听懂"},
    {"厨房？", "? 没听懂"},
    {"the kitchen?", "? did not understand"},
    {"可以去厨房吗？", "go_to kitchen"},
    {"can you go to the kitchen?", "go_to kitchen"},
    // bring and put
    {"把苹果放到果篮", "put apple_1 > fruit_basket"},
    {"把苹果放到果篮里吧", "put apple_1 > fruit_basket"},
    {"把杯子放在桌子上", "put cup_1 > table"},
    {"将杯子放进水果篮里面", "put cup_1 > fruit_basket"},
    {"把那个杯子拿过来", "bring cup_1"},
    {"帮我把杯子送到卧室", "bring cup_1 > bedroom"},
    {"去拿苹果", "bring apple_1"},
    {"bring me the apple", "bring apple_1"},
    {"pick up the apple", "pick apple_1"},
    {"把苹果拿起来", "pick apple_1"},
    {"pick up the apple from the kitchen", "bring apple_1"},
    {"put it down", "put_down"},
    {"放下", "put_down"},
    {"把苹果放下", "put_down apple_1"},
    {"fetch the cup for me", "bring cup_1"},
    {"put the cup on the table", "put cup_1 > table"},
    {"Place the apple into the fruit_basket", "put apple_1 > fruit_basket"},
    {"bring the apple from the kitchen to the fruit basket", "bring apple_1 > fruit_basket"},
    {"take the cup to the bedroom", "bring cup_1 > bedroom"},
    {"bring the red ball to the bedroom", "bring ball_1 > bedroom"},
    // charge
    {"去充电", "charge"},
    {"充电", "charge"},
    {"回去充电吧", "charge"},
    {"到充电桩去", "charge"},
    {"charge", "charge"},
    {"please dock", "charge"},
    {"go to the charger", "charge"},
    {"go and charge yourself", "charge"},
    // wait, in every way to say a number
    {"等5秒", "wait 5"},
    {"等待十秒", "wait 10"},
    {"等十五秒钟", "wait 15"},
    {"等两分钟", "wait 120"},
    {"等二十五秒", "wait 25"},
    {"等一百二十秒", "wait 120"},
    {"等半分钟", "wait 30"},
    {"等一分半钟", "wait 90"},
    {"等半个小时", "wait 1800"},
    {"等一个小时", "wait 3600"},
    {"等两分钟三十秒", "wait 150"},
    {"等一点五秒", "wait 1.5"},
    {"等１２秒", "wait 12"},
    {"等一会儿", "wait 5"},
    {"wait 5 seconds", "wait 5"},
    {"wait for two minutes", "wait 120"},
    {"wait 2.5 s", "wait 2.5"},
    {"wait twenty-five seconds", "wait 25"},
    {"wait half a minute", "wait 30"},
    {"wait a minute and a half", "wait 90"},
    {"wait one minute and thirty seconds", "wait 90"},
    {"wait a hundred and twenty seconds", "wait 120"},
    {"stay here for a moment", "wait 5"},
    {"wait 7", "wait 7"},
    {"wait", "wait 5"},
    // say
    {"说“你好，世界”", "say 你好，世界"},
    {"say \"Hello, World; bye and then go!\"", "say Hello, World; bye and then go!"},
    {"say hello", "say hello"},
    {"Say: Dinner Is Ready", "say Dinner Is Ready"},
    {"tell everyone that dinner is ready", "say dinner is ready"},
    {"告诉大家开饭了", "say 开饭了"},
    {"say hurry up", "say hurry up"},
    {"say 'stop, please'", "say stop, please"},
    // patrol
    {"巡逻", "patrol " ALL_ZONES},
    {"patrol", "patrol " ALL_ZONES},
    {"patrol the whole house", "patrol " ALL_ZONES},
    {"patrol the kitchen and the bedroom", "patrol kitchen,bedroom"},
    {"patrol the kitchen, the hall and the bedroom", "patrol kitchen,corridor,bedroom"},
    {"巡逻厨房和卧室", "patrol kitchen,bedroom"},
    {"在厨房、客厅和卧室之间巡逻", "patrol kitchen,living_room,bedroom"},
    // several in one sentence
    {"去厨房，然后去卧室，再回客厅", "go_to kitchen; go_to bedroom; go_to living_room"},
    {"先去厨房再去卧室", "go_to kitchen; go_to bedroom"},
    {"去厨房等5秒", "go_to kitchen; wait 5"},
    {"去厨房等五秒然后回客厅", "go_to kitchen; wait 5; go_to living_room"},
    {"5秒后去厨房", "wait 5; go_to kitchen"},
    {"等5秒后去厨房", "wait 5; go_to kitchen"},
    {"去厨房和卧室", "go_to kitchen; go_to bedroom"},
    {"去厨房把苹果拿过来", "go_to kitchen; bring apple_1"},
    {"说你好，去厨房", "say 你好; go_to kitchen"},
    {"go to the kitchen and then to the bedroom", "go_to kitchen; go_to bedroom"},
    {"go to the kitchen and the bedroom", "go_to kitchen; go_to bedroom"},
    {"go to the kitchen then the bedroom", "go_to kitchen; go_to bedroom"},
    {"go to the kitchen; wait 3 seconds; charge", "go_to kitchen; wait 3; charge"},
    {"go to the kitchen, then say done, then charge", "go_to kitchen; say done; charge"},
    {"say \"a, b\" and then go to the kitchen", "say a, b; go_to kitchen"},
    {"patrol the kitchen and the hall and charge", "patrol kitchen,corridor; charge"},
    {"Go to the kitchen. Wait 2 seconds. Come back to the lounge!",
     "go_to kitchen; wait 2; go_to living_room"},
    // control words
    {"stop", "[stop]"},
    {"Stop!", "[stop]"},
    {"停", "[stop]"},
    {"停下！", "[stop]"},
    {"快停下来", "[stop]"},
    {"急停", "[stop]"},
    {"please stop right there", "[stop]"},
    {"stop the thing you are doing", "[stop]"}, // not understood, but it holds "stop"
    {"马上停下，你这个笨蛋", "[stop] !"},
    {"先停一停", "[stop]"},
    {"别走", "[stop]"},
    {"别走了", "[stop]"},
    {"不要走了", "[stop]"},
    {"别跑", "[stop]"},
    {"刹车", "[stop]"},
    {"住手", "[stop]"},
    {"慢着", "[stop]"},
    {"够了", "[stop]"},
    {"别动", "[stop]"},
    {"不要动", "[stop]"},
    {"站住", "[stop]"},
    {"快停", "[stop]"},
    {"停停停", "[stop]"},
    {"先别动", "[stop]"},
    {"别再走了", "[stop]"},
    {"小心！", "[stop]"},
    {"危险！", "[stop]"},
    {"刹车刹车", "[stop]"},
    {"停在那儿", "[stop]"},
    {"打住", "[stop]"},
    {"別動", "[stop]"},
    {"whoa", "[stop]"},
    {"Whoa!", "[stop]"},
    {"stand still", "[stop]"},
    {"quit moving", "[stop]"},
    {"stop stop stop", "[stop]"},
    {"STOP!!!", "[stop]"},
    {"don't move", "[stop]"},
    {"freeze", "[stop]"},
    {"hold it", "[stop]"},
    {"stay where you are", "[stop]"},
    {"enough", "[stop]"},
    {"that's enough!", "[stop]"},
    {"don't go", "[stop]"},
    {"watch out!", "[stop]"},
    {"brake", "[stop]"},
    {"e-stop", "[stop]"},
    {"stop that", "[stop]"},
    {"whoa there robot", "[stop]"},
    {"please stand still", "[stop]"},
    {"喂别走啊那边有人", "[stop]"},
    {"喂不要过来啊那边有人", "[stop]"},
    {"喂不许走啊那边有人", "[stop]"},
    {"please keep still now", "[stop]"},
    {"stand still you stupid thing", "[stop]"},
    {"go to the bus stop", "[stop]"}, // no place that is known
    {"不要停", "[continue]"},
    {"别去了", "[cancel]"},
    {"不要去了", "[cancel]"},
    {"no no no", "[no]"},
    {"不要！", "[no]"}, // which stops where nothing is asked (brain/test_stop_state)
    {"cancel", "[cancel]"},
    {"abort the task", "[cancel]"},
    {"never mind", "[cancel]"},
    {"cancel all", "[cancel]"},
    {"I would like to cancel", "[cancel]"},
    {"just forget about it", "[cancel]"},
    {"disregard that, please", "[cancel]"},
    {"but can you cancel it", "[cancel]"},
    {"deactivate", "[stop]"},
    {"取消", "[cancel]"},
    {"取消任务吧", "[cancel]"},
    {"cancel, go to the bedroom", "go_to bedroom [cancel]"},
    {"停止", "[stop]"},
    {"pause", "[pause]"},
    {"暂停", "[pause]"},
    {"等一下", "[pause]"},
    {"continue", "[continue]"},
    {"继续", "[continue]"},
    {"resume", "[continue]"},
    {"don't stop", "[continue]"},
    {"复位", "[reset]"},
    {"reset", "[reset]"},
    {"yes", "[yes]"},
    {"好的", "[yes]"},
    {"yes, please", "[yes]"},
    {"ok then", "[yes]"},
    {"sure, go ahead", "[yes]"},
    {"好的，谢谢", "[yes]"},
    {"好吧", "[yes]"},
    {"好的好的", "[yes]"},
    {"行行行", "[yes]"},
    {"yes sir", "[yes]"},
    {"yes, do that", "[yes]"},
    {"of course", "[yes]"},
    {"当然可以", "[yes]"},
    {"嗯，可以", "[yes]"},
    {"我同意", "[yes]"},
    {"yes yes", "[yes]"},
    // no yes: a doubt, a question, another time
    {"ok?", "? did not understand"},
    {"yes？", "? did not understand"},
    {"agree?", "? did not understand"},
    {"do it?", "? did not understand"},
    {"can you do it", "? did not understand"},
    {"would you agree", "? did not understand"},
    {"you sure", "? did not understand"},
    {"you ok", "? did not understand"},
    {"yes afterwards", "? did not understand"},
    {"next, yes", "? did not understand"},
    {"yes later", "? did not understand"},
    {"do it again", "repeat"},
    {"马上就好", "? 没听懂"},
    {"好快啊", "? 没听懂"},
    {"可以是可以", "? 没听懂"},
    {"行是行", "? 没听懂"},
    {"行行好", "? 没听懂"},
    {"对吧", "? 没听懂"},
    {"可以吧", "? 没听懂"},
    {"现在是", "? 没听懂"},
    {"先行", "? 没听懂"},
    {"就好", "? 没听懂"},
    {"哦，是", "? 没听懂"},
    {"是吗", "? 没听懂"},
    {"行吗", "? 没听懂"},
    {"好吗", "? 没听懂"},
    {"可以吗", "? 没听懂"},
    {"没问题吗", "? 没听懂"},
    {"可以了吗", "? 没听懂"},
    {"你行吗", "? 没听懂"},
    {"能不能行", "? 没听懂"},
    {"能不能同意", "? 没听懂"},
    {"之后可以", "? 没听懂"},
    {"以后可以", "? 没听懂"},
    {"行不行", "? 没听懂"},
    {"好的，不去了", "[cancel]"},
    {"yes but not now", "[no]"},
    {"好了", "? 没听懂"},
    {"不用了", "[no]"},
    {"no way", "[no]"},
    {"不是", "[no]"},
    {"ok", "[yes]"},
    {"no", "[no]"},
    {"不行", "[no]"},
    {"stop, go to the kitchen", "go_to kitchen [stop]"},
    {"停下，然后去卧室", "go_to bedroom [stop]"},
    {"no, go to the bedroom", "go_to bedroom [no]"},
    {"ok, go to the bedroom", "go_to bedroom"},
    // hurry
    {"马上去厨房", "go_to kitchen !"},
    {"立刻回客厅", "go_to living_room !"},
    {"把苹果马上放到果篮", "put apple_1 > fruit_basket !"},
    {"go to the kitchen immediately", "go_to kitchen !"},
    {"please go right now to the kitchen", "go_to kitchen !"},
    {"urgent: go to the bedroom", "go_to bedroom !"},
    {"go to the kitchen first", "go_to kitchen !"},
    {"先去厨房", "go_to kitchen !"},
    {"first go to the kitchen, then to the bedroom", "go_to kitchen; go_to bedroom"},
    {"去紧急出口", "go_to exit"}, // a name, not a hurry
    // refusals
    {"", "? the goal is empty"},
    {" \t\n ", "? the goal is empty"},
    {"。。。", "? the goal is empty"},
    {"go to the moon", "? unknown zone \"moon\"; known zones: kitchen (厨房), living_room (客厅)"},
    {"去月球", "? 没有叫“月球”的地方；认识的地方：kitchen (厨房), living_room (客厅)"},
    // a name that is near one
    {"go to the kichen", "? there is no place \"kichen\"; did you mean kitchen?"},
    {"go to the bedrom please", "? there is no place \"bedrom\"; did you mean bedroom?"},
    {"go to livingroom", "go_to living_room"},
    {"go to the kitchen, then to the lunge", "? there is no place \"lunge\"; did you mean lounge?"},
    {"bring me the appel", "? there is no object \"appel\"; did you mean apple?"},
    {"patrol the kitchen and the bedrom", "? there is no place \"bedrom\"; did you mean bedroom?"},
    {"去橱房", "? 没有叫“橱房”的地方，是不是指“厨房”？"},
    {"把平果放到果篮", "? 没有叫“平果”的东西，是不是指“苹果”？"},
    {"go to the kitchen and the Moon Base", "? unknown zone \"Moon Base\""},
    {"go to the kitchen, then to the moon", "? unknown zone \"moon\""},
    {"patrol mars", "? unknown zone \"mars\""},
    {"take me to the moon", "? unknown zone \"moon\""},
    {"bring me the sword", "? unknown object \"sword\"; known objects: apple_1 (苹果)"},
    {"把香蕉放到果篮", "? 没有叫“香蕉”的东西；认识的东西：apple_1 (苹果)"},
    {"put the cup on the roof", "? unknown place \"roof\""},
    {"bring me the ball", "? \"ball\" may be ball_1 or ball_2"},
    {"blah blah", "? did not understand \"blah blah\""},
    {"please", "? did not understand"},
    {"wait -5 seconds", "? did not understand"},
    {"wait 0 seconds", "? cannot wait 0 s"},
    {"等一百小时", "? 等不了 360000 秒"},
    {"say \"\"", "? did not understand"},
};

static pons_policy rules;
static pons_value *world;

static void add(char *buf, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *buf, size_t cap, const char *fmt, ...)
{
    size_t n = strlen(buf);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf + n, cap - n, fmt, ap);
    va_end(ap);
}

static void sum_up(const pons_value *v, char *buf, size_t cap)
{
    size_t i, k;
    pons_value *goal, *zone;
    buf[0] = '\0';
    json_array_foreach(pons_get(v, "goals"), i, goal) {
        const char *intent = pons_get_str(goal, "intent", "?");
        add(buf, cap, "%s%s", i ? "; " : "", intent);
        if (strcmp(intent, "say") == 0) {
            add(buf, cap, " %s", pons_get_str(goal, "text", "?"));
        }
        const char *keys[] = {"zone", "object"};
        for (k = 0; k < 2; k++) {
            if (pons_get(goal, keys[k])) {
                add(buf, cap, " %s", pons_get_str(goal, keys[k], "?"));
            }
        }
        if (pons_get(goal, "place")) {
            add(buf, cap, " > %s", pons_get_str(goal, "place", "?"));
        }
        if (pons_get(goal, "seconds")) {
            add(buf, cap, " %g", pons_get_num(goal, "seconds", -1));
        }
        json_array_foreach(pons_get(goal, "zones"), k, zone) {
            add(buf, cap, "%s%s", k ? "," : " ", json_string_value(zone));
        }
        assert_non_null(pons_get(goal, "text"));
    }
    if (pons_get_str(v, "control", NULL)) {
        add(buf, cap, "%s[%s]", *buf ? " " : "", pons_get_str(v, "control", NULL));
    }
    if (pons_get_bool(v, "urgent", false)) {
        add(buf, cap, " !");
    }
}

static void test_table(void **state)
{
    (void)state;
    size_t wrong = 0, n = sizeof table / sizeof *table;
    for (size_t i = 0; i < n; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_value *v = NULL;
        char got[1200];
        int rc = rules.ops->parse(rules.self, table[i].said, world, &v, &err);
        bool refused = table[i].expected[0] == '?';
        if (rc == PONS_OK) {
            sum_up(v, got, sizeof got);
        } else {
            assert_null(v);
            assert_int_equal(rc, PONS_EINVAL);
            snprintf(got, sizeof got, "? %s", err.message);
        }
        const char *want = table[i].expected;
        if (refused ? rc == PONS_OK || !strstr(got, want + 2) : strcmp(got, want) != 0) {
            print_error("\"%s\"\n  became   %s\n  expected %s\n", table[i].said, got, want);
            wrong++;
        }
        pons_value_unref(v);
    }
    print_message("%zu sentences\n", n);
    assert_int_equal(wrong, 0);
}

// The text of a goal is what was said, in its own case.
static void test_text_is_kept(void **state)
{
    (void)state;
    pons_autovalue v = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(
        rules.ops->parse(rules.self, "Go to THE Kitchen, then say \"Hi Bob\"", world, &v, &err),
        PONS_OK);
    const pons_value *goals = pons_get(v, "goals");
    assert_string_equal(pons_get_str(json_array_get(goals, 0), "text", ""), "Go to THE Kitchen");
    assert_string_equal(pons_get_str(json_array_get(goals, 1), "text", ""), "Hi Bob");
}

static void test_bad_input(void **state)
{
    (void)state;
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    char *huge = malloc(1 << 20);
    memset(huge, 'a', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    assert_int_equal(rules.ops->parse(rules.self, huge, world, &v, &err), PONS_EINVAL);
    free(huge);
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(rules.ops->parse(rules.self, "go to \xff\xfe", world, &v, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "UTF-8"));
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(rules.ops->parse(rules.self, "go to the kitchen", NULL, &v, &err),
                     PONS_EINVAL);
    assert_string_equal(err.message, "unknown zone \"kitchen\"; no zones are known");
    // Twenty goals are enough for one sentence.
    char many[1500] = "wait 1";
    for (int i = 0; i < 30; i++) {
        strcat(many, "; wait 1");
    }
    err = (pons_error)PONS_ERROR_INIT;
    assert_int_equal(rules.ops->parse(rules.self, many, world, &v, &err), PONS_EINVAL);
    assert_string_equal(err.message, "more than 20 goals in one sentence");
    assert_null(v);
}

// Random words never crash the parser, and what it accepts names only what the world knows.
static void test_random_sentences(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "go to ",  "去",   "把",       "放到",  "the ", "kitchen", "厨房",    "苹果",
        " and ",   ", ",   "然后",     "再",    "等",   "五",      "半",      "分钟",
        "\"",      "'",    "say ",     "stop",  "马上", "first",   " ",       "_",
        "patrol ", "和",   "里",       "wait ", "3",    ".",       "hundred", "a ",
        "put",     " on ", "the cup ", "moon",  "💡",   "ﾊﾝ",      "，",      "去充电"};
    uint64_t x = 20260221; // a seed, printed when something fails
    print_message("seed %llu\n", (unsigned long long)x);
    for (long round = rounds(ROUNDS_policy_sentences); round > 0; round--) {
        char text[1024] = "";
        size_t n = 1 + (size_t)(x >> 33) % 12;
        for (size_t i = 0; i < n; i++) {
            x = x * 6364136223846793005ULL + 1442695040888963407ULL;
            strcat(text, pieces[(size_t)(x >> 33) % (sizeof pieces / sizeof *pieces)]);
        }
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        int rc = rules.ops->parse(rules.self, text, world, &v, &err);
        if (rc == PONS_OK) {
            assert_true(json_array_size(pons_get(v, "goals")) > 0 ||
                        pons_get_str(v, "control", NULL));
        } else {
            assert_int_equal(rc, PONS_EINVAL);
            assert_true(err.message[0] != '\0');
        }
        pons_value_unref(v);
    }
}

// A bad intents document is refused with the path of what is bad.
static void test_bad_intents(void **state)
{
    (void)state;
    static const struct {
        const char *change, *message; // change: a JSON object merged into a good document
    } bad[] = {
        {"{\"version\": 2}", "/version"},
        {"{\"surprise\": 1}", "/surprise: unknown key"},
        {"{\"limits\": {\"wait_max_s\": 0, \"goals_max\": 20}}", "/limits/wait_max_s"},
        {"{\"limits\": {\"wait_max_s\": 9, \"goals_max\": 0}}", "/limits/goals_max"},
        {"{\"limits\": {\"wait_max\": 9}}", "/limits/wait_max: unknown key"},
        {"{\"articles\": \"the\"}", "/articles: expected a list"},
        {"{\"articles\": [\"the\", true]}", "/articles/1: expected a word"},
        {"{\"joins\": [\"\"]}", "/joins/0: expected a word"},
        {"{\"control\": {\"stop\": {\"words\": []}}}", "/control/cancel: expected a mapping"},
        {"{\"units\": [{\"seconds\": -1, \"words\": [\"x\"]}]}", "/units/0/seconds"},
        {"{\"moments\": [{\"seconds\": 1, \"word\": [\"x\"]}]}", "/moments/0/word: unknown key"},
        {"{\"intents\": [{\"intent\": \"fly\", \"patterns\": []}]}", "unknown intent \"fly\""},
        {"{\"intents\": [{\"intent\": \"wait\"}]}", "/intents/0/patterns: expected a list"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"a(b\"]}]}",
         "/intents/0/patterns/0: a bracket is not closed"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"ab)\"]}]}",
         "/intents/0/patterns/0: a bracket is closed"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"x\", \"(a]\"]}]}",
         "/intents/0/patterns/1: a bracket"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"go {moon}\"]}]}",
         "/intents/0/patterns/0: unknown slot"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"go {zone\"]}]}",
         "/intents/0/patterns/0: a brace is not closed"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"[go]\"]}]}", "may be left out"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [7]}]}",
         "/intents/0/patterns/0: expected a pattern"},
        {"{\"intents\": [{\"intent\": \"wait\", \"patterns\": [\"(a|b|c|d|e|f|g|h)(a|b|c|d|e|f|g|h)"
         "(a|b|c|d|e|f|g|h)(a|b|c|d|e|f|g|h)(a|b|c|d|e|f|g|h)\"]}]}",
         "too many choices"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pons_autovalue doc = fixture_intents();
        pons_autovalue change = fixture_json(bad[i].change);
        json_object_update(doc, change);
        pons_policy p = {0};
        pons_error err = PONS_ERROR_INIT;
        int rc = pons_rules_open(doc, &p, &err);
        if (rc != PONS_EINVAL || !strstr(err.message, bad[i].message)) {
            print_error("%s\n  gave %s\n", bad[i].change, err.message);
            fail();
        }
        assert_null(p.ops);
    }
    pons_rules_close(NULL);
    pons_policy empty = {0};
    pons_rules_close(&empty);
}

static int setup(void **state)
{
    (void)state;
    pons_value_init();
    rules = fixture_rules();
    world = fixture_world();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pons_value_unref(world);
    pons_rules_close(&rules);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),       cmocka_unit_test(test_text_is_kept),
        cmocka_unit_test(test_bad_input),   cmocka_unit_test(test_random_sentences),
        cmocka_unit_test(test_bad_intents),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
