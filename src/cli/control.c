#include "cli/control.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/signals.h"
#include "cli/text.h"

enum {
    LOOK_NS = 500000000,
    NAP_NS = 50000000, /* of a thread that stands still */
    THREADS_MAX = 1024,
    LINE_CHARS = 256
};

static const char blanks[] = " \t\r";

/* ---- lines ---- */

/* Without blanks at its ends; changes `text`. */
static char *
trim(char *text)
{
    size_t size = 0;

    text += strspn(text, blanks);
    size = strlen(text);
    while (size > 0 && strchr(blanks, text[size - 1]) != NULL) {
        size--;
    }
    text[size] = '\0';
    return text;
}

sinter_status
cli_rate_parse(const char *text, uint64_t *out, sinter_error *err)
{
    const size_t size = strlen(text);
    const bool is_per_second = size > 2 && strcmp(text + size - 2, "/s") == 0;
    char number[LINE_CHARS];

    (void)snprintf(number, sizeof number, "%.*s", (int)(is_per_second ? size - 2 : size), text);
    return sinter_parse_bytes(number, out, err);
}

static bool
read_rate(const char *value, uint64_t *out, char *why)
{
    sinter_error err = SINTER_ERROR_INIT;
    const bool is_good = cli_rate_parse(value, out, &err) == SINTER_OK;

    if (!is_good) {
        (void)snprintf(why, CLI_CONTROL_WHY_CHARS, "%.200s", err.text);
    }
    return is_good;
}

static bool
read_threads(const char *value, uint32_t *out, char *why)
{
    char *end = NULL;
    const unsigned long number = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number < 1 || number > THREADS_MAX) {
        (void)snprintf(why, CLI_CONTROL_WHY_CHARS, "threads are from 1 to %d, not '%.40s'",
                       THREADS_MAX, value);
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

static bool
read_pause(const char *value, bool *out, char *why)
{
    const bool is_true = strcmp(value, "true") == 0;

    if (!is_true && strcmp(value, "false") != 0) {
        (void)snprintf(why, CLI_CONTROL_WHY_CHARS, "pause is true or false, not '%.40s'", value);
        return false;
    }
    *out = is_true;
    return true;
}

bool
cli_control_line(const char *line, cli_load *load, char why[CLI_CONTROL_WHY_CHARS])
{
    char copy[LINE_CHARS];
    char *equals = NULL;
    char *key = NULL;
    char *value = NULL;

    if (snprintf(copy, sizeof copy, "%s", line) >= (int)sizeof copy) {
        (void)snprintf(why, CLI_CONTROL_WHY_CHARS, "the line is too long");
        return false;
    }
    copy[strcspn(copy, "#")] = '\0';
    key = trim(copy);
    if (key[0] == '\0') {
        return true;
    }
    equals = strchr(key, '=');
    if (equals == NULL) {
        (void)snprintf(why, CLI_CONTROL_WHY_CHARS, "'%.40s' is not \"key = value\"", key);
        return false;
    }
    *equals = '\0';
    value = trim(equals + 1);
    key = trim(key);
    if (strcmp(key, "rate") == 0) {
        return read_rate(value, &load->rate, why);
    }
    if (strcmp(key, "read-rate") == 0) {
        return read_rate(value, &load->read_rate, why);
    }
    if (strcmp(key, "threads") == 0) {
        return read_threads(value, &load->threads, why);
    }
    if (strcmp(key, "pause") == 0) {
        return read_pause(value, &load->is_paused, why);
    }
    (void)snprintf(why, CLI_CONTROL_WHY_CHARS,
                   "unknown key '%.40s'; there are rate, read-rate, threads, pause", key);
    return false;
}

/* ---- the file; all with the mutex held ---- */

/* Does `text` hold this very line? */
static bool
has_line(const char *text, const char *line, size_t size)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        if (length == size && memcmp(text, line, size) == 0) {
            return true;
        }
        text += length + (text[length] == '\n');
    }
    return false;
}

/* What is wrong with a line is said when the line is new. */
static void
take_lines(cli_control *control, const char *text, cli_load *load)
{
    const char *line = text;

    for (int number = 1; *line != '\0'; number++) {
        const size_t size = strcspn(line, "\n");
        char why[CLI_CONTROL_WHY_CHARS];
        char copy[CLI_CONTROL_BYTES_MAX + 1];

        (void)snprintf(copy, sizeof copy, "%.*s", (int)size, line);
        if (!cli_control_line(copy, load, why) && !has_line(control->text, line, size)) {
            cli_note("%s:%d: %s; the line is ignored", control->path, number, why);
        }
        line += size + (line[size] == '\n');
    }
}

