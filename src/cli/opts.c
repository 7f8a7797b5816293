#include "cli/opts.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/text.h"

#define COMMON(field) offsetof(cli_common, field)

typedef struct common_option {
    uint32_t group; /* CLI_TAKES_*; 0: every verb */
    cli_option option;
} common_option;

static const common_option common_options[] = {
    {CLI_TAKES_JSON,
     {"json", 'j', CLI_FLAG, COMMON(json), NULL, NULL, "Print JSON, for machines."}},
    {CLI_TAKES_DRY_RUN,
     {"dry-run", 'n', CLI_FLAG, COMMON(dry_run), NULL, NULL,
      "Say what would be done; write and remove nothing."}},
    {CLI_TAKES_SETTINGS,
     {"option", 'o', CLI_LIST, COMMON(settings), "KEY=VALUE", NULL,
      "Set a compaction option by its key, as a table has it. Each key also stands as an option of "
      "its own: --target-file-size 64mb. `sinter options` lists them."}},
    {CLI_TAKES_IO,
     {"io", 0, CLI_CHOICE, COMMON(io), "BACKEND", "auto|posix|io_uring",
      "How files are read and written. auto: io_uring, or posix where the kernel refuses it."}},
    {CLI_TAKES_IO,
     {"memory", 'm', CLI_TEXT, COMMON(memory), "SIZE", NULL,
      "Memory budget, such as 64MB, the default; 512MB for tables. Short for "
      "--sinter.memory-budget."}},
    {CLI_TAKES_IO,
     {"verbose", 'v', CLI_FLAG, COMMON(verbose), NULL, NULL,
      "Print what the library notes, such as an io backend that is refused."}},
    {CLI_TAKES_PRIORITY,
     {"nice", 0, CLI_COUNT, COMMON(nice), "N", NULL,
      "Niceness of the program, from 0 to 19, which lets all others go first."}},
    {CLI_TAKES_PRIORITY,
     {"io-priority", 0, CLI_TEXT, COMMON(io_priority), "CLASS", NULL,
      "How the kernel serves its reads and writes, where the disk's scheduler heeds that: idle "
      "(when nobody else wants the disk), best-effort, or best-effort:N, N from 0 (first) to 7."}},
    {CLI_TAKES_PROGRESS,
     {"progress", 0, CLI_CHOICE, COMMON(progress), "WHEN", "auto|always|never",
      "Show progress on standard error. auto: when that is a terminal."}},
    {CLI_TAKES_PROGRESS,
     {"quiet", 'q', CLI_FLAG, COMMON(quiet), NULL, NULL,
      "Print failures only: no summary, no notes, no progress."}},
    {0, {"help", 'h', CLI_FLAG, COMMON(help), NULL, NULL, "Show help and end."}},
};

void *
cli_alloc(size_t count, size_t size)
{
    void *ptr = calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);

    if (ptr == NULL) {
        exit(cli_fail(CLI_EXIT_FAILURE, "%s", sinter_status_text(SINTER_E_NOMEM)));
    }
    return ptr;
}

void *
cli_realloc(void *ptr, size_t count, size_t size)
{
    void *grown = size != 0 && count > SIZE_MAX / size ? NULL : realloc(ptr, count * size);

    if (grown == NULL) {
        exit(cli_fail(CLI_EXIT_FAILURE, "%s", sinter_status_text(SINTER_E_NOMEM)));
    }
    return grown;
}

void *
cli_grow(void *ptr, size_t count, size_t size)
{
    return (count & (count - 1)) == 0 ? cli_realloc(ptr, count == 0 ? 1 : count * 2, size) : ptr;
}

void
cli_list_add(cli_list *list, const char *text)
{
    list->items = cli_grow((void *)list->items, list->count, sizeof *list->items);
    list->items[list->count++] = text;
}

bool
cli_verb_option(const cli_verb *verb, size_t index, cli_option *out)
{
    size_t at = verb->option_count;

    if (index < verb->option_count) {
        *out = verb->options[index];
        return true;
    }
    for (size_t i = 0; i < sizeof common_options / sizeof common_options[0]; i++) {
        if (common_options[i].group == 0 || (verb->takes & common_options[i].group) != 0) {
            if (at == index) {
                *out = common_options[i].option;
                return true;
            }
            at++;
        }
    }
    return false;
}

