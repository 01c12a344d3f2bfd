// ext/policy.h - the contract of a decision policy that needs no model: what understands goals and
// decides when no model is configured, or when the model is lost.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef struct pons_policy_ops {
    // Understands what a person said. world: {zones[{id,names}], objects[{id,class,names}]}. *ret
    // is
    //   {goals:[{intent, zone?|object?|place?|text?|seconds?|zones[]?, text}], control: null |
    //    "stop"|"cancel"|"pause"|"continue"|"reset"|"yes"|"no", urgent: bool, somewhere?: true,
    //    cancel?: {nth?|number?, goals?}, guessed?: true}
    // somewhere: not understood, but for a word that stops. cancel: only those tasks, by their place (-1: the
    // last), their number, or what is not wanted. guessed: a question, by its words. A zone with `named` is in
    // no patrol of all zones.
    // intents: go_to, bring, put, charge, wait, say, patrol. PONS_EINVAL when the text is empty,
    // not understood, or names an unknown zone or object; the message quotes it and lists what is
    // known.
    int (*parse)(void *self, const char *text, const pons_value *world, pons_value **ret,
                 pons_error *err);
    // Decides from an observation (schemas/observation.json); *ret is a decision
    // (schemas/decision.json). Pure.
    int (*decide)(void *self, const pons_value *observation, pons_value **ret, pons_error *err);
    // Optional. Whether a person says when: *ret is {schedule, text}, a schedule as pons/schedule.h
    // reads it and the wish without it ("every day at 9 go to the kitchen": "0 9 * * *", "go to the
    // kitchen"). PONS_ENOTFOUND: no. Pure.
    int (*when)(void *self, const char *text, pons_value **ret, pons_error *err);
    // Optional. Whether a sentence names the place where the robot is, or forgets a place. *ret is {word:
    // "remember"|"room"|"forget", name}; "room": it names the whole room, if the map has one there. *ret is {word: "charger"}
    // if the sentence says that the robot stands where it charges. PONS_ENOTFOUND: it does none of these. PONS_EINVAL: the
    // name is not allowed. Pure.
    int (*place)(void *self, const char *text, pons_value **ret, pons_error *err);
    // Optional. Whether a person says how fast from now on: *ret is {word: "slower"|"faster"|"normal"|
    // "percent"|"mps", number, at_most, before, rest}; at_most: the number is a limit that raises nothing ("slow
    // down to 0.2 m/s"); before: a control word that was said before it ("yes, slower"); rest: what else was said
    // in the same breath, a wish. PONS_ENOTFOUND: no. Pure.
    int (*pace)(void *self, const char *text, pons_value **ret, pons_error *err);
} pons_policy_ops;

typedef struct pons_policy {
    const pons_policy_ops *ops;
    void *self;
} pons_policy;

PONS_C_END
