/*
 * Calls and allocations that fail, files that are cut or changed: an error, never a crash.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar_bed.h"
#include "support/fault_alloc.h"

TestSuite(format_columnar_damage, .timeout = 600);

static const int32_t kinds[] = {SINTER__COLUMNAR_PARQUET, SINTER__COLUMNAR_ORC};
static const sinter__columnar_read read_all = {.struct_size = (uint32_t)sizeof read_all};

static sinter__columnar_write
write_of(int32_t kind)
{
    return (sinter__columnar_write){.struct_size = (uint32_t)sizeof(sinter__columnar_write),
                                    .kind = kind};
}

/* A file of each format, and one of several stripes: times of the first have to be put right. */
static const sinter__columnar_write faulted[] = {
    {.struct_size = (uint32_t)sizeof(sinter__columnar_write), .kind = SINTER__COLUMNAR_PARQUET},
    {.struct_size = (uint32_t)sizeof(sinter__columnar_write), .kind = SINTER__COLUMNAR_ORC},
    {.struct_size = (uint32_t)sizeof(sinter__columnar_write),
     .kind = SINTER__COLUMNAR_ORC,
     .codec = SINTER__COLUMNAR_NONE,
     .group_bytes = 4096}};
enum { FAULTED = sizeof faulted / sizeof faulted[0] };

/** Write 5000 rows as far as it goes. */
static sinter_status
try_write(const columnar_bed *bed, const sinter__columnar_write *write, sinter_error *err)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_written written = {.struct_size = (uint32_t)sizeof written};
    sinter__columnar_batch *batch = bed_batch(bed, 0, 5000);
    const sinter__columnar_range ranges[] = {{batch, 0, 500}, {batch, 500, 4500}};
    sinter__columnar_output *output = NULL;
    struct ArrowSchema schema;
    sinter_status st;

    bed_schema(&schema);
    st = api->output_open(&bed->columnar.host, "m/w", &schema, write, &output, err);
    schema.release(&schema);
    if (st == SINTER_OK) {
        st = api->output_append(output, ranges, 2, err);
    }
    if (st == SINTER_OK) {
        st = api->output_finish(output, &written, err);
    }
    api->output_close(output);
    api->batch_release(batch);
    return st;
}

static uint32_t
group_count(const columnar_bed *bed, const char *path)
{
    const sinter__columnar_api *api = bed->columnar.api;
    sinter__columnar_info info = {.struct_size = (uint32_t)sizeof info};
    sinter__columnar_file *file = NULL;

    cr_assert_eq(api->file_open(&bed->columnar.host, path, 0, 0, &file, NULL), SINTER_OK);
    cr_assert_eq(api->file_info(file, &info, NULL), SINTER_OK);
    api->file_close(file);
    return info.group_count;
}

Test(format_columnar_damage, every_call_of_io_may_fail)
{
    for (int k = 0; k < FAULTED; k++) {
        const sinter__columnar_write *write = &faulted[k];
        sinter_fault_options options = {.struct_size = (uint32_t)sizeof options,
                                        .kind = SINTER_FAULT_EIO,
                                        .at_call = UINT64_MAX};
        sinter_io *fault = NULL;
        sinter_io *plain = NULL;
        columnar_bed bed;
        bool done = false;

        bed_init(&bed, 0);
        bed_write(&bed, "m/r", write, 2000, 700);
        plain = bed.env.io;
        cr_assert_eq(sinter_io_fault_create(sinter_env_default(), plain, &options, &fault, NULL),
                     SINTER_OK);
        bed.env.io = fault;
        for (options.at_call = 0; !done; options.at_call++) {
            sinter_error err = SINTER_ERROR_INIT;

            sinter_io_fault_set(fault, &options);
            done = bed_read(&bed, "m/r", &read_all, true, &err) == 2000;
            cr_assert(done || err.status == SINTER_E_IO, "read, call %llu: %s",
                      (unsigned long long)options.at_call, err.text);
        }
        done = false;
        options.kind = SINTER_FAULT_ENOSPC;
        for (options.at_call = 0; !done; options.at_call++) {
            sinter_error err = SINTER_ERROR_INIT;
            sinter_io_stat stat;

            sinter_io_fault_set(fault, &options);
            done = try_write(&bed, write, &err) == SINTER_OK;
            cr_assert(done || err.status == SINTER_E_NO_SPACE, "write, call %llu: %s",
                      (unsigned long long)options.at_call, err.text);
            cr_assert_eq(plain->ops->stat(plain, "m/w", &stat, NULL) == SINTER_OK, done);
        }
        sinter_io_destroy(fault);
        bed.env.io = plain;
        cr_expect_geq(group_count(&bed, "m/w"), write->group_bytes == 0 ? 1 : 3);
        bed_fini(&bed);
    }
}

