/*
 * The format's place in the list of formats.
 */
#include "sinter/format.h"
#include "sst/footprint.h"
#include "sst/reader.h"
#include "sst/writer.h"

#include "sst/verify.h"

typedef struct block_walk {
    sinter_status (*each)(void *ctx, const sinter_block_info *info);
    void *ctx;
} block_walk;

static sinter_status
tell_block(void *ctx, const sinter_sst_block *block)
{
    const block_walk *walk = ctx;
    const sinter_block_info info = {
        .struct_size = (uint32_t)sizeof info,
        .row_count = block->row_count,
        .retract_count = block->retract_count,
        .is_whole = true,
        .first_key = block->first_key,
        .last_key = block->last_key,
        .sequence_min = block->sequence_min,
        .sequence_max = block->sequence_max,
        .raw_bytes = block->key_raw_bytes + block->value_raw_bytes,
        .stored_bytes = block->key_stored_bytes + block->value_stored_bytes,
    };

    return walk->each(walk->ctx, &info);
}

static sinter_status
each_block(void *self, const sinter_env *env, const char *path,
           sinter_status (*each)(void *ctx, const sinter_block_info *info), void *ctx,
           sinter_error *err)
{
    block_walk walk = {each, ctx};
    sinter_sst *sst = NULL;
    sinter_status st = SINTER_OK;

    (void)self;
    SINTER__CHECK(sinter_sst_open(env, path, &sst, err));
    st = sinter_sst_each_block(sst, tell_block, &walk, err);
    sinter_sst_close(sst);
    return st;
}

static sinter_status
verify(void *self, const sinter_env *env, const char *path, const sinter_verify_options *options,
       sinter_error *err)
{
    (void)self;
    return sinter__sst_verify(env, path, options, NULL, err);
}

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
        .each_block = each_block,
        .verify = verify,
    };

    return &format;
}
