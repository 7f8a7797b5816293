#include "cli/opts.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(cli_opts, .timeout = 20);

typedef struct arguments {
    cli_common common;
    bool flag;
    const char *text;
    cli_number count;
    cli_number size;
    int32_t choice;
    cli_list list;
} test_arguments;

#define FIELD(name) offsetof(test_arguments, name)

static const cli_option options[] = {
    {"flag", 'f', CLI_FLAG, FIELD(flag), NULL, NULL, "A flag."},
    {"text", 't', CLI_TEXT, FIELD(text), "TEXT", NULL, "A text."},
    {"count", 'c', CLI_COUNT, FIELD(count), "N", NULL, "A count."},
    {"size", 's', CLI_SIZE, FIELD(size), "SIZE", NULL, "A size."},
    {"choice", 0, CLI_CHOICE, FIELD(choice), "WHICH", "one|two|three", "A choice."},
    {"list", 0, CLI_LIST, FIELD(list), "ITEM", NULL, "A list."},
};

static const cli_verb verb = {
    .name = "test",
    .operands = "A B",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_SETTINGS | CLI_TAKES_JSON,
    .operand_max = 2,
    .arguments_size = sizeof(test_arguments),
};

/* Parse words; the first stands for the verb. */
static int
parse(test_arguments *arguments, char **words)
{
    int count = 0;

    while (words[count] != NULL) {
        count++;
    }
    *arguments = (test_arguments){.flag = false};
    return cli_parse(&verb, count, words, arguments);
}

#define PARSE(arguments, ...) parse((arguments), (char *[]){"test", __VA_ARGS__, NULL})

Test(cli_opts, every_kind_of_option_reaches_its_field)
{
    test_arguments a;

    const int code = PARSE(&a, "x", "-ft", "hello", "--count=7", "y", "--size", "64 mb", "--choice",
                           "three", "--list", "p", "--list=q", "-j");

    cr_assert_eq(code, CLI_EXIT_OK);
    cr_expect(a.flag);
    cr_expect(a.common.json);
    cr_expect_str_eq(a.text, "hello");
    cr_expect(a.count.is_set && a.count.value == 7);
    cr_expect(a.size.is_set && a.size.value == (uint64_t)64 << 20);
    cr_expect_eq(a.choice, 2);
    cr_assert_eq(a.list.count, 2);
    cr_expect_str_eq(a.list.items[1], "q");
    cr_assert_eq(a.common.operand_count, 2);
    cr_expect_str_eq(a.common.operands[0], "x");
    cr_expect_str_eq(a.common.operands[1], "y");
    cli_arguments_fini(&verb, &a);
}

Test(cli_opts, keys_of_compaction_options_keep_their_order)
{
    sinter_compact_options compact;
    test_arguments a;

    sinter_compact_options_init(&compact);
    const int code = PARSE(&a, "-o", "target-file-size=1mb", "--sort-engine", "min-heap",
                           "--target-file-size", "2mb");

    cr_assert_eq(code, CLI_EXIT_OK);
    cr_assert_eq(a.common.settings.count, 3);
    cr_expect_str_eq(a.common.settings.items[2], "target-file-size=2mb");
    cr_assert_eq(cli_settings_apply(&a.common.settings, &compact), CLI_EXIT_OK);
    cr_expect_eq(compact.target_file_bytes, (uint64_t)2 << 20);
    cr_expect_eq(compact.sort_engine, SINTER_SORT_MIN_HEAP);
    cli_arguments_fini(&verb, &a);
}

Test(cli_opts, words_behind_two_dashes_are_operands)
{
    test_arguments a;

    const int code = PARSE(&a, "--", "-f", "--flag");

    cr_assert_eq(code, CLI_EXIT_OK);
    cr_expect_not(a.flag);
    cr_expect_eq(a.common.operand_count, 2);
    cli_arguments_fini(&verb, &a);
}

Test(cli_opts, what_is_wrong_is_refused)
{
    static char *bad[][4] = {
        {"test", "--nothing", NULL},
        {"test", "-z", NULL},
        {"test", "-fz", NULL},
        {"test", "--flag=1", NULL},
        {"test", "--text", NULL},
        {"test", "-t", NULL},
        {"test", "--count", "-1", NULL},
        {"test", "--count", "1x", NULL},
        {"test", "--count", "", NULL},
        {"test", "--size", "much", NULL},
        {"test", "--choice", "on", NULL},
        {"test", "--choice", "one|two", NULL},
        {"test", "--choice", "", NULL},
        {"test", "a", "b", "c"},
        {"test", "--sort-engin=x", NULL},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_arguments a;
        char *words[] = {bad[i][0], bad[i][1], bad[i][2], bad[i][3], NULL};
        const int code = parse(&a, words);
        sinter_compact_options compact;

        sinter_compact_options_init(&compact);
        cr_expect(code == CLI_EXIT_USAGE ||
                      cli_settings_apply(&a.common.settings, &compact) == CLI_EXIT_USAGE,
                  "case %zu", i);
        cli_arguments_fini(&verb, &a);
    }
}

Test(cli_opts, every_verb_has_what_help_needs_and_no_letter_twice)
{
    for (size_t v = 0; v < cli_verb_count; v++) {
        bool seen[256] = {false};
        cli_option option;

        cr_expect(cli_verbs[v]->summary[0] != '\0' && cli_verbs[v]->description[0] != '\0' &&
                  cli_verbs[v]->examples[0] != '\0');
        for (size_t i = 0; cli_verb_option(cli_verbs[v], i, &option); i++) {
            cr_expect(option.text != NULL && option.text[0] != '\0', "%s --%s", cli_verbs[v]->name,
                      option.name);
            cr_expect_eq(option.type == CLI_FLAG, option.argument == NULL, "%s --%s",
                         cli_verbs[v]->name, option.name);
            cr_expect(option.type != CLI_CHOICE || option.values != NULL);
            cr_expect(option.letter == 0 || !seen[(unsigned char)option.letter], "%s -%c twice",
                      cli_verbs[v]->name, option.letter);
            seen[(unsigned char)option.letter] = true;
        }
    }
}
