#include "cli/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/signals.h"
#include "cli/text.h"

enum { TASKS_MAX = 1024 }; /* that may wait for a thread */

static void
on_progress(void *ctx, const sinter_event *event)
{
    cli *session = ctx;

    cli_progress_set(&session->progress, event->bytes, event->records);
}

static void
on_log(void *ctx, const sinter_event *event)
{
    const cli *session = ctx;

    if (session->is_verbose && event->text != NULL) {
        cli_note("%s%s%s", event->file != NULL ? event->file : "", event->file != NULL ? ": " : "",
                 event->text);
    }
}

static bool
wants_progress(const cli_verb *verb, const cli_common *common)
{
    if ((verb->takes & CLI_TAKES_PROGRESS) == 0 || common->progress == CLI_PROGRESS_NEVER) {
        return false;
    }
    return common->progress == CLI_PROGRESS_ALWAYS ||
           (!common->quiet && isatty(STDERR_FILENO) != 0);
}

void
cli_session_init(cli *session, const cli_verb *verb, const cli_common *common)
{
    static const sinter_io_kind kinds[] = {SINTER_IO_AUTO, SINTER_IO_POSIX, SINTER_IO_URING};
    const char *columnar = getenv("SINTER_COLUMNAR_LIBRARY");

    memset(session, 0, sizeof *session);
    session->verb = verb;
    session->io_kind = kinds[common->io];
    session->is_verbose = common->verbose;
    session->progress.is_on = wants_progress(verb, common);
    session->progress.is_terminal = isatty(STDERR_FILENO) != 0;
    session->listener = (sinter_listener){
        .struct_size = (uint32_t)sizeof session->listener,
        .ctx = session,
        .progress = on_progress,
        .log = on_log,
    };
    sinter_env_init(&session->boot);
    session->boot.listener = &session->listener;
    session->boot.columnar_library = columnar != NULL && columnar[0] != '\0' ? columnar : NULL;
}

static void
end_work(cli *session)
{
    if (session->is_controlled) {
        cli_control_end(&session->control);
    }
    sinter_pool_destroy(session->pool);
    if (session->is_controlled) {
        cli_control_fini(&session->control);
    }
    session->is_controlled = false;
    session->pool = NULL;
    sinter_io_destroy(session->limited);
    sinter_io_destroy(session->io); /* gives its buffers back to the budget */
    sinter_memory_destroy(session->memory);
    session->limited = NULL;
    session->io = NULL;
    session->memory = NULL;
}

/* Registered buffers are lent out of the budget: no more of them than an eighth of it holds. */
static uint32_t
buffer_count(uint64_t memory_bytes)
{
    enum { BUDGET_PARTS = 8, BUFFER_BYTES = 256 << 10, USUAL = 16 };
    const uint64_t most = memory_bytes / BUDGET_PARTS / BUFFER_BYTES;

    return memory_bytes == 0 || most >= USUAL ? 0 : most < 1 ? 1 : (uint32_t)most;
}

int
cli_session_start(cli *session, uint64_t memory_bytes)
{
    const sinter_io_options options = {.struct_size = (uint32_t)sizeof options,
                                       .buffer_count = buffer_count(memory_bytes)};
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st;

    end_work(session);
    session->env = session->boot;
    st = sinter_memory_create(&session->boot, memory_bytes, &session->memory, &err);
    if (st == SINTER_OK) {
        session->env.memory = session->memory;
        st = sinter_io_create(&session->env, session->io_kind, &options, &session->io, &err);
    }
    if (st != SINTER_OK) {
        return cli_fail_status(st, &err);
    }
    session->env.io = session->io;
    return CLI_EXIT_OK;
}

void
cli_session_cancel(cli *session, bool (**is_cancelled_out)(void *ctx), void **ctx_out)
{
    *is_cancelled_out = session->is_controlled ? cli_control_poll : cli_is_cancelled;
    *ctx_out = session->is_controlled ? &session->control : NULL;
}

static sinter_status
start_limit(cli *session, const cli_load *load, const char *control, sinter_error *err)
{
    sinter_io_limit_options options = {.struct_size = (uint32_t)sizeof options,
                                       .bytes_per_second = load->rate,
                                       .read_bytes_per_second = load->read_rate};
    sinter_status st = SINTER_OK;

    if (load->rate == 0 && load->read_rate == 0 && control == NULL) {
        return SINTER_OK;
    }
    session->is_controlled = control != NULL;
    cli_session_cancel(session, &options.is_cancelled, &options.cancel_ctx);
    st = sinter_io_limit_create(&session->boot, session->io, &options, &session->limited, err);
    if (st != SINTER_OK) {
        session->is_controlled = false;
        return st;
    }
    session->env.io = session->limited;
    if (session->is_controlled) {
        session->control.is_verbose = session->is_verbose;
        cli_control_begin(&session->control, control, load, session->limited, &session->boot.clock);
    }
    return SINTER_OK;
}

/* With a control file as many threads as may be asked for; the gate holds them back. */
static sinter_status
start_threads(cli *session, uint32_t count, sinter_error *err)
{
    sinter_status st = SINTER_OK;

    if (count < 2) {
        return SINTER_OK;
    }
    st = sinter_pool_create(&session->boot, count - 1, TASKS_MAX, &session->pool, err);
    if (st == SINTER_OK) {
        session->env.executor = sinter_pool_executor(session->pool);
        if (session->is_controlled) {
            session->env.executor = cli_control_executor(&session->control, &session->env.executor);
        }
    }
    return st;
}

int
cli_session_load(cli *session, const cli_load *load, const char *control)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t most = processors > 0 ? (uint32_t)processors : 1;
    sinter_error err = SINTER_ERROR_INIT;
    sinter_status st = start_limit(session, load, control, &err);

    if (st == SINTER_OK) {
        st = start_threads(session, control == NULL && load->threads < most ? load->threads : most,
                           &err);
    }
    return st == SINTER_OK ? CLI_EXIT_OK : cli_fail_status(st, &err);
}

void
cli_session_fini(cli *session)
{
    end_work(session);
}

const char *
cli_style(enum cli_style_name style)
{
    static const char *const sequences[] = {
        [CLI_STYLE_PLAIN] = "\033[0m",
        [CLI_STYLE_TITLE] = "\033[1m",
        [CLI_STYLE_WARN] = "\033[33m",
    };
    static int is_on = -1;

    if (is_on < 0) {
        const char *no_color = getenv("NO_COLOR");
        const char *terminal = getenv("TERM");

        is_on = (no_color == NULL || no_color[0] == '\0') && isatty(STDOUT_FILENO) != 0 &&
                (terminal == NULL || strcmp(terminal, "dumb") != 0);
    }
    return is_on != 0 ? sequences[style] : "";
}
