// Timestamps as INT96: a Julian day, and nanoseconds of it that are never negative. Arrow's own
// encoder writes negative ones for times before 1970, which Java refuses to read.
#ifndef SINTER_COLUMNAR_INT96_HH
#define SINTER_COLUMNAR_INT96_HH

#include <parquet/column_writer.h>

#include <memory>

namespace columnar
{

/** A column of INT96 that hands everything on to another, but for the values, which it encodes.
 *  `inner` is borrowed. */
std::unique_ptr<parquet::ColumnWriter>
with_own_int96(parquet::ColumnWriter *inner);

} // namespace columnar

#endif
