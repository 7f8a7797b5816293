#include "table/record_expiry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "place.h"

Test(table_record_expiry, a_time_field_that_is_none_is_refused_by_name)
{
    static const char *const fields[] = {"", ",\"record-level.time-field\":\"v\"",
                                         ",\"record-level.time-field\":\"x\"",
                                         ",\"record-level.time-field\":\"k\""};

    for (size_t i = 0; i < 4; i++) {
        const sinter_table_config config = {.struct_size = (uint32_t)sizeof config, .path = "t"};
        sinter__scan_columns columns = {.partition_keys = NULL};
        sinter__table_options options;
        sinter__record_expiry expiry;
        sinter_error err = SINTER_ERROR_INIT;
        sinter_table *table = NULL;
        char text[512];
        sinter_status st;
        place p;

        place_init(&p, NULL);
        (void)snprintf(text, sizeof text,
                       "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":"
                       "\"INT NOT NULL\"},{\"id\":1,\"name\":\"v\",\"type\":\"STRING\"}],"
                       "\"highestFieldId\":1,\"partitionKeys\":[],\"primaryKeys\":[\"k\"],"
                       "\"options\":{\"record-level.expire-time\":\"1 s\"%s},\"timeMillis\":0}",
                       fields[i]);
        place_write(&p, "t/schema/schema-0", text);
        cr_assert_eq(sinter_table_open(&p.env, &config, &table, NULL), SINTER_OK);
        cr_assert_eq(sinter__table_options_load(sinter_table_schema(table), &options, NULL),
                     SINTER_OK);
        columns.arena.env = &p.env;
        cr_assert_eq(sinter__scan_columns_init(&columns, sinter_table_schema(table), &options, NULL,
                                               0, NULL),
                     SINTER_OK);
        st = sinter__record_expiry_load(table, &columns, 5999, &expiry, &err);
        cr_expect_eq(st, i == 3 ? SINTER_OK : SINTER_E_INVALID, "%s", fields[i]);
        cr_expect(i == 3 || strstr(err.text, "record-level.time-field") != NULL, "%s", err.text);
        cr_expect(i < 3 || expiry.oldest_s == 4);
        sinter__scan_columns_fini(&columns);
        sinter_table_close(table);
        place_fini(&p);
    }
}
