#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/levels.h"
#include "cli/opts.h"
#include "cli/report.h"
#include "cli/source.h"
#include "cli/table.h"
#include "cli/text.h"

typedef struct inspect_arguments {
    cli_common common;
    bool blocks;
    const char *base_dir;
    cli_number sections;
} inspect_arguments;

#define FIELD(name) offsetof(inspect_arguments, name)

static const cli_option options[] = {
    {"blocks", 'b', CLI_FLAG, FIELD(blocks), NULL, NULL, "Show every block of an sst file."},
    {"base-dir", 0, CLI_TEXT, FIELD(base_dir), "DIR", "@dir",
     "Where the files of a document lie, instead of its base_dir."},
    {"sections", 0, CLI_COUNT, FIELD(sections), "N", NULL,
     "Draw at most N sections; 40 unless given."},
};

enum { SECTIONS_SHOWN = 40, KEY_COLUMNS = 40 };

static void
put_key(const char *label, const sinter_key_codec *codec, sinter_bytes key)
{
    char *text = cli_key_text(codec, key, KEY_COLUMNS);

    printf("%-14s%s\n", label, text);
    free(text);
}

static void
put_features(const char *label, uint64_t bits)
{
    if (bits != 0) {
        printf("%-14s0x%" PRIx64 "\n", label, bits);
    }
}

/* Type texts stand one per line. */
static void
put_key_types(const char *types)
{
    printf("%-14s", "key types");
    if (types[0] == '\0') {
        fputs("opaque", stdout);
    }
    for (; *types != '\0'; types++) {
        if (*types == '\n') {
            fputs(", ", stdout);
        } else {
            putchar(*types);
        }
    }
    putchar('\n');
}

static void
put_properties(const char *path, const sinter_sst_properties *p, const sinter_key_codec *codec)
{
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];

    printf("%s%s%s\n", cli_style(CLI_STYLE_TITLE), path, cli_style(CLI_STYLE_PLAIN));
    printf("%-14ssst version %" PRIu32 ", written by %s\n", "format", p->format_version,
           p->writer_version);
    put_features("compatible", p->features_compatible);
    put_features("incompatible", p->features_incompatible);
    printf("%-14s%s UTC\n", "created", cli_time_text(p->creation_time_ms, a));
    printf("%-14s%" PRId32 " (when written)\n", "level", p->level);
    printf("%-14s%s, %s bytes\n", "size", cli_bytes_text(p->file_size, a),
           cli_count_text(p->file_size, b));
    printf("%-14s%s", "records", cli_count_text(p->row_count, a));
    printf(", %s of them deletes\n", cli_count_text(p->retract_count, a));
    printf("%-14s%s, codec %s", "blocks", cli_count_text(p->block_count, a),
           sinter_codec_name(p->codec) != NULL ? sinter_codec_name(p->codec) : "unknown");
    if (p->filter_bits_per_key > 0) {
        printf(", filter of %" PRIu32 " bits per key\n", p->filter_bits_per_key);
    } else {
        puts(", no filter");
    }
    printf("%-14skeys %s, values %s", "raw", cli_bytes_text(p->raw_key_bytes, a),
           cli_bytes_text(p->raw_value_bytes, b));
    printf("; stored %s\n", cli_bytes_text(p->stored_bytes, a));
    if (p->largest_block > 0) {
        printf("%-14s%s stored, %" PRIu32 " records", "largest block",
               cli_bytes_text(p->largest_block, a), p->largest_block_rows);
        printf("; raw keys %s, values %s\n", cli_bytes_text(p->largest_key_part, a),
               cli_bytes_text(p->largest_value_part, b));
    }
    if (p->row_count > 0) {
        printf("%-14s%" PRId64 "..%" PRId64 "\n", "sequences", p->sequence_min, p->sequence_max);
        put_key("first key", codec, p->min_key);
        put_key("last key", codec, p->max_key);
    }
    printf("%-14s%" PRIu32 "\n", "schema id", p->schema_id);
    put_key_types(p->key_types);
    printf("%-14s%s\n", "row type", p->row_type[0] != '\0' ? p->row_type : "opaque");
}

typedef struct block_table {
    cli_table table;
    const sinter_key_codec *codec;
    uint64_t number;
} block_table;