const cli_verb *
cli_verb_find(const char *name)
{
    const cli_verb *nearest = NULL;
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < cli_verb_count; i++) {
        const size_t distance = cli_distance(name, cli_verbs[i]->name);

        if (distance == 0) {
            return cli_verbs[i];
        }
        if (distance < best) {
            best = distance;
            nearest = cli_verbs[i];
        }
    }
    if (nearest != NULL && cli_is_near(name, best)) {
        (void)cli_fail(CLI_EXIT_USAGE, "unknown verb '%s'; did you mean '%s'?", name,
                       nearest->name);
    } else {
        (void)cli_fail(CLI_EXIT_USAGE, "unknown verb '%s'; see sinter --help", name);
    }
    return NULL;
}

/* What one getopt_long value stands for. */
typedef struct option_parser {
    const cli_verb *verb;
    char *arguments;
    cli_option *options; /* own and common ones */
    size_t option_count;
    struct option *longs; /* the same, then the compaction keys, then zeros */
    char *shorts;
} option_parser;

enum { LONG_VALUE_BASE = 1000 };
#define TABLE_MEMORY_BYTES (UINT64_C(512) << 20)

static size_t
settings_count(const cli_verb *verb)
{
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};
    size_t count = 0;

    while ((verb->takes & CLI_TAKES_SETTINGS) != 0 && sinter_compact_option_info(count, &info)) {
        count++;
    }
    return count;
}

static void
parser_init(option_parser *parser, const cli_verb *verb, void *arguments)
{
    sinter_option_info info = {.struct_size = (uint32_t)sizeof info};
    const size_t keys = settings_count(verb);
    cli_option option;
    size_t at = 0;

    memset(parser, 0, sizeof *parser);
    parser->verb = verb;
    parser->arguments = arguments;
    while (cli_verb_option(verb, parser->option_count, &option)) {
        parser->option_count++;
    }
    parser->options = cli_alloc(parser->option_count, sizeof *parser->options);
    parser->longs = cli_alloc(parser->option_count + keys + 1, sizeof *parser->longs);
    parser->shorts = cli_alloc(parser->option_count * 2 + 2, 1);
    parser->shorts[at++] = ':';
    for (size_t i = 0; i < parser->option_count; i++) {
        (void)cli_verb_option(verb, i, &parser->options[i]);
        parser->longs[i] = (struct option){
            .name = parser->options[i].name,
            .has_arg = parser->options[i].type == CLI_FLAG ? no_argument : required_argument,
            .val = LONG_VALUE_BASE + (int)i,
        };
        if (parser->options[i].letter != 0) {
            parser->shorts[at++] = parser->options[i].letter;
            if (parser->options[i].type != CLI_FLAG) {
                parser->shorts[at++] = ':';
            }
        }
    }
    for (size_t i = 0; i < keys; i++) {
        (void)sinter_compact_option_info(i, &info);
        parser->longs[parser->option_count + i] = (struct option){
            .name = info.key,
            .has_arg = required_argument,
            .val = LONG_VALUE_BASE + (int)(parser->option_count + i),
        };
    }
}

static void
parser_fini(option_parser *parser)
{
    free(parser->options);
    free(parser->longs);
    free(parser->shorts);
}

static int
fail_unknown(const option_parser *parser, const char *word)
{
    const char *equals = strchr(word, '=');
    const int length = equals == NULL ? (int)strlen(word) : (int)(equals - word);
    char name[64];
    const char *nearest = NULL;
    size_t best = SIZE_MAX;

    (void)snprintf(name, sizeof name, "%.*s", length - 2, word + 2);
    for (const struct option *known = parser->longs; known->name != NULL; known++) {
        const size_t distance = cli_distance(name, known->name);

        if (distance < best) {
            best = distance;
            nearest = known->name;
        }
    }
    if (nearest != NULL && cli_is_near(name, best)) {
        return cli_fail(CLI_EXIT_USAGE, "unknown option '%.*s'; did you mean '--%s'?", length, word,
                        nearest);
    }
    return cli_fail(CLI_EXIT_USAGE, "unknown option '%.*s'; see sinter %s --help", length, word,
                    parser->verb->name);
}

