/*
 * Entries of manifests for tests: random ones, and whether two are the same in everything.
 */
#ifndef SINTER_TESTS_MANIFEST_BED_H
#define SINTER_TESTS_MANIFEST_BED_H

#include "../format/avro_bed.h"
#include "table/index_manifest.h"
#include "table/manifest.h"

/** Random numbers from a seed. */
uint32_t
bed_roll(uint64_t *state, uint32_t sides);

/** A random entry, in the arena. With `name` not NULL its file has that name. */
const sinter__manifest_entry *
bed_entry(sinter__arena *arena, uint64_t *state, const char *name);

/** Are they the same in every field, and with them what they carry? */
bool
bed_is_equal(const sinter__manifest_entry *a, const sinter__manifest_entry *b);
bool
bed_is_equal_bytes(sinter_bytes a, sinter_bytes b);
bool
bed_is_equal_stats(const sinter__simple_stats *a, const sinter__simple_stats *b);

/** A text as bytes. */
sinter_bytes
bed_text(const char *text);

/** All entries of a manifest, in the arena, which also keeps what is unknown. */
sinter_status
bed_read(const sinter_env *env, const char *path, const sinter__manifest_meta *listed,
         sinter__arena *arena, const sinter__manifest_entry **entries, size_t room,
         size_t *count_out, sinter_error *err);

/** The schema's text, and all blocks' records one behind the other, of a file; free() them. */
typedef struct bed_content {
    char *schema;
    uint8_t *records;
    size_t size;
    uint64_t count;
} bed_content;

bed_content
bed_content_of(const sinter_env *env, const char *path);
void
bed_content_fini(bed_content *content);

/** Put a file of tests/data/manifest into the bed under its name. */
void
bed_put_sample(const avro_bed *bed, const char *name);

#endif
