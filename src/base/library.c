#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

bool
sinter__library_beside(const char *folder, const char *name, char *out, size_t size)
{
    static const char inside = 0; /* any object of this library */
    const char *slash = NULL;
    Dl_info info = {0};
    int dir_size = 0;
    int printed = 0;

    if (dladdr(&inside, &info) == 0 || info.dli_fname == NULL) {
        return false;
    }
    slash = strrchr(info.dli_fname, '/');
    if (slash == NULL || slash - info.dli_fname > 4096) {
        return false;
    }
    dir_size = (int)(slash - info.dli_fname);
    printed = snprintf(out, size, "%.*s/%s/%s", dir_size, info.dli_fname, folder, name);
    return printed > 0 && (size_t)printed < size && access(out, F_OK) == 0;
}

sinter_status
sinter__library_load(const char *path, const char *symbol, void **out, sinter_error *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *found = library == NULL ? NULL : dlsym(library, symbol);
    sinter_status st = SINTER_OK;

    if (found == NULL) {
        const char *words = dlerror(); /* until the next call */

        st = SINTER__ERR_AT(err, SINTER_E_UNSUPPORTED, path, -1, "can't be loaded: %s",
                            words == NULL ? "it lacks a symbol" : words);
    }
    if (library != NULL) {
        (void)dlclose(library); /* stays: RTLD_NODELETE */
    }
    *out = found;
    return st;
}
