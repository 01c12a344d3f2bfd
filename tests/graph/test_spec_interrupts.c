// test_spec_interrupts.c - conformance: interrupts, their ids and answers, before and after. Each
// case quotes its sentence and compares every streamed event and every stored checkpoint.
#include "graph/spec.h"

#include <stdio.h>
#include <string.h>

// "The node restarts from its top on resume; the n-th pons_interrupt in a task takes that task's
// n-th answer." "Every interrupt has its own id." In one process, or a new one for each answer.
static void the_nth_takes_the_nth(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"a", "put sum 1; ask 'one?'; ask 'two?'; ask 'three?'", "b"},
                         {"b", "put log 'b'", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a", n});
        pons_run *r = spec_run(&b, g, NULL, SPEC_ALL, PONS_RUN_INTERRUPTED);
        static const char *const answers[] = {"1", "'two'", "null"};
        char seen[3][64];
        for (int i = 0; i < 3; i++) {
            spec_pending(r, 0, seen[i]);
            for (int k = 0; k < i; k++) {
                assert_string_not_equal(seen[i], seen[k]);
            }
            if (reopen) {
                pons_run_destroy(r);
                bed_thread(&b);
                r = spec_resume(&b, g, SPEC_ALL, PONS_RUN_INTERRUPTED);
                assert_int_equal(n[0].runs, i + 1); // not run again before its answer
            }
            spec_answer(&b, r, answers[i], i < 2 ? PONS_RUN_INTERRUPTED : PONS_RUN_DONE);
            assert_int_equal(n[0].runs, i + 2);
        }
        pons_run_destroy(r);
        const char *again = reopen ? "['values',{}]," : ""; // a run that goes on begins with them
        char want[1024];
        snprintf(want, sizeof want,
                 "[['values',{}],['updates',{'__interrupt__':[{'id':'#1','value':'one?'}]}],"
                 "['values',{'__interrupt__':[{'id':'#1','value':'one?'}]}],%s"
                 "['updates',{'__interrupt__':[{'id':'#2','value':'two?'}]}],"
                 "['values',{'__interrupt__':[{'id':'#2','value':'two?'}]}],%s"
                 "['updates',{'__interrupt__':[{'id':'#3','value':'three?'}]}],"
                 "['values',{'__interrupt__':[{'id':'#3','value':'three?'}]}],%s"
                 "['updates',{'a':[{'sum':1},{'log':1},{'log':'two'},{'log':null}]}],"
                 "['values',{'sum':1,'log':[1,'two',null]}],['updates',{'b':{'log':'b'}}],"
                 "['values',{'sum':1,'log':[1,'two',null,'b']}]]",
                 again, again, again);
        spec_events(&b, SPEC_ALL, false, want);
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
                         "[1,'loop',['b'],{'sum':1,'log':[1,'two',null]}],"
                         "[2,'loop',[],{'sum':1,'log':[1,'two',null,'b']}]]");
        pons_graph_destroy(g);
        bed_close(&b);
    }
}

// "Resume with a value when exactly one is pending; with an id→value map when several; a bare value
// with several pending is refused (ambiguous), an unknown id is refused (not_pending). A node is
// not rerun before at least one of its own interrupts is answered. Siblings finish and keep their
// writes."
static void several_are_answered_by_id(void **state)
{
    (void)state;
    for (int reopen = 0; reopen < 2; reopen++) {
        bed b;
        bed_open(&b);
        spec_node n[] = {{"a", "ask 'a?'", "END"},
                         {"b", "ask 'b?'", "END"},
                         {"c", "put log 'c'; put sum 1", "END"},
                         {NULL}};
        pons_graph *g = spec_compile(&(spec_graph){"a,b,c", n});
        pons_run *r = spec_run(&b, g, NULL, SPEC_UPDATES, PONS_RUN_INTERRUPTED);
        char id[2][64];
        spec_pending(r, 0, id[0]);
        spec_pending(r, 1, id[1]);
        if (reopen) {
            pons_run_destroy(r);
            bed_thread(&b);
            r = spec_resume(&b, g, SPEC_UPDATES, PONS_RUN_INTERRUPTED);
        }
        pons_autovalue bare = json("'x'");
        assert_int_equal(pons_run_resume_value(r, bare, &b.err), PONS_EAMBIGUOUS);
        pons_autovalue map = json_object();
        json_object_set_new(map, id[1], json_string("B"));
        json_object_set_new(map, "stranger", json_string("?"));
        assert_int_equal(pons_run_resume_map(r, map, &b.err), PONS_ENOTPENDING);
        assert_ok(pons_run_advance(r, &b.err)); // neither was taken
        assert_int_equal(n[0].runs + n[1].runs, 2);
        json_object_del(map, "stranger");
        assert_ok(pons_run_resume_map(r, map, &b.err));
        assert_ok(pons_run_advance(r, &b.err));
        assert_int_equal(n[0].runs, 1); // its own is not answered
        assert_int_equal(n[1].runs, 2);
        assert_int_equal(n[2].runs, 1);                                          // done
        assert_int_equal(pons_run_resume_map(r, map, &b.err), PONS_ENOTPENDING); // twice
        spec_answer(&b, r, "'A'", PONS_RUN_DONE); // exactly one is pending now
        pons_run_destroy(r);
        spec_events(&b, SPEC_UPDATES, false,
                    "[{'c':{'log':'c','sum':1}},"
                    "{'__interrupt__':[{'id':'#1','value':'a?'},{'id':'#2','value':'b?'}]},"
                    "{'b':{'log':'B'}},{'a':{'log':'A'}}]");
        spec_checkpoints(&b, "",
                         "[[-1,'input',['__start__'],{}],[0,'loop',['a','b','c'],{}],"
                         "[1,'loop',[],{'log':['A','B','c'],'sum':1}]]");
        pons_graph_destroy(g);
        bed_close(&b);
    }
    assert_string_equal(pons_status_word(PONS_EAMBIGUOUS), "ambiguous");
    assert_string_equal(pons_status_word(PONS_ENOTPENDING), "not_pending");
}

