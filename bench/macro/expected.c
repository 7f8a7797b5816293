#include "macro/expected.h"

#include <string.h>

typedef struct known {
    const char *name;
    uint64_t div;
    bench_expected expected;
} known;

/* Confirmed by merge programs of several makes; docs/benchmarks.md has the same table. */
static const known KNOWN[] = {
    {"W1",
     1,
     {6250019, 125080, 712494204, 5000000, 4899959, 568395244, UINT64_C(0x993fd6fbedebd1b9),
      UINT64_C(0x554652c7a9b78c14)}},
    {"W2",
     1,
     {625167, 12562, 637310192, 500000, 489824, 509416960, UINT64_C(0xa56699cf393a125e),
      UINT64_C(0x7986031b1fe29099)}},
    {"W3",
     1,
     {24994432, 500716, 591854912, 20000000, 19599338, 470384112, UINT64_C(0x641ce7119a5d247f),
      UINT64_C(0x4ad4a77062ab56f5)}},
    {"W4",
     1,
     {6026432, 0, 699066112, 6000000, 6000000, 696000000, UINT64_C(0xd3fa5992d8ab3d2d),
      UINT64_C(0x4a2e73a557db0890)}},
    {"W5",
     1,
     {6250837, 125178, 712579292, 5000000, 4899870, 568384920, UINT64_C(0x9e3d6860b3c9125f),
      UINT64_C(0xf3c015964e2ecf63)}},
    {"W6",
     1,
     {5504452, 110588, 627457632, 5000000, 4899572, 568350352, UINT64_C(0x10af8ac34afe1cd2),
      UINT64_C(0x6c65fe5ad9e4c84b)}},
    {"W7",
     1,
     {2499252, 49772, 636812506, 2000000, 1960245, 507094367, UINT64_C(0xc4c61cfa1f60ec2d),
      UINT64_C(0x59cb1b0b2f338de4)}},
    {"W1T",
     1,
     {6250019, 125080, 712494204, 5000000, 4899959, 568395244, UINT64_C(0x239d8f2f289ec632),
      UINT64_C(0xbb840942f6686228)}},
    {"W1",
     4,
     {1562375, 31178, 178117700, 1250000, 1225174, 142120184, UINT64_C(0x35bc75c96dd22535),
      UINT64_C(0x22906144f2af7c6c)}},
    {"W2",
     4,
     {156423, 3180, 159423600, 125000, 122408, 127304320, UINT64_C(0xb0d4834451ff0f73),
      UINT64_C(0x4ed1008136918864)}},
    {"W3",
     4,
     {6248585, 125432, 147959128, 5000000, 4899404, 117585696, UINT64_C(0xfaac672244a60aa0),
      UINT64_C(0x4d365a5e93697324)}},
    {"W4",
     4,
     {1506510, 0, 174755160, 1500000, 1500000, 174000000, UINT64_C(0xbb5f4198e0a109d2),
      UINT64_C(0x414329793ead30a8)}},
    {"W5",
     4,
     {1562406, 31365, 178102596, 1250000, 1224728, 142068448, UINT64_C(0xeee384fe972b4601),
      UINT64_C(0xeb18deca39957a27)}},
    {"W6",
     4,
     {1375946, 27765, 156833236, 1250000, 1224753, 142071348, UINT64_C(0x6df6e263225f9b58),
      UINT64_C(0x35134e1bc1a881db)}},
    {"W7",
     4,
     {624889, 12494, 159252727, 500000, 490053, 126658503, UINT64_C(0x53231a10c7175f2b),
      UINT64_C(0xd8039464079fb6cd)}},
    {"W1T",
     4,
     {1562375, 31178, 178117700, 1250000, 1225174, 142120184, UINT64_C(0x9369693a3d72778f),
      UINT64_C(0x179fbea6b06abe7e)}},
    {"W1",
     100,
     {62491, 1208, 7128156, 50000, 49039, 5688524, UINT64_C(0x699402e0ecf41cba),
      UINT64_C(0x496ec51d8fcc0d47)}},
    {"W2",
     100,
     {6268, 134, 6381504, 5000, 4891, 5086640, UINT64_C(0x08178ad358277d96),
      UINT64_C(0xbedf949098cbd727)}},
    {"W3",
     100,
     {249715, 5078, 5911912, 200000, 195978, 4703472, UINT64_C(0x83ee0cb1c200d091),
      UINT64_C(0x2c21b75ee284c0eb)}},
    {"W4",
     100,
     {60250, 0, 6989000, 60000, 60000, 6960000, UINT64_C(0x9528b2a1e7a092b8),
      UINT64_C(0x8c766e5fbfb17daf)}},
    {"W5",
     100,
     {62590, 1284, 7132040, 50000, 48964, 5679824, UINT64_C(0x460b985e3729450c),
      UINT64_C(0x3b09000b2bd1d5c8)}},
    {"W6",
     100,
     {55166, 1075, 6291756, 50000, 49014, 5685624, UINT64_C(0xbfac1ea838d1cc9b),
      UINT64_C(0xbaaaa66496ebd707)}},
    {"W7",
     100,
     {24915, 482, 6363039, 20000, 19625, 5088143, UINT64_C(0x9569537b5a2b9c86),
      UINT64_C(0x287bc3bdaefcc184)}},
    {"W1T",
     100,
     {62491, 1208, 7128156, 50000, 49039, 5688524, UINT64_C(0x78b5832f15298fe7),
      UINT64_C(0x12e1d68ac6722ac8)}},
};

bool
bench_expected_find(const char *name, uint64_t div, bench_expected *out)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (KNOWN[i].div == div && strcmp(KNOWN[i].name, name) == 0) {
            *out = KNOWN[i].expected;
            return true;
        }
    }
    return false;
}

static void
count_run(const bench_workload *workload, uint32_t run, bench_expected *out)
{
    bench_cursor cursor;
    bench_record record;

    bench_cursor_init(&cursor, workload, run);
    while (bench_cursor_next(&cursor, &record)) {
        const uint8_t kind = record.is_delete ? 1 : 0;

        out->records++;
        out->deletes += kind;
        out->bytes_in += record.key_bytes + record.value_bytes;
        out->in_fnv = bench_fnv(out->in_fnv, record.key, record.key_bytes);
        out->in_fnv = bench_fnv(out->in_fnv, &kind, 1);
        out->in_fnv = bench_fnv(out->in_fnv, record.value, record.value_bytes);
    }
}

void
bench_expected_compute(const bench_workload *workload, bench_expected *out)
{
    bench_cursor cursor;
    bench_record record;

    memset(out, 0, sizeof *out);
    out->in_fnv = BENCH_FNV_INIT;
    out->out_fnv = BENCH_FNV_INIT;
    out->distinct = workload->id_count;
    for (uint32_t run = 0; run < workload->run_count; run++) {
        count_run(workload, run, out);
    }
    bench_cursor_init(&cursor, workload, BENCH_LIVE);
    while (bench_cursor_next(&cursor, &record)) {
        out->live++;
        out->bytes_out += record.key_bytes + record.value_bytes;
        out->out_fnv = bench_fnv(out->out_fnv, record.key, record.key_bytes);
        out->out_fnv = bench_fnv(out->out_fnv, record.value, record.value_bytes);
    }
}