Test(format_columnar_damage, every_allocation_of_columns_may_fail)
{
    for (int k = 0; k < FAULTED; k++) {
        const sinter__columnar_write *write = &faulted[k];
        const sinter_allocator plain = sinter_env_default()->allocator;
        bool done = false;
        columnar_bed bed;

        bed_init(&bed, 0);
        bed_write(&bed, "m/r", write, 1000, 1000);
        for (uint64_t n = 0; !done; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;

            fault_alloc_init(&fault, n);
            bed.env.allocator = fault.env.allocator;
            done = bed_read(&bed, "m/r", &read_all, true, &err) == 1000;
            cr_assert(done || err.status == SINTER_E_NOMEM, "read, allocation %llu: %s",
                      (unsigned long long)n, err.text);
            cr_assert_eq(fault.live, 0);
            cr_assert_eq(sinter_memory_used(bed.memory), 0);
            bed.env.allocator = plain;
        }
        done = false;
        for (uint64_t n = 0; !done; n++) {
            sinter_error err = SINTER_ERROR_INIT;
            fault_alloc fault;

            fault_alloc_init(&fault, n);
            bed.env.allocator = fault.env.allocator;
            done = try_write(&bed, write, &err) == SINTER_OK;
            cr_assert(done || err.status == SINTER_E_NOMEM, "write, allocation %llu: %s",
                      (unsigned long long)n, err.text);
            cr_assert_eq(fault.live, 0);
            cr_assert_eq(sinter_memory_used(bed.memory), 0);
            bed.env.allocator = plain;
        }
        bed_fini(&bed);
    }
}

/* Allocations of C++, which the host doesn't see: operators new and delete of the whole process.
 * Those that libsinter_columnar asks for are refused; Arrow leaks where its own are. */

static uint64_t news;                     /* of the library, since it was set to 0 */
static uint64_t refused_new = UINT64_MAX; /* the number of it */

static uintptr_t library_begin; /* its code */
static uintptr_t library_end;

static int
note_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    for (int i = 0; strcmp(info->dlpi_name, COLUMNAR_LIBRARY) == 0 && i < info->dlpi_phnum; i++) {
        if ((info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            library_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            library_end = library_begin + info->dlpi_phdr[i].p_memsz;
        }
    }
    return 0;
}

void *
take_new(size_t size) __asm__("_Znwm");
void
drop_new(void *memory) __asm__("_ZdlPv");
void
drop_sized_new(void *memory, size_t size) __asm__("_ZdlPvm");

