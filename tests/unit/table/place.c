#include "place.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
place_init(place *p, const sinter_env *env)
{
    if (env == NULL) {
        sinter_env_init(&p->env);
    } else {
        p->env = *env;
    }
    p->memory = NULL;
    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &p->memory, NULL),
                 SINTER_OK);
    p->env.io = p->memory;
}

void
place_fini(place *p)
{
    sinter_io_destroy(p->memory);
}

void
place_write(place *p, const char *path, const char *text)
{
    char dir[256];

    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const int size = (int)(slash - path);

        (void)snprintf(dir, sizeof dir, "%.*s", size, path);
        (void)p->memory->ops->mkdir(p->memory, dir, NULL);
    }
    cr_assert_eq(p->memory->ops->replace(p->memory, path, text, strlen(text), NULL), SINTER_OK,
                 "%s", path);
}

void
place_write_schema(place *p)
{
    place_write(p, "t/schema/schema-0",
                "{\"version\":3,\"id\":0,\"fields\":[{\"id\":0,\"name\":\"k\",\"type\":"
                "\"INT NOT NULL\"},{\"id\":1,\"name\":\"v\",\"type\":\"STRING\"}],"
                "\"highestFieldId\":1,\"partitionKeys\":[],\"primaryKeys\":[\"k\"],"
                "\"options\":{\"bucket\":\"1\"},\"timeMillis\":7}");
}

void
place_write_snapshot(place *p, int64_t id, int64_t time_ms)
{
    char path[64];
    char text[512];

    (void)snprintf(path, sizeof path, "t/snapshot/snapshot-%" PRId64, id);
    (void)snprintf(text, sizeof text,
                   "{\"version\":3,\"id\":%" PRId64
                   ",\"schemaId\":0,\"baseManifestList\":\"manifest-list-a-0\","
                   "\"deltaManifestList\":\"manifest-list-a-1\",\"changelogManifestList\":null,"
                   "\"commitUser\":\"u\",\"commitIdentifier\":%" PRId64
                   ",\"commitKind\":\"APPEND\",\"timeMillis\":%" PRId64
                   ",\"logOffsets\":{},\"totalRecordCount\":1,\"deltaRecordCount\":1,"
                   "\"changelogRecordCount\":0}",
                   id, id, time_ms);
    place_write(p, path, text);
}
