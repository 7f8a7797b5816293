#include "cli/levels.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/table.h"
#include "cli/text.h"

enum { BAR_COLUMNS = 60, KEY_COLUMNS = 24 };

cli_level
cli_level_of(const sinter_file_meta *files, size_t count, int32_t level)
{
    cli_level sum = {0};

    for (size_t i = 0; i < count; i++) {
        if (files[i].level != level) {
            continue;
        }
        sum.files++;
        sum.bytes += files[i].file_size;
        sum.rows += files[i].row_count;
        if (files[i].delete_row_count < 0) {
            sum.deletes = -1;
        } else if (sum.deletes >= 0) {
            sum.deletes += files[i].delete_row_count;
        }
    }
    return sum;
}

static int32_t
highest_level(const sinter_file_meta *files, size_t count)
{
    int32_t highest = 0;

    for (size_t i = 0; i < count; i++) {
        highest = files[i].level > highest ? files[i].level : highest;
    }
    return highest;
}

static void
cell_deletes(cli_table *table, int64_t deletes)
{
    char number[CLI_NUMBER_CHARS];

    cli_table_cell(table, "%s",
                   deletes < 0 ? "unknown" : cli_count_text((uint64_t)deletes, number));
}

void
cli_levels_print(const sinter_file_meta *files, size_t count)
{
    static const char *const titles[] = {">level", ">files", ">size", ">records", ">deletes"};
    const int32_t highest = highest_level(files, count);
    char number[CLI_NUMBER_CHARS];
    cli_table table;

    if (count == 0) {
        puts("no files");
        return;
    }
    cli_table_init(&table, titles, 5);
    for (int32_t level = 0; level <= highest; level++) {
        const cli_level sum = cli_level_of(files, count, level);

        if (sum.files == 0) {
            continue;
        }
        cli_table_cell(&table, "%" PRId32, level);
        cli_table_cell(&table, "%s", cli_count_text(sum.files, number));
        cli_table_cell(&table, "%s", cli_bytes_text(sum.bytes, number));
        cli_table_cell(&table, "%s", cli_count_text(sum.rows, number));
        cell_deletes(&table, sum.deletes);
    }
    cli_table_print(&table);
}

char *
cli_key_text(const sinter_key_codec *codec, sinter_bytes key, size_t limit)
{
    sinter_text text;
    char *out;

    sinter_text_init(sinter_env_default(), &text);
    if (codec != NULL && sinter_key_print(codec, key, &text, NULL) == SINTER_OK) {
        out = cli_printable(sinter_text_bytes(&text), limit);
    } else {
        out = cli_printable(key, limit);
    }
    sinter_text_fini(&text);
    return out;
}

static void
cell_key(cli_table *table, const sinter_key_codec *codec, sinter_bytes key)
{
    char *text = cli_key_text(codec, key, KEY_COLUMNS);

    cli_table_cell(table, "%s", text);
    free(text);
}

void
cli_files_print(const sinter_file_meta *files, size_t count, const sinter_key_codec *codec)
{
    static const char *const titles[] = {"file",     ">level",    ">size",     ">records",
                                         ">deletes", "sequences", "first key", "last key"};
    char number[CLI_NUMBER_CHARS];
    cli_table table;

    cli_table_init(&table, titles, 8);
    for (size_t i = 0; i < count; i++) {
        const sinter_file_meta *file = &files[i];

        cli_table_cell(&table, "%s", file->file_name);
        cli_table_cell(&table, "%" PRId32, file->level);
        cli_table_cell(&table, "%s", cli_bytes_text(file->file_size, number));
        cli_table_cell(&table, "%s", cli_count_text(file->row_count, number));
        cell_deletes(&table, file->delete_row_count);
        if (file->row_count == 0) {
            cli_table_cell(&table, "-");
            cli_table_cell(&table, "-");
            cli_table_cell(&table, "-");
            continue;
        }
        cli_table_cell(&table, "%" PRId64 "..%" PRId64, file->min_sequence_number,
                       file->max_sequence_number);
        cell_key(&table, codec, file->min_key);
        cell_key(&table, codec, file->max_key);
    }
    cli_table_print(&table);
}

