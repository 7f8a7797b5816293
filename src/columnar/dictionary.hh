// Which columns of a Parquet file are worth a dictionary, told by the file's first rows, as
// Paimon's writer tells it by the first page.
#ifndef SINTER_COLUMNAR_DICTIONARY_HH
#define SINTER_COLUMNAR_DICTIONARY_HH

#include <arrow/record_batch.h>
#include <parquet/schema.h>

#include <string>
#include <vector>

namespace columnar
{

/** Paths of the leaves for which values and their numbers would take no less than the values as
 *  they are. `words` describes the same columns. */
std::vector<std::string>
columns_without_dictionary(const arrow::RecordBatch &rows, const parquet::SchemaDescriptor &words);

} // namespace columnar

#endif
