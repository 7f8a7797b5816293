package sinter.bench;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A key of three columns, STRING, INT, STRING, as docs/key-encoding.md encodes it. No string of
 * the workload holds a zero byte, so none is escaped. */
final class MixedKey {
    final byte[] first;
    final int number;
    final byte[] last;

    private MixedKey(byte[] first, int number, byte[] last) {
        this.first = first;
        this.number = number;
        this.last = last;
    }

    static byte[] encode(byte[] first, int number, byte[] last) {
        return ByteBuffer.allocate(first.length + 6 + last.length)
                .put(first).put((byte) 0).put((byte) 1) // the end of a string with more behind it
                .putInt(number ^ Integer.MIN_VALUE)
                .put(last).array();
    }

    static MixedKey decode(byte[] key) {
        int end = 0;
        while (key[end] != 0) {
            end++;
        }
        return new MixedKey(Arrays.copyOf(key, end),
                ByteBuffer.wrap(key, end + 2, 4).getInt() ^ Integer.MIN_VALUE,
                Arrays.copyOfRange(key, end + 6, key.length));
    }
}