static sinter_status
add_block(void *ctx, const sinter_sst_block *block)
{
    block_table *blocks = ctx;
    char a[CLI_NUMBER_CHARS];
    char *first = cli_key_text(blocks->codec, block->first_key, KEY_COLUMNS / 2);
    char *last = cli_key_text(blocks->codec, block->last_key, KEY_COLUMNS / 2);

    cli_table_cell(&blocks->table, "%" PRIu64, blocks->number++);
    cli_table_cell(&blocks->table, "%" PRIu64, block->offset);
    cli_table_cell(&blocks->table, "%s", cli_count_text(block->row_count, a));
    cli_table_cell(&blocks->table, "%s", cli_count_text(block->retract_count, a));
    cli_table_cell(&blocks->table, "%s%" PRIu64 " > %" PRIu64,
                   block->keys_front_coded ? "front-coded " : "", block->key_raw_bytes,
                   block->key_stored_bytes);
    cli_table_cell(&blocks->table, "%" PRIu64 " > %" PRIu64, block->value_raw_bytes,
                   block->value_stored_bytes);
    cli_table_cell(&blocks->table, "%" PRId64 "..%" PRId64, block->sequence_min,
                   block->sequence_max);
    cli_table_cell(&blocks->table, "%s", first);
    cli_table_cell(&blocks->table, "%s", last);
    free(first);
    free(last);
    return SINTER_OK;
}

static sinter_status
put_blocks(sinter_sst *sst, const sinter_key_codec *codec, sinter_error *err)
{
    static const char *const titles[] = {">block",
                                         ">offset",
                                         ">records",
                                         ">deletes",
                                         ">keys raw > stored",
                                         ">values raw > stored",
                                         "sequences",
                                         "first key",
                                         "last key"};
    block_table blocks = {.codec = codec};
    sinter_status st;

    cli_table_init(&blocks.table, titles, 9);
    st = sinter_sst_each_block(sst, add_block, &blocks, err);
    putchar('\n');
    cli_table_print(&blocks.table);
    return st;
}

static sinter_status
inspect_open(const inspect_arguments *args, sinter_sst *sst, const char *path, sinter_error *err)
{
    sinter_sst_properties properties = {.struct_size = (uint32_t)sizeof properties};
    sinter_key_codec *codec = NULL;
    sinter_status st = SINTER_OK;
    sinter_text text;

    sinter_text_init(sinter_env_default(), &text);
    sinter_sst_properties_get(sst, &properties);
    if (properties.key_types[0] != '\0') {
        st = sinter_key_codec_parse(sinter_env_default(), properties.key_types, &codec, err);
    }
    if (st == SINTER_OK && args->common.json) {
        st = sinter_inspect_print(sst, path, codec, args->blocks ? SINTER_PRINT_BLOCKS : 0, &text,
                                  err);
    } else if (st == SINTER_OK) {
        put_properties(path, &properties, codec);
        if (args->blocks) {
            st = put_blocks(sst, codec, err);
        }
    }
    cli_put_text(&text);
    sinter_key_codec_destroy(codec);
    return st;
}

