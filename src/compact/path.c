#include "compact/path.h"

#include <stdio.h>
#include <string.h>

/* As snprintf(): "base/middle/last", with what is empty left out. */
static size_t
print_path(char *out, size_t size, const char *base, const char *middle, const char *last)
{
    const int length = snprintf(out, size, "%s%s%s%s%s", base, middle[0] == '\0' ? "" : "/", middle,
                                last[0] == '\0' ? "" : "/", last);

    return (size_t)length;
}

sinter_status
sinter__path_join(const sinter_env *env, const char *base, const char *dir, const char *name,
                  char **out, sinter_error *err)
{
    const char *middle = dir == NULL ? "" : dir;
    const char *last = name == NULL ? "" : name;
    const size_t size = strlen(base) + 1 + strlen(middle) + 1 + strlen(last) + 1;

    SINTER__CHECK(sinter__alloc(env, size, 1, (void **)out, err));
    (void)print_path(*out, size, base, middle, last);
    return SINTER_OK;
}

size_t
sinter__path_print(const char *base, const sinter_file_meta *file, char *out, size_t size)
{
    if (file->external_path != NULL) {
        return print_path(out, size, file->external_path, "", "");
    }
    return print_path(out, size, base, file->dir == NULL ? "" : file->dir, file->file_name);
}

sinter_status
sinter__path_of_file(const sinter_env *env, const char *base, const sinter_file_meta *file,
                     char **out, sinter_error *err)
{
    if (file->external_path != NULL) {
        return sinter__strdup(env, file->external_path, out, err);
    }
    return sinter__path_join(env, base, file->dir, file->file_name, out, err);
}
