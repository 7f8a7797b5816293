/*
 * Inside of the reader that sinter_format_sst() opens.
 */
#ifndef SINTER_SST_READER_H
#define SINTER_SST_READER_H

#include "sinter/format.h"

/** Open a reader; see sinter_format.open_reader. */
sinter_status
sinter__sst_reader_open(void *format, const sinter_env *env, const char *path,
                        const sinter_read_options *given, sinter_reader **out, sinter_error *err);

#endif
