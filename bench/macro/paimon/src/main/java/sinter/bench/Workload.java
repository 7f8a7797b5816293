package sinter.bench;

import java.util.List;

/** The generator of docs/benchmarks.md, "Workloads": the same records as bench/macro/workload.c. */
final class Workload {
    /** How ids are spread over runs. */
    private enum Placement { OVERLAP, DISJOINT, ZIPF }

    /** What keys look like; MIXED also has values of any size. */
    private enum Shape { SPREAD, TIED, MIXED }

    /** Takes the records of a run in key order. A delete has an empty value. */
    interface Sink {
        void accept(byte[] key, byte[] value, boolean isDelete) throws Exception;
    }

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    // Tags that keep the uses of the hash apart; per-run tags add 16 * run.
    private static final int TAG_PLACE = 1;
    private static final int TAG_DELETE = 2;
    private static final int TAG_VALUE = 3;
    private static final int TAG_KEY = 4;
    private static final int TAG_KEY_TAIL = 5;
    private static final int TAG_ZIPF = 6;
    private static final int TAG_SIZE = 7;

    // Of mixed values: up to this many in a thousand, the least size, the number of sizes.
    private static final int[][] SIZES = {
        {600, 0, 65}, {900, 64, 193}, {990, 256, 769}, {999, 1024, 7169}, {1000, 8192, 57345}};

    private static final List<Workload> ALL = List.of(
            new Workload("W1", 1, 5_000_000, 8, 16, 100, Placement.OVERLAP, Shape.SPREAD),
            new Workload("W2", 2, 500_000, 8, 16, 1024, Placement.OVERLAP, Shape.SPREAD),
            new Workload("W3", 3, 20_000_000, 8, 8, 16, Placement.OVERLAP, Shape.SPREAD),
            new Workload("W4", 4, 6_000_000, 8, 16, 100, Placement.DISJOINT, Shape.SPREAD),
            new Workload("W5", 5, 5_000_000, 64, 16, 100, Placement.OVERLAP, Shape.SPREAD),
            new Workload("W6", 6, 5_000_000, 8, 16, 100, Placement.ZIPF, Shape.SPREAD),
            new Workload("W7", 7, 2_000_000, 8, 0, 0, Placement.OVERLAP, Shape.MIXED),
            new Workload("W1T", 1, 5_000_000, 8, 16, 100, Placement.OVERLAP, Shape.TIED));

    final int runs;
    final int keyBytes; // of every key; 0 where they differ
    private final String name;
    private final long seed;
    private final long ids;
    private final long stride;
    private final int valueBytes;
    private final Placement placement;
    private final Shape shape;

    private Workload(String name, long seed, long ids, int runs, int keyBytes, int valueBytes,
            Placement placement, Shape shape) {
        this.name = name;
        this.seed = seed;
        this.ids = ids;
        this.runs = runs;
        this.keyBytes = keyBytes;
        this.valueBytes = valueBytes;
        this.placement = placement;
        this.shape = shape;
        this.stride = Long.divideUnsigned(-1L, ids);
    }

    static Workload of(String name, long div) {
        for (Workload w : ALL) {
            if (w.name.equals(name) && w.ids / div >= w.runs) {
                return new Workload(name, w.seed, w.ids / div, w.runs, w.keyBytes, w.valueBytes,
                        w.placement, w.shape);
            }
        }
        throw new IllegalArgumentException("no workload " + name + " at div " + div);
    }

    /** Keys are three columns, encoded. */
    boolean isMixed() {
        return shape == Shape.MIXED;
    }

    /** Hand over the records of one run; 0 is the oldest. */
    void forEach(int run, Sink sink) throws Exception {
        for (long id = 0; id < ids; id++) {
            if (isMember(id, run)) {
                boolean delete = isDelete(id, run);
                sink.accept(key(id), delete ? new byte[0] : value(id, run), delete);
            }
        }
    }

