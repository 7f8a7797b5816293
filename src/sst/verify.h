/*
 * Verification of a whole file, with what its writer said to compare it with.
 */
#ifndef SINTER_SST_VERIFY_H
#define SINTER_SST_VERIFY_H

#include "sinter/sst.h"

/** As sinter_sst_verify(), and as `verify` of sinter_format. `out` may be NULL. */
sinter_status
sinter__sst_verify(const sinter_env *env, const char *path, const sinter_verify_options *options,
                   sinter_sst_verify_result *out, sinter_error *err);

#endif