void *
take_new(size_t size)
{
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    const bool is_its = caller >= library_begin && caller < library_end;
    void *memory = is_its && news++ == refused_new ? NULL : malloc(size > 0 ? size : 1);

    if (memory == NULL) {
        ((void (*)(void))dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv"))();
    }
    return memory;
}

void
drop_new(void *memory)
{
    free(memory);
}

void
drop_sized_new(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

/* Open and close a file, or begin one, while an allocation is refused. @return how many there were
 */
static uint64_t
open_without(const columnar_bed *bed, int32_t kind, bool writes, uint64_t refused)
{
    const sinter__columnar_api *api = bed->columnar.api;
    const sinter__columnar_write write = write_of(kind);
    sinter__columnar_output *output = NULL;
    sinter__columnar_file *file = NULL;
    struct ArrowSchema schema;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = SINTER_OK;

    bed_schema(&schema);
    news = 0;
    refused_new = refused;
    st = writes ? api->output_open(&bed->columnar.host, "m/w", &schema, &write, &output, &err)
                : api->file_open(&bed->columnar.host, "m/r", 0, 0, &file, &err);
    refused_new = UINT64_MAX;
    cr_expect_eq(st == SINTER_OK, writes ? output != NULL : file != NULL);
    cr_expect(st == SINTER_OK || st == SINTER_E_NOMEM, "allocation %llu: %s",
              (unsigned long long)refused, err.text);
    schema.release(&schema);
    api->output_close(output);
    api->file_close(file);
    cr_expect_eq(sinter_memory_used(bed->memory), 0);
    return news;
}

Test(format_columnar_damage, every_allocation_of_opening_may_fail)
{
    for (int k = 0; k < 4; k++) {
        const int32_t kind = kinds[k / 2];
        const sinter__columnar_write write = write_of(kind);
        columnar_bed bed;
        uint64_t n = 0;

        bed_init(&bed, 0);
        bed_write(&bed, "m/r", &write, 10, 10);
        (void)dl_iterate_phdr(note_library, NULL);
        while (open_without(&bed, kind, k % 2 == 1, n) > n) {
            n++;
        }
        cr_expect_gt(n, 10);
        bed_fini(&bed);
    }
}

Test(format_columnar_damage, a_file_that_ends_early_is_an_error)
{
    for (int k = 0; k < 2; k++) {
        const sinter__columnar_write write = write_of(kinds[k]);
        columnar_bed bed;
        uint64_t size = 0;

        bed_init(&bed, 0);
        bed_write(&bed, "m/r", &write, 500, 500);
        size = bed_size(&bed, "m/r");
        for (uint64_t cut = 0; cut < size; cut += 1 + size / 300) {
            sinter_error err = SINTER_ERROR_INIT;

            bed_copy(&bed, "m/r", "m/x", cut, UINT64_MAX, 0);
            cr_assert_eq(bed_read(&bed, "m/x", &read_all, false, &err), -1, "%llu bytes",
                         (unsigned long long)cut);
            cr_assert_eq(err.status, SINTER_E_CORRUPT, "%s", err.text);
            cr_assert_str_eq(err.file, "m/x");
        }
        bed_fini(&bed);
    }
}

/** Change bytes of a file one by one, from `first` on. @return in how many cases it was seen */
static unsigned
change_bytes(const columnar_bed *bed, uint64_t first, uint64_t step)
{
    const uint64_t size = bed_size(bed, "m/r");
    unsigned found = 0;

    for (uint64_t at = first; at < size; at += step) {
        sinter_error err = SINTER_ERROR_INIT;
        int64_t rows = 0;

        bed_copy(bed, "m/r", "m/x", size, at, (uint8_t)(1u << (at % 8)));
        rows = bed_read(bed, "m/x", &read_all, false, &err);
        cr_assert(rows == 500 || rows == -1, "byte %llu: %lld rows", (unsigned long long)at,
                  (long long)rows);
        found += rows == -1;
        cr_assert_eq(sinter_memory_used(bed->memory), 0);
    }
    return found;
}

Test(format_columnar_damage, a_changed_byte_of_parquet_is_an_error_or_changes_no_count)
{
    const sinter__columnar_write write = write_of(SINTER__COLUMNAR_PARQUET);
    columnar_bed bed;

    bed_init(&bed, (uint64_t)256 << 20);
    bed_write(&bed, "m/r", &write, 500, 500);
    cr_expect_gt(change_bytes(&bed, 0, 11), 300);
    bed_fini(&bed);
}

/** The library that Arrow reads ORC with takes an error of zstd for a size, so chunks are tried
 *  before (docs/columnar.md). */
Test(format_columnar_damage, a_changed_byte_of_orc_is_an_error_or_changes_no_count)
{
    const sinter__columnar_write write = write_of(SINTER__COLUMNAR_ORC);
    columnar_bed bed;

    bed_init(&bed, (uint64_t)256 << 20);
    bed_write(&bed, "m/r", &write, 500, 500);
    cr_expect_gt(change_bytes(&bed, 0, 11), 100);
    cr_expect_gt(change_bytes(&bed, bed_size(&bed, "m/r") - 24, 1), 10);
    bed_fini(&bed);
}

/** Arrow would end the process. */
Test(format_columnar_damage, a_decimal_of_more_digits_than_there_are_is_an_error)
{
    static const char digits[] = "\x28\x14\x30\x02"; /* 20, of which 2 behind the point */
    sinter__columnar_write write = write_of(SINTER__COLUMNAR_ORC);
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io_file *file = NULL;
    sinter_io_range range = {0};
    columnar_bed bed;
    char *at = NULL;

    bed_init(&bed, 0);
    write.codec = SINTER__COLUMNAR_NONE;
    bed_write(&bed, "m/r", &write, 10, 10);
    range.size = bed_size(&bed, "m/r");
    range.data = malloc(range.size);
    cr_assert_eq(bed.env.io->ops->open(bed.env.io, "m/r", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(file->ops->read(file, &range, 1, NULL), SINTER_OK);
    file->ops->close(file);
    at = memmem(range.data, range.size, digits, 4);
    cr_assert_not_null(at);
    bed_copy(&bed, "m/r", "m/x", range.size, (uint64_t)(at + 1 - (char *)range.data), 0x14 ^ 56);
    cr_assert_eq(bed_read(&bed, "m/x", &read_all, false, &err), -1);
    cr_expect_eq(err.status, SINTER_E_CORRUPT);
    cr_expect(strstr(err.text, "type") != NULL, "%s", err.text);
    free(range.data);
    bed_fini(&bed);
}
