// seen_objects.h - what the brain takes from the memory of objects (pons/object_memory.h): seen_objects.c.
#pragma once

#include "brain/state/self.h"
#include "pons/brain_objects.h"

// Objects that these words mean, best first, seen since then; a new list. NULL: the brain has no memory, or cannot read it.
pons_value *pons__seen_find(const pons_brain *b, const char *what, int64_t since_ms);
// "I last saw the cup in the kitchen, 40 min ago.", or that it was not seen. False: there is no memory.
bool pons__seen_says(const pons_brain *b, const char *what, bool zh, pons_buf *out);
// Whether it would be recognised: a kind that may be seen, a thing of the world, or what was seen.
bool pons__seen_kind(const pons_brain *b, const char *what);
// "the kitchen": where a thing of pons__seen_find is.
void pons__seen_place(const pons_brain *b, const pons_value *thing, bool zh, pons_buf *out);
// What a look of so many seconds has seen, a list of pons__seen_find: "cup, apple (2); nothing else in 3 s".
void pons__seen_list(const pons_brain *b, const pons_value *things, double look_s, bool zh,
                     pons_buf *out);
// The same as an answer to the goal's wish, in its language, of what was seen since its since_ms in its seconds.
void pons__seen_tell(const pons_brain *b, const pons__goal *goal, pons_buf *out);
// That nobody can see whether it is off, open, empty; and where it was seen.
void pons__seen_state(const pons_brain *b, const char *what, bool zh, pons_buf *out);
// What a thing is called in a language: by the world, by the words that mean it, else as it is asked for. Borrowed.
const char *pons__seen_called(const pons_brain *b, const char *what, bool zh);
// The world's objects with where they were seen last, and what else was seen; a new reference.
pons_value *pons__seen_objects(pons_brain *b, const pons_value *objects);
pons_seen_words pons__seen_words_of(const pons_brain *b);
