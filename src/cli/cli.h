/*
 * What all verbs of the program share: the tables that describe them, exit codes, and the session
 * that a verb runs in.
 *
 * A verb is one table (cli_verb). Parsing, help, the man pages and the completions are made from
 * it, so that none of them can forget an option.
 */
#ifndef SINTER_CLI_CLI_H
#define SINTER_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sinter/sinter.h"

/** One list makes constants and the section of the man page. */
#define CLI_EXIT_MAP(X)                                                                       \
    X(0, OK, "Success.")                                                                      \
    X(1, FAILURE, "A failure of another class: no memory, a budget or limit that is passed.") \
    X(2, USAGE, "Wrong usage: an unknown verb, option or key, or a value that is refused.")   \
    X(3, DATA,                                                                                \
      "Bad data: a damaged file, document or row, or one of a newer version; a codec or "     \
      "io backend that isn't there.")                                                         \
    X(4, IO, "A file can't be read or written, is missing, or exists already.")               \
    X(5, BUSY, "Busy or in conflict: another process works on or has changed the same data.") \
    X(6, NO_SPACE, "No space left.")                                                          \
    X(7, NOT_FOUND, "`get` found no record with the key.")                                    \
    X(8, NOTHING, "Nothing to do: no bucket of the tables is due for compaction.")            \
    X(130, INTERRUPTED, "Cancelled by SIGINT; nothing was changed.")                          \
    X(141, PIPE, "The reader of standard output went away.")                                  \
    X(143, TERMINATED, "Cancelled by SIGTERM; nothing was changed.")

enum cli_exit {
#define CLI_EXIT_CONSTANT(value, name, text) CLI_EXIT_##name = (value),
    CLI_EXIT_MAP(CLI_EXIT_CONSTANT)
#undef CLI_EXIT_CONSTANT
};

/** How an option's argument is read, and what its field in the verb's arguments is. */
enum cli_type {
    CLI_FLAG,   /* bool; takes no argument */
    CLI_TEXT,   /* const char * */
    CLI_COUNT,  /* cli_number: a decimal number */
    CLI_SIZE,   /* cli_number: "64 mb" */
    CLI_CHOICE, /* int32_t: position in `values` */
    CLI_LIST    /* cli_list: every use appends */
};

/** A number that may be left out. */
typedef struct cli_number {
    uint64_t value;
    bool is_set;
} cli_number;

/** Texts in the order given. They live as long as the command line. */
typedef struct cli_list {
    const char **items;
    size_t count;
} cli_list;

/** One option of a verb. Static. */
typedef struct cli_option {
    const char *name;     /* long name, without dashes */
    char letter;          /* short name, or 0 */
    uint8_t type;         /* enum cli_type */
    size_t offset;        /* of the field in the verb's arguments */
    const char *argument; /* what help calls the argument; NULL for flags */
    const char *values;   /* CLI_CHOICE: "auto|posix"; "@file", "@dir": for completion; or NULL */
    const char *text;     /* one or two sentences */
} cli_option;

/** What every verb's arguments begin with. */
typedef struct cli_common {
    bool help;
    bool json;
    bool quiet;
    bool verbose;
    bool dry_run;
    int32_t progress; /* CLI_PROGRESS_* */
    int32_t io;       /* sinter_io_kind */
    const char *memory;
    cli_number nice;
    const char *io_priority;
    cli_list settings; /* "key=value" of compaction options, in order */
    char **owned;      /* texts that parsing made */
    size_t owned_count;
    char **operands; /* what is no option */
    int operand_count;
} cli_common;

enum { CLI_PROGRESS_AUTO = 0, CLI_PROGRESS_ALWAYS = 1, CLI_PROGRESS_NEVER = 2 };

/** Groups of common options that a verb takes. */
enum {
    CLI_TAKES_JSON = 1u << 0,
    CLI_TAKES_IO = 1u << 1,       /* --io, --memory, --verbose */
    CLI_TAKES_PROGRESS = 1u << 2, /* --progress, --quiet */
    CLI_TAKES_DRY_RUN = 1u << 3,
    CLI_TAKES_SETTINGS = 1u << 4, /* -o key=value and every key as an option */
    CLI_TAKES_PRIORITY = 1u << 5  /* --nice, --io-priority */
};

typedef struct cli cli;

/** A verb. Static. */
typedef struct cli_verb {
    const char *name;
    const char *operands;    /* "DIR|FILE" */
    const char *summary;     /* one line, no full stop */
    const char *description; /* paragraphs, parted by an empty line */
    const char *examples;    /* lines "command\n" */
    const cli_option *options;
    size_t option_count;
    uint32_t takes; /* CLI_TAKES_* */
    int operand_min;
    int operand_max; /* -1: any number */
    size_t arguments_size;
    /** Do the work. `arguments` begins with cli_common. @return an exit code */
    int (*run)(cli *session, void *arguments);
} cli_verb;

/** All verbs, in the order help lists them. */
extern const cli_verb *const cli_verbs[];
extern const size_t cli_verb_count;

extern const cli_verb cli_verb_commit;
extern const cli_verb cli_verb_compact;
extern const cli_verb cli_verb_create;
extern const cli_verb cli_verb_expire;
extern const cli_verb cli_verb_files;
extern const cli_verb cli_verb_gc;
extern const cli_verb cli_verb_get;
extern const cli_verb cli_verb_ingest;
extern const cli_verb cli_verb_inspect;
extern const cli_verb cli_verb_options;
extern const cli_verb cli_verb_partitions;
extern const cli_verb cli_verb_plan;
extern const cli_verb cli_verb_remove_orphans;
extern const cli_verb cli_verb_rescue;
extern const cli_verb cli_verb_run;
extern const cli_verb cli_verb_scan;
extern const cli_verb cli_verb_schema;
extern const cli_verb cli_verb_snapshots;
extern const cli_verb cli_verb_stats;
extern const cli_verb cli_verb_status;
extern const cli_verb cli_verb_verify;
extern const cli_verb cli_verb_version;
extern const cli_verb cli_verb_write;

#endif
