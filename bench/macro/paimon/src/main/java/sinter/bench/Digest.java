package sinter.bench;

/** Running count and FNV-1a hash, 64 bits, of records. */
final class Digest {
    private long records;
    private long bytes;
    private long fnv = 0xCBF29CE484222325L;

    void add(byte[] key, byte[] value) {
        update(key);
        update(value);
        records++;
        bytes += key.length + value.length;
    }

    /** With the kind between key and value, as the inputs are hashed. */
    void add(byte[] key, boolean isDelete, byte[] value) {
        update(key);
        update(new byte[] {(byte) (isDelete ? 1 : 0)});
        update(value);
        records++;
        bytes += key.length + value.length;
    }

    private void update(byte[] data) {
        for (byte each : data) {
            fnv = (fnv ^ (each & 0xFF)) * 0x100000001B3L;
        }
    }

    /** One line of JSON. */
    String json(String countName, String bytesName, String hashName) {
        return String.format("{\"%s\":%d,\"%s\":%d,\"%s\":\"%016x\"}",
                countName, records, bytesName, bytes, hashName, fnv);
    }
}
