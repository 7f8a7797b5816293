// Streams of Arrow's IPC format, whose bytes go to the caller.
#ifndef SINTER_COLUMNAR_STREAM_HH
#define SINTER_COLUMNAR_STREAM_HH

#include "columnar/columnar.hh"

namespace columnar
{

/** The functions of format/columnar_abi.h. */
sinter_status
stream_open(const sinter__columnar_host *host, const struct ArrowSchema *schema,
            const sinter__columnar_put *put, sinter__columnar_stream **out, sinter_error *err);
sinter_status
stream_append(sinter__columnar_stream *stream, const sinter__columnar_batch *batch,
              sinter_error *err);
sinter_status
stream_finish(sinter__columnar_stream *stream, sinter_error *err);
void
stream_close(sinter__columnar_stream *stream);

} // namespace columnar

#endif
