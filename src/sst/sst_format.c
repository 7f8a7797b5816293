/*
 * The format's place in the list of formats.
 */
#include "sinter/format.h"
#include "sst/footprint.h"
#include "sst/reader.h"
#include "sst/writer.h"

const sinter_format *
sinter_format_sst(void)
{
    static const sinter_format format = {
        .struct_size = (uint32_t)sizeof(sinter_format),
        .name = "sst",
        .extension = ".sst",
        .open_reader = sinter__sst_reader_open,
        .open_writer = sinter__sst_writer_open,
        .measure = sinter__sst_measure,
        .writer_bytes = sinter__sst_writer_bytes,
    };

    return &format;
}
