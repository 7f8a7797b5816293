/*
 * A walk over the values of a JSON text, without storing them.
 */
#ifndef SINTER_DOC_JSON_WALK_H
#define SINTER_DOC_JSON_WALK_H

#include "doc/json.h"
#include "sinter/doc.h"

/** Brackets in brackets at most, in any text: a ROW in a type is three deep, a MAP in a value two.
 *  Documents have SINTER_DOC_NESTING_MAX. */
enum { SINTER__JSON_DEPTH_MAX = 4 * SINTER_TYPE_DEPTH_MAX };

/** An open bracket: for an object the member last named, for an array the position. */
typedef struct sinter__json_frame {
    bool is_object;
    size_t index;
    sinter_bytes name; /* raw, between its quotes */
} sinter__json_frame;

/** What the walk met. */
typedef enum sinter__json_event {
    SINTER__JSON_END,
    SINTER__JSON_VALUE,
    SINTER__JSON_TOO_DEEP,
    SINTER__JSON_STRING_TOO_LONG
} sinter__json_event;

typedef struct sinter__json_walk {
    sinter_bytes text;
    size_t at;
    size_t depth;
    size_t depth_max;      /* deeper is refused; SINTER__JSON_DEPTH_MAX at first */
    bool expects_name;     /* the next string names a member */
    uint64_t string_max;   /* longest string taken */
    uint64_t string_bytes; /* of names and strings passed so far, escapes resolved */
    sinter__json_frame frames[SINTER__JSON_DEPTH_MAX];
} sinter__json_walk;

void
sinter__json_walk_init(sinter__json_walk *w, sinter_bytes text, uint64_t string_max);

/** Find the next value; `at` is its first byte until sinter__json_walk_enter() steps over it. */
sinter__json_event
sinter__json_walk_next(sinter__json_walk *w);

/** Step over the value that was found: into a bracket, past a scalar. */
void
sinter__json_walk_enter(sinter__json_walk *w);

/** How deep brackets stand in brackets in a text that was printed here. */
size_t
sinter__json_depth(sinter_bytes text);

/** Write the path of the value at hand; false when it doesn't fit. */
bool
sinter__json_walk_path(const sinter__json_walk *w, char path[SINTER__JSON_PATH_MAX]);

#endif
