#include "cli/progress.h"

#include <stdio.h>
#include <string.h>

#include "cli/text.h"

enum { BAR_COLUMNS = 20, SHOW_EVERY_NS = 100000000 };

void
cli_progress_begin(cli_progress *progress, const char *what, uint64_t total_bytes,
                   uint64_t total_records, const sinter_clock *clock)
{
    progress->what = what;
    progress->total_bytes = total_bytes;
    progress->total_records = total_records;
    progress->bytes = 0;
    progress->records = 0;
    progress->clock = clock;
    progress->begin_ns = clock->monotonic_ns(clock->ctx);
    progress->shown_ns = progress->begin_ns;
}

static void
put_bar(double share, char *out)
{
    const size_t full = (size_t)(share * BAR_COLUMNS);

    memset(out, '-', BAR_COLUMNS);
    memset(out, '#', full);
    out[BAR_COLUMNS] = '\0';
}

void
cli_progress_text(const cli_progress *progress, int64_t elapsed_ns, char *out, size_t size)
{
    const double seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : 1e-9;
    const double rate = (double)progress->bytes / seconds;
    char bar[BAR_COLUMNS + 1];
    char bytes[CLI_NUMBER_CHARS];
    char total[CLI_NUMBER_CHARS];
    char speed[CLI_NUMBER_CHARS];
    char records[CLI_NUMBER_CHARS];
    char left[CLI_NUMBER_CHARS];
    double share;

    cli_bytes_text(progress->bytes, bytes);
    cli_bytes_text((uint64_t)rate, speed);
    cli_count_text(progress->records, records);
    if (progress->total_bytes == 0) {
        (void)snprintf(out, size, "%s: %s, %s/s, %s records", progress->what, bytes, speed,
                       records);
        return;
    }
    share = (double)progress->bytes / (double)progress->total_bytes;
    share = share > 1 ? 1 : share;
    put_bar(share, bar);
    cli_bytes_text(progress->total_bytes, total);
    cli_seconds_text(rate > 0 ? (1 - share) * (double)progress->total_bytes / rate : 0, left);
    (void)snprintf(out, size, "%s %3.0f%% [%s] %s of %s, %s/s, %s records, ETA %s", progress->what,
                   share * 100, bar, bytes, total, speed, records, rate > 0 ? left : "unknown");
}

static void
show(cli_progress *progress, int64_t now_ns)
{
    char line[256];

    cli_progress_text(progress, now_ns - progress->begin_ns, line, sizeof line);
    if (progress->is_terminal) {
        fprintf(stderr, "\r%s\033[K", line);
    } else {
        fprintf(stderr, "%s\n", line);
    }
    (void)fflush(stderr);
    progress->shown_ns = now_ns;
    progress->is_shown = true;
}

void
cli_progress_set(cli_progress *progress, uint64_t bytes, uint64_t records)
{
    int64_t now_ns;

    /* the library tells bytes by whole files; records tell how far inside of one it is */
    progress->bytes = progress->total_records == 0
                          ? bytes
                          : (uint64_t)((double)progress->total_bytes * (double)records /
                                       (double)progress->total_records);
    progress->records = records;
    if (!progress->is_on || progress->clock == NULL) {
        return;
    }
    now_ns = progress->clock->monotonic_ns(progress->clock->ctx);
    if (now_ns - progress->shown_ns >= SHOW_EVERY_NS) {
        show(progress, now_ns);
    }
}

void
cli_progress_end(cli_progress *progress, bool is_done)
{
    if (!progress->is_on || progress->clock == NULL) {
        return;
    }
    if (is_done) {
        progress->bytes = progress->total_bytes > 0 ? progress->total_bytes : progress->bytes;
        progress->records =
            progress->total_records > 0 ? progress->total_records : progress->records;
    }
    if (progress->is_terminal && progress->is_shown) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    } else if (!progress->is_terminal) {
        show(progress, progress->clock->monotonic_ns(progress->clock->ctx));
    }
    progress->clock = NULL;
    progress->is_shown = false;
}
