// Runs of numbers as ORC has them (run length encoding, version 2, of the ORC v1 specification).
#ifndef SINTER_COLUMNAR_ORC_RLE_HH
#define SINTER_COLUMNAR_ORC_RLE_HH

#include <cstddef>
#include <cstdint>

namespace columnar
{

constexpr size_t kOrcRunValues = 512;                          // of a run at most
constexpr size_t kOrcRunBytes = 12 + (kOrcRunValues + 31) * 8; // of one with patches

/** A run, decoded. */
struct OrcRun {
    size_t count = 0;
    size_t bytes = 0; // that it takes encoded
    int64_t values[kOrcRunValues] = {0};
};

/** Decode the run that begins at `data`. Numbers of an unsigned stream may be negative: they are
 *  taken as 64 bits. false: there is no whole run. */
bool
decode_orc_run(const uint8_t *data, size_t size, bool is_signed, OrcRun *out);

/** Encode 1 to kOrcRunValues numbers as one run. @return its size, at most kOrcRunBytes, which
 *  `out` has room for */
size_t
encode_orc_run(const int64_t *values, size_t count, bool is_signed, uint8_t *out);

} // namespace columnar

#endif
