// Times before 1970 that are no whole seconds, which Arrow writes to ORC in a way of its own.
//
// ORC keeps a time as seconds and nanoseconds. Nanoseconds are never below 0, and seconds are those
// of the time in whole milliseconds, divided toward zero: so a time before 1970 with milliseconds
// counts a second more than it has, which readers take off again. Arrow divides everything toward
// zero, and readers other than Arrow fail at nanoseconds below 0. Seconds, nanoseconds and
// statistics are put right here, number by number.
#ifndef SINTER_COLUMNAR_ORC_TIMES_HH
#define SINTER_COLUMNAR_ORC_TIMES_HH

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <vector>

#include "columnar/fields.hh"
#include "columnar/message.hh"

namespace columnar
{

/**
 * Do these rows have such times?
 * @param types  as long as there are types; those that have some, by the numbers that ORC gives
 *               them, become true
 * @return NotImplemented: times of the last second before 1970 with milliseconds, whose second is 0
 *         in ORC, as that of times after 1970
 */
arrow::Result<bool>
find_early_times(const arrow::RecordBatch &rows, std::vector<bool> *types);

/** What a time is, by its nanoseconds as Arrow has them stored. */
enum class OrcTime {
    RIGHT,
    EARLY,         // its nanoseconds are others
    EARLY_BY_LESS, // its second is one less, too
};

/** Put nanoseconds right, in the form in which they are stored. Invalid: they are none. */
arrow::Result<OrcTime>
mend_nanos(int64_t *stored);

/** Put the second of such a time right, in the form in which it is stored. Invalid: it is not
 *  before 1970. */
arrow::Status
mend_second(OrcTime time, int64_t *stored);

/** Statistics of a column, of whose times nanoseconds are not below 0. */
arrow::Result<Message>
mend_statistics(Fields statistics);

} // namespace columnar

#endif
