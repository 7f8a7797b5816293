/*
 * Inside of the writer that sinter_format_sst() opens.
 */
#ifndef SINTER_SST_WRITER_H
#define SINTER_SST_WRITER_H

#include "sinter/format.h"

/** Open a writer; see sinter_format.open_writer. */
sinter_status
sinter__sst_writer_open(void *format, const sinter_env *env, const char *path,
                        const sinter_write_options *given, sinter_writer **out, sinter_error *err);

/** Cut index pages at this size instead of 8 KiB, so that small files get several levels. */
void
sinter__sst_writer_set_page_bytes(sinter_writer *writer, uint32_t page_bytes);

#endif