/* getopt_long gave '?': an unknown option, an abbreviation of two, or a flag with a value. */
static int
fail_option(const option_parser *parser, const char *word)
{
    const size_t size = strcspn(word, "=") - 2; /* of the name: the word begins with "--" */
    const struct option *match = NULL;

    if (optopt > 0 && optopt < LONG_VALUE_BASE) {
        return cli_fail(CLI_EXIT_USAGE,
                        "unknown option '-%c'; put -- before an operand that begins with '-'",
                        optopt);
    }
    if (optopt >= LONG_VALUE_BASE) {
        return cli_fail(CLI_EXIT_USAGE, "option '--%s' takes no value",
                        parser->longs[optopt - LONG_VALUE_BASE].name);
    }
    for (const struct option *known = parser->longs; size > 0 && known->name != NULL; known++) {
        if (strncmp(known->name, word + 2, size) == 0) {
            if (match != NULL) {
                return cli_fail(CLI_EXIT_USAGE, "option '%s' may be '--%s' or '--%s'", word,
                                match->name, known->name);
            }
            match = known;
        }
    }
    return fail_unknown(parser, word);
}

static int
set_choice(const cli_option *option, const char *text, int32_t *out)
{
    const char *values = option->values;
    const size_t size = strlen(text);

    for (int32_t position = 0; values != NULL; position++) {
        const size_t length = strcspn(values, "|");

        if (length == size && strncmp(values, text, size) == 0) {
            *out = position;
            return CLI_EXIT_OK;
        }
        values = values[length] == '|' ? values + length + 1 : NULL;
    }
    return cli_fail(CLI_EXIT_USAGE, "option '--%s' can't be '%s'; it is one of %s", option->name,
                    text, option->values);
}

static int
set_count(const cli_option *option, const char *text, cli_number *out)
{
    char *end = NULL;

    errno = 0;
    out->value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
        return cli_fail(CLI_EXIT_USAGE, "option '--%s' needs a number from 0 to 2^64 - 1, not '%s'",
                        option->name, text);
    }
    out->is_set = true;
    return CLI_EXIT_OK;
}

static int
set_size(const cli_option *option, const char *text, cli_number *out)
{
    sinter_error err = SINTER_ERROR_INIT;

    if (sinter_parse_bytes(text, &out->value, &err) != SINTER_OK) {
        return cli_fail(CLI_EXIT_USAGE, "option '--%s': %s", option->name, err.text);
    }
    out->is_set = true;
    return CLI_EXIT_OK;
}

/* `text` is NULL for flags only. */
static int
set_option(const option_parser *parser, const cli_option *option, const char *text)
{
    void *field = parser->arguments + option->offset;

    if (option->type == CLI_FLAG || text == NULL) {
        *(bool *)field = true;
        return CLI_EXIT_OK;
    }
    switch (option->type) {
    case CLI_COUNT:
        return set_count(option, text, field);
    case CLI_SIZE:
        return set_size(option, text, field);
    case CLI_CHOICE:
        return set_choice(option, text, field);
    case CLI_LIST:
        cli_list_add(field, text);
        return CLI_EXIT_OK;
    default:
        assert(option->type == CLI_TEXT);
        *(const char **)field = text;
        return CLI_EXIT_OK;
    }
}

/* --target-file-size 64mb is kept as -o target-file-size=64mb; freed with the arguments. */
static void
set_key(const option_parser *parser, const struct option *key, const char *value)
{
    cli_common *common = (cli_common *)(void *)parser->arguments;
    const int length = snprintf(NULL, 0, "%s=%s", key->name, value);
    char *joined = cli_alloc((size_t)length + 1, 1);

    (void)snprintf(joined, (size_t)length + 1, "%s=%s", key->name, value);
    cli_list_add(&common->settings, joined);
    common->owned = cli_grow(common->owned, common->owned_count, sizeof *common->owned);
    common->owned[common->owned_count++] = joined;
}