static int
inspect_file(cli *session, const inspect_arguments *args, const char *path)
{
    sinter_error err = SINTER_ERROR_INIT;
    sinter_sst *sst = NULL;
    sinter_status st = sinter_sst_open(&session->boot, path, &sst, &err);

    if (st == SINTER_OK) {
        st = inspect_open(args, sst, path, &err);
    }
    sinter_sst_close(sst);
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

static void
put_source(const cli_source *source, const sinter_partition *partition, size_t section_max)
{
    const sinter_files *files = source->files;

    printf("%s%s%s: %zu %s below %s", cli_style(CLI_STYLE_TITLE), source->path,
           cli_style(CLI_STYLE_PLAIN), files->file_count, files->file_count == 1 ? "file" : "files",
           source->base_dir);
    if (files->generation >= 0) {
        printf(", generation %" PRId64 ", next sequence %" PRId64, files->generation,
               files->next_sequence);
    }
    if (files->retired_count > 0) {
        printf(", %zu retired %s for gc", files->retired_count,
               files->retired_count == 1 ? "file waits" : "files wait");
    }
    fputs("\n\n", stdout);
    cli_levels_print(files->files, files->file_count);
    if (files->file_count == 0) {
        return;
    }
    putchar('\n');
    cli_files_print(files->files, files->file_count, source->codec);
    putchar('\n');
    cli_sections_draw(partition, section_max);
}

static void
put_run_json(cli_json *json, const sinter_partition *partition, size_t section, size_t run)
{
    size_t count = 0;
    const sinter_file_meta *const *files = sinter_partition_run(partition, section, run, &count);

    cli_json_array_begin(json, NULL);
    for (size_t i = 0; i < count; i++) {
        cli_json_text(json, NULL, files[i]->file_name);
    }
    cli_json_array_end(json);
}

static void
put_levels_json(cli_json *json, const cli_source *source)
{
    cli_json_array_begin(json, "levels");
    for (int32_t level = 0; level <= source->max_level; level++) {
        const cli_level sum = cli_level_of(source->files->files, source->files->file_count, level);

        if (sum.files == 0) {
            continue;
        }
        cli_json_object_begin(json, NULL);
        cli_json_int(json, "level", level);
        cli_json_uint(json, "file_count", sum.files);
        cli_json_uint(json, "file_size", sum.bytes);
        cli_json_uint(json, "row_count", sum.rows);
        if (sum.deletes >= 0) {
            cli_json_int(json, "delete_row_count", sum.deletes);
        }
        cli_json_object_end(json);
    }
    cli_json_array_end(json);
}

static void
put_source_json(const cli_source *source, const sinter_partition *partition)
{
    cli_json json = {0};

    cli_json_object_begin(&json, NULL);
    cli_json_text(&json, "format", "sinter.levels");
    cli_json_int(&json, "version", 1);
    cli_json_text(&json, "base_dir", source->base_dir);
    if (source->files->generation >= 0) {
        cli_json_int(&json, "generation", source->files->generation);
        cli_json_int(&json, "next_sequence", source->files->next_sequence);
    }
    cli_json_uint(&json, "retired_count", source->files->retired_count);
    put_levels_json(&json, source);
    cli_json_array_begin(&json, "sections");
    for (size_t s = 0; s < sinter_partition_section_count(partition); s++) {
        cli_json_array_begin(&json, NULL);
        for (size_t r = 0; r < sinter_partition_run_count(partition, s); r++) {
            put_run_json(&json, partition, s, r);
        }
        cli_json_array_end(&json);
    }
    cli_json_array_end(&json);
    cli_json_object_end(&json);
}

static int
inspect_source(cli *session, const inspect_arguments *args, const char *path)
{
    const size_t section_max =
        args->sections.is_set ? (size_t)args->sections.value : SECTIONS_SHOWN;
    sinter_partition *partition = NULL;
    sinter_error err = SINTER_ERROR_INIT;
    cli_source source;
    sinter_status st;
    int code;

    code = cli_source_open(session, &args->common, path, args->base_dir, 0, &source);
    if (code == CLI_EXIT_OK) {
        st = sinter_partition_create(&session->boot, source.files->files, source.files->file_count,
                                     &partition, &err);
        if (st != SINTER_OK) {
            code = cli_fail_status(st, &err);
        } else if (args->common.json) {
            put_source_json(&source, partition);
        } else {
            put_source(&source, partition, section_max);
        }
    }
    sinter_partition_destroy(partition);
    cli_source_close(&source);
    return code;
}

static int
run(cli *session, void *arguments)
{
    const inspect_arguments *args = arguments;
    int first_failure = CLI_EXIT_OK;

    for (int i = 0; i < args->common.operand_count; i++) {
        const char *path = args->common.operands[i];
        int code;

        if (i > 0 && !args->common.json) {
            putchar('\n');
        }
        code = cli_is_source(session, path) ? inspect_source(session, args, path)
                                            : inspect_file(session, args, path);
        first_failure = first_failure == CLI_EXIT_OK ? code : first_failure;
    }
    return first_failure;
}

const cli_verb cli_verb_inspect = {
    .name = "inspect",
    .operands = "FILE|DIR...",
    .summary = "show what files, levels, sections and runs look like",
    .description =
        "Show the properties of an sst file, and its blocks with --blocks. For a directory with a "
        "catalog, or a sinter.files document, show its levels and files, and draw its sections and "
        "the sorted runs in them: a bar spans a file's keys, `[` its first and `]` its last, "
        "measured in ranks of all bounds.\n\n"
        "Only footers and indexes are read; `sinter verify` reads everything.",
    .examples = "sinter inspect data/\nsinter inspect --blocks data/data-*.sst\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes = CLI_TAKES_JSON,
    .operand_min = 1,
    .operand_max = -1,
    .arguments_size = sizeof(inspect_arguments),
    .run = run,
};