// "interrupt_before / interrupt_after by node name; resume with null input."
static void before_and_after(void **state)
{
    (void)state;
    static const char *const b_only[] = {"b", NULL}, *const first[] = {"a", NULL};
    static const struct {
        pons_graph_options opts;
        int stopped_at; // step
        const char *stored;
    } cases[] = {
        {{.interrupt_before = b_only}, 1, "{'log':['a']}"},
        {{.interrupt_after = first}, 1, "{'log':['a']}"},
        {{.interrupt_before = first}, 0, "{}"},
        {{.interrupt_after = b_only}, 2, "{'log':['a','b']}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int how = 0; how < 3; how++) {
            bed b;
            bed_open(&b);
            spec_node n[] = {{"a", "put log 'a'", "b"},
                             {"b", "put log 'b'", "c"},
                             {"c", "put log 'c'", "END"},
                             {NULL}};
            pons_graph *g = spec_compile(&(spec_graph){"a", n, .opts = &cases[i].opts});
            pons_run *r = spec_run(&b, g, NULL, 0, PONS_RUN_INTERRUPTED);
            spec_state(&b, "", cases[i].stored);
            pons_autovalue pending = pons_run_pending(r);
            assert_json(pending, "[]");
            assert_ok(pons_run_advance(r, &b.err)); // it stays
            assert_int_equal(pons_run_state_get(r), PONS_RUN_INTERRUPTED);
            if (how == 0) { // in place
                assert_ok(pons_run_resume_value(r, NULL, &b.err));
                assert_ok(pons_run_advance(r, &b.err));
            } else { // by a resume, here or in another process
                pons_run_destroy(r);
                if (how == 2) {
                    bed_thread(&b);
                }
                r = spec_resume(&b, g, 0, PONS_RUN_DONE);
            }
            assert_int_equal(pons_run_state_get(r), PONS_RUN_DONE);
            pons_run_destroy(r);
            spec_checkpoints(&b, "",
                             "[[-1,'input',['__start__'],{}],[0,'loop',['a'],{}],"
                             "[1,'loop',['b'],{'log':['a']}],[2,'loop',['c'],{'log':['a','b']}],"
                             "[3,'loop',[],{'log':['a','b','c']}]]");
            pons_graph_destroy(g);
            bed_close(&b);
        }
    }
}

// "New input on an interrupted thread discards its pending tasks": the one that waits, the one that
// is done but not applied, a leg of a join and a deferred node.
static void new_input_discards(void **state)
{
    (void)state;
    static const pons_node_options late = {.deferred = true};
    bed b;
    bed_open(&b);
    spec_node n[] = {{"a", "put log 'a'; ask '?'", "END"},
                     {"b", "put log 'b'", "sum"},
                     {"c", "put log 'c'", "END"},
                     {"sum", "put log 'sum'", "END", .opts = &late},
                     {NULL}};
    pons_graph *g = spec_compile(&(spec_graph){"a,b", n, "a+b>c"});
    pons_run_destroy(spec_run(&b, g, "{'last':1}", 0, PONS_RUN_INTERRUPTED));
    pons_run *r = spec_run(&b, g, "{'last':2}", 0, PONS_RUN_INTERRUPTED);
    assert_int_equal(n[1].runs, 2);
    spec_answer(&b, r, "'yes'", PONS_RUN_DONE);
    pons_run_destroy(r);
    spec_checkpoints(&b, "",
                     "[[-1,'input',['__start__'],{}],[0,'loop',['a','b'],{'last':1}],"
                     "[1,'input',['__start__'],{'last':1}],[2,'loop',['a','b'],{'last':2}],"
                     "[3,'loop',['c'],{'last':2,'log':['a','yes','b']}],"
                     "[4,'loop',['sum'],{'last':2,'log':['a','yes','b','c']}],"
                     "[5,'loop',[],{'last':2,'log':['a','yes','b','c','sum']}]]");
    pons_graph_destroy(g);
    bed_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_takes_the_nth),
        cmocka_unit_test(several_are_answered_by_id),
        cmocka_unit_test(before_and_after),
        cmocka_unit_test(new_input_discards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
