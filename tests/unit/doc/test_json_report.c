#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/doc.h"
#include "support/fault_alloc.h"
#include "support/records.h"

TestSuite(doc_json_report, .timeout = 60);

static sinter_json *
new_report(void)
{
    sinter_json *json = NULL;

    cr_assert_eq(sinter_json_create(sinter_env_default(), &json, NULL), SINTER_OK);
    return json;
}

/* Print and release; the status. */
static sinter_status
finish(sinter_json *json, sinter_text *out)
{
    const sinter_status st = sinter_json_print(json, 0, out, NULL);

    sinter_json_destroy(json);
    return st;
}

static void
fill(sinter_json *json)
{
    sinter_json_put_text(json, "format", "sinter.\"example\"\n");
    sinter_json_put_text(json, "none", NULL);
    sinter_json_put_text(json, "bad",
                         "a\xff"
                         "b");
    sinter_json_begin_array(json, "list");
    sinter_json_put_integer(json, NULL, INT64_MIN);
    sinter_json_put_count(json, NULL, INT64_MAX);
    sinter_json_begin_object(json, NULL);
    sinter_json_put_bool(json, "yes", true);
    sinter_json_end(json);
    sinter_json_begin_array(json, NULL);
    sinter_json_end(json);
    sinter_json_end(json);
    sinter_json_begin_object(json, "last");
    sinter_json_put_bool(json, "no", false);
    sinter_json_end(json);
}

static const char filled[] =
    "{\"format\":\"sinter.\\\"example\\\"\\n\",\"none\":null,\"bad\":\"a?b\","
    "\"list\":[-9223372036854775808,9223372036854775807,{\"yes\":true},[]],"
    "\"last\":{\"no\":false}}\n";

Test(doc_json_report, values_stand_in_the_order_they_were_put)
{
    sinter_json *json = new_report();
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    fill(json);
    cr_assert_eq(finish(json, &text), SINTER_OK);
    cr_expect_str_eq(text.data, filled);
    sinter_text_reset(&text);
    cr_assert_eq(finish(new_report(), &text), SINTER_OK);
    cr_expect_str_eq(text.data, "{}\n");
    sinter_json_destroy(NULL);
    sinter_text_fini(&text);
}

Test(doc_json_report, the_first_failure_is_told_at_the_end)
{
    sinter_json *json = new_report();
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    sinter_json_put_count(json, "n", UINT64_MAX);
    sinter_json_put_bool(json, NULL, true);
    cr_expect_eq(finish(json, &text), SINTER_E_OVERFLOW);
    json = new_report();
    sinter_json_put_bool(json, NULL, true);
    cr_expect_eq(finish(json, &text), SINTER_E_INVALID);
    json = new_report();
    sinter_json_put_bool(json, "\xff", true);
    cr_expect_eq(finish(json, &text), SINTER_E_INVALID);
    json = new_report();
    sinter_json_begin_object(json, "open");
    cr_expect_eq(finish(json, &text), SINTER_E_INVALID, "not ended");
    json = new_report();
    for (int i = 0; i < SINTER_DOC_NESTING_MAX + 3; i++) {
        sinter_json_begin_array(json, "a");
    }
    sinter_json_put_bool(json, NULL, true);
    for (int i = 0; i < SINTER_DOC_NESTING_MAX + 3; i++) {
        sinter_json_end(json);
    }
    cr_expect_eq(finish(json, &text), SINTER_E_TOO_LARGE);
    cr_expect_eq(text.size, 0);
    cr_expect_eq(sinter_json_print(NULL, 0, &text, NULL), SINTER_E_INVALID);
    cr_expect_eq(sinter_json_create(NULL, &json, NULL), SINTER_E_INVALID);
    sinter_text_fini(&text);
}

/* The same random values through both; what is put goes into `both`. */
static void
grow(test_rng *rng, sinter_json *json, json_t *both, int depth)
{
    for (uint64_t n = test_rng_below(rng, 5); n > 0; n--) {
        const bool is_array = json_is_array(both);
        json_t *value = NULL;
        char name[8] = "m0";

        name[1] = (char)('0' + n);
        switch (test_rng_below(rng, depth < 6 ? 5 : 3)) {
        case 0:
            value = json_integer((json_int_t)test_rng_next(rng));
            sinter_json_put_integer(json, name, json_integer_value(value));
            break;
        case 1:
            value = json_string("text \xc3\xa9");
            sinter_json_put_text(json, name, "text \xc3\xa9");
            break;
        case 2:
            value = json_boolean(n % 2 != 0);
            sinter_json_put_bool(json, name, n % 2 != 0);
            break;
        case 3:
            value = json_object();
            sinter_json_begin_object(json, name);
            grow(rng, json, value, depth + 1);
            sinter_json_end(json);
            break;
        default:
            value = json_array();
            sinter_json_begin_array(json, name);
            grow(rng, json, value, depth + 1);
            sinter_json_end(json);
            break;
        }
        cr_assert_eq(is_array ? json_array_append_new(both, value)
                              : json_object_set_new(both, name, value),
                     0);
    }
}

Test(doc_json_report, random_reports_are_those_of_jansson)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        test_rng rng = {seed * 6700417};
        sinter_json *json = new_report();
        json_t *both = json_object();
        sinter_text text;
        char *expected;

        sinter_text_init(sinter_env_default(), &text);
        grow(&rng, json, both, 0);
        cr_assert_eq(finish(json, &text), SINTER_OK, "seed %" PRIu64, seed);
        expected = json_dumps(both, JSON_COMPACT);
        cr_assert_eq(text.data[--text.size], '\n');
        text.data[text.size] = '\0';
        cr_assert_str_eq(text.data, expected, "seed %" PRIu64, seed);
        free(expected);
        json_decref(both);
        sinter_text_fini(&text);
    }
}

static uint64_t jansson_calls;
static uint64_t jansson_fail_at;

static void *
jansson_malloc(size_t size)
{
    return jansson_calls++ == jansson_fail_at ? NULL : malloc(size);
}

Test(doc_json_report, every_allocation_may_fail)
{
    json_set_alloc_funcs(jansson_malloc, free);
    for (int of_jansson = 0; of_jansson < 2; of_jansson++) {
        sinter_status st = SINTER_E_NOMEM;

        for (uint64_t n = 0; st != SINTER_OK; n++) {
            sinter_json *json = NULL;
            sinter_error err = SINTER_ERROR_INIT;
            sinter_text text;
            fault_alloc fault;

            fault_alloc_init(&fault, of_jansson != 0 ? UINT64_MAX : n);
            jansson_calls = 0;
            jansson_fail_at = of_jansson != 0 ? n : UINT64_MAX;
            sinter_text_init(&fault.env, &text);
            st = sinter_json_create(&fault.env, &json, &err);
            if (st == SINTER_OK) {
                fill(json);
                st = sinter_json_print(json, 0, &text, &err);
            }
            cr_assert(st == SINTER_OK || (st == SINTER_E_NOMEM && err.status == st),
                      "call %" PRIu64, n);
            cr_assert(st != SINTER_OK || strcmp(text.data, filled) == 0);
            sinter_json_destroy(json);
            sinter_text_fini(&text);
            cr_assert_eq(fault.live, 0, "leak at call %" PRIu64, n);
        }
    }
    json_set_alloc_funcs(malloc, free);
}