static int
compare_bytes(const void *left, const void *right)
{
    const sinter_bytes *a = left;
    const sinter_bytes *b = right;
    const size_t shorter = a->size < b->size ? a->size : b->size;
    const int order = shorter == 0 ? 0 : memcmp(a->data, b->data, shorter);

    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* All different bounds of the files that are drawn, in order. */
typedef struct key_axis {
    sinter_bytes *bounds;
    size_t count;
} key_axis;

static void
axis_add_section(key_axis *axis, const sinter_partition *partition, size_t section)
{
    for (size_t run = 0; run < sinter_partition_run_count(partition, section); run++) {
        size_t count = 0;
        const sinter_file_meta *const *files =
            sinter_partition_run(partition, section, run, &count);

        axis->bounds = cli_realloc(axis->bounds, axis->count + 2 * count + 1, sizeof *axis->bounds);
        for (size_t i = 0; i < count; i++) {
            axis->bounds[axis->count++] = files[i]->min_key;
            axis->bounds[axis->count++] = files[i]->max_key;
        }
    }
}

static void
axis_finish(key_axis *axis)
{
    size_t kept = 0;

    if (axis->count == 0) {
        return;
    }
    qsort(axis->bounds, axis->count, sizeof *axis->bounds, compare_bytes);
    for (size_t i = 0; i < axis->count; i++) {
        if (kept == 0 || compare_bytes(&axis->bounds[kept - 1], &axis->bounds[i]) != 0) {
            axis->bounds[kept++] = axis->bounds[i];
        }
    }
    axis->count = kept;
}

static size_t
axis_column(const key_axis *axis, sinter_bytes key)
{
    const sinter_bytes *found;

    if (axis->bounds == NULL || axis->count < 2) {
        return 0;
    }
    found = bsearch(&key, axis->bounds, axis->count, sizeof *axis->bounds, compare_bytes);
    assert(found != NULL); /* every bound of a drawn file is on the axis */
    return (size_t)(found - axis->bounds) * (BAR_COLUMNS - 1) / (axis->count - 1);
}

static void
draw_run(const key_axis *axis, const sinter_file_meta *const *files, size_t count, size_t run)
{
    char bar[BAR_COLUMNS + 1];
    char size[CLI_NUMBER_CHARS];
    uint64_t bytes = 0;

    memset(bar, ' ', BAR_COLUMNS);
    bar[BAR_COLUMNS] = '\0';
    for (size_t i = 0; i < count; i++) {
        const size_t first = axis_column(axis, files[i]->min_key);
        const size_t last = axis_column(axis, files[i]->max_key);

        bytes += files[i]->file_size;
        memset(bar + first, '=', last - first + 1);
        bar[first] = '[';
        bar[last] = first == last ? '|' : ']';
    }
    printf("  run %-3zu |%s| %s: ", run, bar, cli_bytes_text(bytes, size));
    for (size_t i = 0; i < count && i < 3; i++) {
        printf("%s%s@%" PRId32, i > 0 ? ", " : "", files[i]->file_name, files[i]->level);
    }
    if (count > 3) {
        printf(", and %zu more", count - 3);
    }
    putchar('\n');
}

void
cli_sections_draw(const sinter_partition *partition, size_t section_max)
{
    const size_t total = sinter_partition_section_count(partition);
    const size_t shown = total < section_max ? total : section_max;
    key_axis axis = {0};

    for (size_t section = 0; section < shown; section++) {
        axis_add_section(&axis, partition, section);
    }
    axis_finish(&axis);
    for (size_t section = 0; section < shown; section++) {
        const size_t runs = sinter_partition_run_count(partition, section);

        printf("section %zu: %zu %s\n", section, runs, runs == 1 ? "run" : "runs");
        for (size_t run = 0; run < runs; run++) {
            size_t count = 0;
            const sinter_file_meta *const *files =
                sinter_partition_run(partition, section, run, &count);

            draw_run(&axis, files, count, run);
        }
    }
    if (shown < total) {
        printf("... and %zu more sections\n", total - shown);
    }
    free(axis.bounds);
}