static void
apply(cli_control *control, const cli_load *load)
{
    const sinter_io_limit_mode sides[] = {SINTER_IO_LIMIT_WRITES, SINTER_IO_LIMIT_READS};
    const uint64_t rates[] = {load->rate, load->read_rate};
    const uint64_t before[] = {control->load.rate, control->load.read_rate};
    char a[CLI_NUMBER_CHARS];
    char b[CLI_NUMBER_CHARS];

    for (size_t i = 0; i < 2; i++) {
        if (rates[i] != before[i]) { /* setting one anew would let it begin anew */
            const sinter_status st =
                sinter_io_limit_set_side(control->limited, sides[i], rates[i], NULL);

            assert(st == SINTER_OK);
            (void)st;
        }
    }
    cli_gate_set(&control->gate, load->is_paused ? 0 : load->threads);
    if (control->is_verbose) {
        cli_note("%s: rate %s, read-rate %s (0B: unlimited), threads %u, pause %s", control->path,
                 cli_bytes_text(load->rate, a), cli_bytes_text(load->read_rate, b),
                 (unsigned)load->threads, load->is_paused ? "true" : "false");
    }
    control->load = *load;
}

/* Read all of it. @return 0, or an errno */
static int
read_file(const char *path, char text[CLI_CONTROL_BYTES_MAX + 2])
{
    FILE *file = fopen(path, "rbe");
    size_t size = 0;
    int sys_errno = 0;

    text[0] = '\0';
    if (file == NULL) {
        return errno;
    }
    errno = 0;
    size = fread(text, 1, CLI_CONTROL_BYTES_MAX + 1, file);
    sys_errno = ferror(file) != 0 ? errno : size > CLI_CONTROL_BYTES_MAX ? EFBIG : 0;
    text[size] = '\0';
    (void)fclose(file);
    return sys_errno;
}

/* A file that isn't there changes nothing, and is waited for. */
static void
look(cli_control *control)
{
    char text[CLI_CONTROL_BYTES_MAX + 2];
    cli_load load = control->load;
    const int sys_errno = read_file(control->path, text);

    if (sys_errno != 0) {
        if (sys_errno != ENOENT && sys_errno != control->sys_errno) {
            cli_note("%s: can't read: %s", control->path, strerror(sys_errno));
        }
    } else if (text[0] != '\0' && strcmp(text, control->text) != 0) { /* "": it is being written */
        take_lines(control, text, &load);
        memcpy(control->text, text, strlen(text) + 1);
        apply(control, &load);
    }
    control->sys_errno = sys_errno;
}

/* ---- the whole ---- */

void
cli_control_begin(cli_control *control, const char *path, const cli_load *load, sinter_io *limited,
                  const sinter_clock *clock)
{
    control->path = path;
    control->clock = clock;
    control->limited = limited;
    control->load = *load;
    (void)pthread_mutex_init(&control->mutex, NULL);
    cli_gate_init(&control->gate, load->threads, clock);
    look(control);
    atomic_store(&control->look_ns, clock->monotonic_ns(clock->ctx) + LOOK_NS);
}

void
cli_control_end(cli_control *control)
{
    atomic_store(&control->is_over, true);
}

void
cli_control_fini(cli_control *control)
{
    cli_gate_fini(&control->gate);
    (void)pthread_mutex_destroy(&control->mutex);
}

static void
look_if_due(cli_control *control)
{
    const int64_t now_ns = control->clock->monotonic_ns(control->clock->ctx);
    int64_t due_ns = atomic_load(&control->look_ns);

    if (now_ns >= due_ns &&
        atomic_compare_exchange_strong(&control->look_ns, &due_ns, now_ns + LOOK_NS)) {
        (void)pthread_mutex_lock(&control->mutex);
        look(control);
        (void)pthread_mutex_unlock(&control->mutex);
    }
}

bool
cli_control_poll(void *ctx)
{
    cli_control *control = ctx;

    while (!cli_is_cancelled(NULL) && !atomic_load(&control->is_over)) {
        look_if_due(control);
        if (cli_gate_may_work(&control->gate)) {
            return false;
        }
        control->clock->sleep_ns(control->clock->ctx, NAP_NS);
    }
    return cli_is_cancelled(NULL);
}

/* ---- tasks ---- */

typedef struct gated_task {
    cli_control *control;
    void (*work)(void *arg);
    void *arg;
} gated_task;

static void
run_gated(void *arg)
{
    gated_task task = *(gated_task *)arg;

    free(arg);
    cli_gate_enter(&task.control->gate);
    (void)cli_control_poll(task.control); /* a cancelled task must come to its end as well */
    task.work(task.arg);
    cli_gate_leave(&task.control->gate);
}

static sinter_status
submit_gated(void *ctx, void (*work)(void *arg), void *arg)
{
    cli_control *control = ctx;
    gated_task *task = malloc(sizeof *task);
    sinter_status st = SINTER_E_NOMEM;

    if (task != NULL) {
        *task = (gated_task){.control = control, .work = work, .arg = arg};
        st = control->under.submit(control->under.ctx, run_gated, task);
        if (st != SINTER_OK) {
            free(task);
        }
    }
    return st;
}

sinter_executor
cli_control_executor(cli_control *control, const sinter_executor *under)
{
    control->under = *under;
    return (sinter_executor){
        .struct_size = (uint32_t)sizeof(sinter_executor), .ctx = control, .submit = submit_gated};
}
