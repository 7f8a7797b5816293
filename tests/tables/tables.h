/*
 * Tables that Paimon made, with what it reads from them: those of "oracle", and those of
 * "paimon-cpp" where the folder has them.
 *
 * The folder is the one that SINTER_TABLES_DIR names; without it ../shared/tables beside the source
 * tree; without that the sample in tests/data/tables. A folder without tables is a failure.
 */
#ifndef SINTER_TESTS_TABLES_H
#define SINTER_TESTS_TABLES_H

#include <jansson.h>

#include "sinter/env.h"
#include "sinter/table.h"

/** A case: a folder NAME.db with a table and files beside it. */
typedef struct table_case {
    const char *name;     /* "pk_types_avro", "paimon-cpp/orc/pk_09" */
    const char *dir;      /* the folder */
    const char *expected; /* how names of expected rows begin: "expected", "expected/" */
    sinter_env env;       /* over real files */
    sinter_table *table;
} table_case;

/** Run all cases of "oracle", in the order of their names, and print how many said that they have
 *  something to check. */
void
tables_run(bool (*run)(table_case *test));

/** The same, and then those of "paimon-cpp". */
void
tables_run_all(bool (*run)(table_case *test));

/** Can files of the case's format be read? Without libsinter_columnar Avro only. */
bool
tables_can_read(const table_case *test);

/** Why a case is excepted of `what`, as exceptions.txt says; false: it isn't. */
bool
tables_find_exception(const table_case *test, const char *what, char *reason, size_t size);

/** Lines of the file NAME of a case; false: it has none. Release with tables_lines_free(). */
typedef struct tables_lines {
    char **items;
    size_t count;
} tables_lines;

bool
tables_read_lines(const table_case *test, const char *name, tables_lines *out);
void
tables_lines_free(tables_lines *lines);

/** The file NAME of a case as JSON; the test ends if there is none. */
json_t *
tables_read_json(const table_case *test, const char *name);

#endif
