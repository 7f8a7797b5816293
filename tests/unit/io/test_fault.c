#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "sinter/io.h"

TestSuite(io_fault, .timeout = 30);

typedef struct fixture {
    sinter_io *base;
    sinter_io *io;
} fixture;

static fixture
make(void)
{
    fixture made = {0};

    cr_assert_eq(sinter_io_create(sinter_env_default(), SINTER_IO_MEMORY, NULL, &made.base, NULL),
                 SINTER_OK);
    cr_assert_eq(sinter_io_fault_create(sinter_env_default(), made.base, NULL, &made.io, NULL),
                 SINTER_OK);
    return made;
}

static void
release(fixture *made)
{
    sinter_io_destroy(made->io);
    sinter_io_destroy(made->base);
}

static void
rule(fixture *made, sinter_fault_kind kind, uint64_t at_call, const char *only_op)
{
    const sinter_fault_options options = {.struct_size = (uint32_t)sizeof options,
                                          .kind = kind,
                                          .at_call = at_call,
                                          .only_op = only_op};

    sinter_io_fault_set(made->io, &options);
}

Test(io_fault, the_call_that_was_named_fails_and_no_other)
{
    fixture made = make();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = made.io;

    rule(&made, SINTER_FAULT_EIO, 2, NULL);
    cr_expect_eq(io->ops->mkdir(io, "a", &err), SINTER_OK);
    cr_expect_eq(io->ops->mkdir(io, "b", &err), SINTER_OK);
    cr_expect_eq(io->ops->mkdir(io, "c", &err), SINTER_E_IO);
    cr_expect_eq(err.sys_errno, EIO);
    cr_expect(strcmp(err.file, "c") == 0 && strstr(err.text, "mkdir") != NULL);
    cr_expect_eq(io->ops->mkdir(io, "c", &err), SINTER_OK);
    cr_expect_eq(sinter_io_fault_calls(io), 4);
    rule(&made, SINTER_FAULT_ENOSPC, 0, NULL);
    cr_expect_eq(sinter_io_fault_calls(io), 0, "a new rule counts anew");
    cr_expect_eq(io->ops->mkdir(io, "d", &err), SINTER_E_NO_SPACE);
    cr_expect_eq(err.sys_errno, ENOSPC);
    rule(&made, SINTER_FAULT_NONE, 0, NULL);
    cr_expect_eq(io->ops->mkdir(io, "d", &err), SINTER_OK);
    release(&made);
}

Test(io_fault, only_the_operation_that_was_named_counts)
{
    fixture made = make();
    sinter_io *io = made.io;
    sinter_io_file *file = NULL;

    rule(&made, SINTER_FAULT_EIO, 1, "append");
    cr_assert_eq(io->ops->create(io, "/", 0, &file, NULL), SINTER_OK);
    cr_expect_eq(io->ops->append(file, "a", 1, NULL), SINTER_OK);
    cr_expect_eq(io->ops->sync(file, NULL), SINTER_OK);
    cr_expect_eq(io->ops->append(file, "b", 1, NULL), SINTER_E_IO);
    cr_expect_eq(io->ops->append(file, "c", 1, NULL), SINTER_OK);
    cr_expect_eq(sinter_io_fault_calls(io), 3);
    io->ops->close(file);
    release(&made);
}

Test(io_fault, half_of_a_torn_write_arrives)
{
    fixture made = make();
    sinter_io *io = made.io;
    sinter_io_file *file = NULL;
    uint64_t size = 0;

    cr_assert_eq(io->ops->create(io, "/", 0, &file, NULL), SINTER_OK);
    rule(&made, SINTER_FAULT_TORN_WRITE, 0, NULL);
    cr_expect_eq(io->ops->append(file, "0123456789", 10, NULL), SINTER_E_IO);
    cr_expect_eq(io->ops->size(file, &size, NULL), SINTER_OK);
    cr_expect_eq(size, 5);
    rule(&made, SINTER_FAULT_TORN_WRITE, 0, NULL);
    cr_expect_eq(io->ops->sync(file, NULL), SINTER_E_IO, "for others a plain failure");
    io->ops->close(file);
    release(&made);
}

Test(io_fault, after_a_crash_nothing_works_until_the_restart)
{
    fixture made = make();
    sinter_error err = SINTER_ERROR_INIT;
    sinter_io *io = made.io;
    sinter_io_file *file = NULL;
    sinter_io_stat about;
    uint64_t removed = 7;

    cr_assert_eq(io->ops->create(io, "/", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->append(file, "a", 1, NULL), SINTER_OK);
    cr_assert_eq(io->ops->sync(file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->publish(file, "a", NULL), SINTER_OK);
    io->ops->close(file);
    rule(&made, SINTER_FAULT_CRASH, 0, NULL);
    cr_expect_eq(io->ops->sync_dir(io, "/", &err), SINTER_E_IO);
    cr_expect_eq(io->ops->sync_dir(io, "/", &err), SINTER_E_IO, "and so on");
    cr_expect_eq(io->ops->stat(io, "a", &about, &err), SINTER_E_IO);
    cr_expect_eq(io->ops->lock(io, "b", &file, &err), SINTER_E_IO);
    rule(&made, SINTER_FAULT_NONE, 0, NULL);
    cr_expect_eq(io->ops->stat(io, "a", &about, &err), SINTER_E_IO, "a rule brings no power");
    release(&made);

    made = make();
    io = made.io;
    cr_assert_eq(io->ops->create(io, "/", 0, &file, NULL), SINTER_OK);
    cr_assert_eq(io->ops->publish(file, "a", NULL), SINTER_OK);
    rule(&made, SINTER_FAULT_CRASH, 0, NULL);
    cr_expect_eq(io->ops->sync_dir(io, "/", &err), SINTER_E_IO);
    cr_expect_eq(sinter_io_fault_restart(io, &err), SINTER_E_BUSY, "files first");
    io->ops->close(file);
    cr_assert_eq(sinter_io_fault_restart(io, &err), SINTER_OK);
    cr_expect_eq(io->ops->stat(io, "a", &about, &err), SINTER_E_NOT_FOUND, "never synced");
    cr_expect_eq(io->ops->clean(io, "/", &removed, &err), SINTER_OK);
    cr_expect_eq(removed, 0);
    cr_expect_eq(sinter_io_fault_restart(made.base, &err), SINTER_E_INVALID);
    release(&made);
}

Test(io_fault, a_read_that_was_begun_is_ended_beneath_whatever_is_told)
{
    fixture made = make();
    sinter_io *io = made.io;
    sinter_io_file *file = NULL;
    sinter_io_ticket ticket;
    char text[2] = "..";
    const sinter_io_range range = {.data = text, .size = 2};

    cr_assert_eq(io->ops->replace(io, "a", "xy", 2, NULL), SINTER_OK);
    cr_assert_eq(io->ops->open(io, "a", 0, &file, NULL), SINTER_OK);
    rule(&made, SINTER_FAULT_EIO, 1, NULL);
    cr_assert_eq(io->ops->read_begin(file, &range, &ticket, NULL), SINTER_OK);
    cr_expect_eq(io->ops->read_end(file, &ticket, NULL), SINTER_E_IO);
    cr_expect(memcmp(text, "xy", 2) == 0, "the kernel was done before the failure was told");
    rule(&made, SINTER_FAULT_EIO, 0, NULL);
    cr_expect_eq(io->ops->read_begin(file, &range, &ticket, NULL), SINTER_E_IO);
    io->ops->close(file);
    release(&made);
}