    private static long mix(long x) {
        long z = x + GOLDEN;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    private long hash(long id, long tag) {
        return mix(mix(mix(seed) ^ id) ^ tag);
    }

    private long hash(long id, long tag, int run) {
        return hash(id, tag + 16L * run);
    }

    /** Bits 32 and 33 both 0: one id in four has a second version. */
    private static boolean hasSecondVersion(long hash) {
        return (hash >>> 32 & 3) == 0;
    }

    private boolean isMember(long id, int run) {
        switch (placement) {
            case DISJOINT:
                return isMemberDisjoint(id, run);
            case ZIPF:
                long rank = 1 + id * 2654435761L % ids;
                return run == 0
                        || Long.remainderUnsigned(hash(id, TAG_ZIPF, run), rank) < ids / 500;
            default:
                long hash = hash(id, TAG_PLACE);
                long home = Long.remainderUnsigned(hash, runs);
                return run == home || hasSecondVersion(hash)
                        && run == (home + 1 + (hash >>> 40) % (runs - 1)) % runs;
        }
    }

    private boolean isMemberDisjoint(long id, int run) {
        long segmentIds = ids / runs;
        long segment = Math.min(id / segmentIds, runs - 1);
        if (segment == runs - 1 || id - segment * segmentIds < segmentIds - segmentIds / 50) {
            return run == segment;
        }
        long hash = hash(id, TAG_PLACE);
        return run == segment + (hash & 1)
                || run == segment + 1 - (hash & 1) && hasSecondVersion(hash);
    }

    private boolean isDelete(long id, int run) {
        return placement != Placement.DISJOINT
                && Long.remainderUnsigned(hash(id, TAG_DELETE, run), 50) == 0;
    }

    private byte[] key(long id) {
        if (shape == Shape.MIXED) {
            return mixedKey(id);
        }
        long head = id * stride + Long.remainderUnsigned(hash(id, TAG_KEY), stride);
        long tail = hash(id, TAG_KEY_TAIL);
        if (shape == Shape.TIED) {
            head = (id >>> 6) * (stride << 6);
            tail = (id & 63) << 58 | tail >>> 6;
        }
        byte[] key = new byte[keyBytes];
        for (int i = 0; i < keyBytes; i++) {
            key[i] = (byte) ((i < 8 ? head : tail) >>> (56 - 8 * (i & 7)));
        }
        return key;
    }

    /** Two digits of the first string and one of the last order the ids; the fill doesn't. */
    private byte[] mixedKey(long id) {
        long group = id / 1000;
        int digit = (int) (id % 10);
        byte[] first = new byte[2 + skewed(hash(group, TAG_KEY), 120)];
        byte[] last = new byte[digit == 0 ? 0 : 1 + skewed(hash(id, TAG_KEY_TAIL), 71)];

        first[0] = (byte) (0x20 + group / 64);
        first[1] = (byte) (0x20 + group % 64);
        fill(hash(group, TAG_KEY), first, 2, first.length);
        if (digit > 0) {
            last[0] = (byte) ('0' + digit);
            fill(hash(id, TAG_KEY_TAIL), last, 1, last.length);
        }
        return MixedKey.encode(first, (int) (id % 1000 / 10) - 50, last);
    }

    /** 0..most, short ones more often: the third power of a uniform number. */
    private static int skewed(long hash, int most) {
        long u = hash & 0xFFFF;
        return (int) ((most + 1) * (u * u * u) >>> 48);
    }

    private int valueSize(long id, int run) {
        if (shape != Shape.MIXED) {
            return valueBytes;
        }
        long hash = hash(id, TAG_SIZE, run);
        long permille = Long.remainderUnsigned(hash, 1000);
        int i = 0;
        while (permille >= SIZES[i][0]) {
            i++;
        }
        return SIZES[i][1] + (int) ((hash >>> 32) % SIZES[i][2]);
    }

    /** The second half repeats the first, so that every codec finds something. */
    private byte[] value(long id, int run) {
        byte[] value = new byte[valueSize(id, run)];
        int half = value.length - value.length / 2;

        fill(hash(id, TAG_VALUE, run), value, 0, half);
        System.arraycopy(value, 0, value, half, value.length - half);
        return value;
    }

    /** Printable bytes that follow from the state. */
    private static void fill(long state, byte[] out, int begin, int end) {
        int done = begin;
        while (done < end) {
            long word = mix(state);
            state += GOLDEN;
            for (int i = 0; i < 10 && done < end; i++) {
                out[done++] = (byte) (0x20 + (word & 63));
                word >>>= 6;
            }
        }
    }
}