static int
check_operands(const cli_verb *verb, const cli_common *common)
{
    if (common->help) {
        return CLI_EXIT_OK;
    }
    if (common->operand_count < verb->operand_min) {
        return cli_fail(CLI_EXIT_USAGE, "too few operands: sinter %s [options] %s", verb->name,
                        verb->operands);
    }
    if (verb->operand_max >= 0 && common->operand_count > verb->operand_max) {
        return cli_fail(CLI_EXIT_USAGE, "one operand too many, '%s': sinter %s [options] %s",
                        common->operands[verb->operand_max], verb->name, verb->operands);
    }
    return CLI_EXIT_OK;
}

/* Position of the option that getopt_long named by `value`. */
static size_t
option_index(const option_parser *parser, int value)
{
    size_t index = 0;

    if (value >= LONG_VALUE_BASE) {
        return (size_t)(value - LONG_VALUE_BASE);
    }
    while (parser->options[index].letter != value) {
        index++; /* getopt_long only gives letters that parser_init put there */
    }
    return index;
}

static int
take_option(const option_parser *parser, int value, const char *word)
{
    size_t index;

    if (value == '?') {
        return fail_option(parser, word);
    }
    if (value == ':') {
        return cli_fail(CLI_EXIT_USAGE, "option '%s' needs a value", word);
    }
    index = option_index(parser, value);
    if (index >= parser->option_count) {
        set_key(parser, &parser->longs[index], optarg);
        return CLI_EXIT_OK;
    }
    return set_option(parser, &parser->options[index], optarg);
}

int
cli_parse(const cli_verb *verb, int argc, char **argv, void *arguments)
{
    cli_common *common = arguments;
    int code = CLI_EXIT_OK;
    option_parser parser;
    int value;

    parser_init(&parser, verb, arguments);
    optind = 0; /* argv[0] is the verb; 0 makes getopt_long begin anew */
    opterr = 0;
    while (code == CLI_EXIT_OK) {
        const int word = optind == 0 ? 1 : optind;

        optopt = 0;
        value = getopt_long(argc, argv, parser.shorts, parser.longs, NULL);
        if (value == -1) {
            break;
        }
        code = take_option(&parser, value, argv[optind > word ? optind - 1 : word]);
    }
    common->operands = argv + optind;
    common->operand_count = argc - optind;
    parser_fini(&parser);
    return code != CLI_EXIT_OK ? code : check_operands(verb, common);
}

void
cli_arguments_fini(const cli_verb *verb, void *arguments)
{
    cli_common *common = arguments;
    cli_option option;

    for (size_t i = 0; i < common->owned_count; i++) {
        free(common->owned[i]);
    }
    free(common->owned);
    for (size_t i = 0; cli_verb_option(verb, i, &option); i++) {
        if (option.type == CLI_LIST) {
            cli_list *list = (cli_list *)(void *)((char *)arguments + option.offset);

            free((void *)list->items);
        }
    }
}

int
cli_settings_apply(const cli_list *settings, sinter_compact_options *options)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *equals = strchr(settings->items[i], '=');
        sinter_error err = SINTER_ERROR_INIT;
        sinter_status st;
        char key[128];

        if (equals == NULL || (size_t)(equals - settings->items[i]) >= sizeof key) {
            return cli_fail(CLI_EXIT_USAGE, "option '-o' needs KEY=VALUE, not '%s'",
                            settings->items[i]);
        }
        (void)snprintf(key, sizeof key, "%.*s", (int)(equals - settings->items[i]),
                       settings->items[i]);
        st = sinter_compact_options_set(options, key, equals + 1, &err);
        if (st != SINTER_OK) {
            return cli_fail(CLI_EXIT_USAGE, "%s", err.text);
        }
    }
    return CLI_EXIT_OK;
}

void
cli_table_defaults(sinter_compact_options *options)
{
    sinter_compact_options_init(options);
    options->memory_bytes = TABLE_MEMORY_BYTES;
}

int
cli_memory_apply(const cli_common *common, sinter_compact_options *options)
{
    sinter_error err = SINTER_ERROR_INIT;

    if (common->memory != NULL && sinter_compact_options_set(options, "sinter.memory-budget",
                                                             common->memory, &err) != SINTER_OK) {
        return cli_fail(CLI_EXIT_USAGE, "option '--memory': %s", err.text);
    }
    return CLI_EXIT_OK;
}
