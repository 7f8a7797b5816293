package sinter.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.RowKind;

/** A primary-key table of one bucket that holds a workload, and its rows as keys and values. */
final class PaimonTable {
    private static final LocalFileIO IO = LocalFileIO.create();
    private static final String VALUE = "value";

    // What each format calls the codecs; what isn't here it can't do.
    private static final Map<String, Map<String, String>> CODECS = Map.of(
            "avro", Map.of("none", "null", "zstd", "zstd"),
            "parquet", Map.of("none", "uncompressed", "lz4", "lz4_raw", "zstd", "zstd"),
            "orc", Map.of("none", "none", "lz4", "lz4", "zstd", "zstd"));

    private PaimonTable() {}

    static void create(String dir, Workload workload, String format, String codec)
            throws Exception {
        Schema.Builder schema = Schema.newBuilder();

        if (workload.isMixed()) {
            schema.column("first", DataTypes.STRING().notNull())
                    .column("number", DataTypes.INT().notNull())
                    .column("last", DataTypes.STRING().notNull())
                    .primaryKey("first", "number", "last");
        } else {
            schema.column("key", DataTypes.BINARY(workload.keyBytes).notNull()).primaryKey("key");
        }
        schema.column(VALUE, DataTypes.BYTES().notNull())
                .option("bucket", "1")
                .option("file.format", format)
                .option("file.compression", codecName(format, codec))
                .option("target-file-size", "128 mb");
        if (codec.startsWith("zstd")) {
            schema.option("file.compression.zstd-level", codec.substring("zstd".length()));
        }
        new SchemaManager(IO, path(dir)).createTable(schema.build());
    }

    private static String codecName(String format, String codec) {
        String family = codec.startsWith("zstd") ? "zstd" : codec;
        String name = CODECS.getOrDefault(format, Map.of()).get(family);
        if (name == null) {
            throw new IllegalArgumentException(format + " has no codec " + codec);
        }
        return name;
    }

    static FileStoreTable open(String dir, Map<String, String> options) {
        return FileStoreTableFactory.create(IO, path(dir)).copy(options);
    }

    private static org.apache.paimon.fs.Path path(String dir) {
        return new org.apache.paimon.fs.Path(Path.of(dir).toAbsolutePath().toString());
    }

    /** Copy a table. Data files are linked, since nothing writes to them; the rest is copied. */
    static void copy(String source, String target) throws IOException {
        Path from = Path.of(source);
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Path to = Path.of(target).resolve(from.relativize(each).toString());
                if (Files.isDirectory(each)) {
                    Files.createDirectory(to);
                } else if (each.getFileName().toString().startsWith("data-")) {
                    Files.createLink(to, each);
                } else {
                    Files.copy(each, to);
                }
            }
        }
    }

    static List<DataFileMeta> files(FileStoreTable table) {
        List<DataFileMeta> files = new ArrayList<>();
        for (ManifestEntry entry : table.store().newScan().plan().files()) {
            files.add(entry.file());
        }
        return files;
    }

    static InternalRow row(Workload workload, byte[] key, byte[] value, boolean isDelete) {
        GenericRow row;
        if (workload.isMixed()) {
            MixedKey mixed = MixedKey.decode(key);
            row = GenericRow.of(BinaryString.fromBytes(mixed.first), mixed.number,
                    BinaryString.fromBytes(mixed.last), value);
        } else {
            row = GenericRow.of(key, value);
        }
        row.setRowKind(isDelete ? RowKind.DELETE : RowKind.INSERT);
        return row;
    }

    static void digest(InternalRow row, Digest digest) {
        if (row.getFieldCount() == 2) {
            digest.add(row.getBinary(0), row.getBinary(1));
        } else {
            digest.add(MixedKey.encode(row.getString(0).toBytes(), row.getInt(1),
                    row.getString(2).toBytes()), row.getBinary(3));
        }
    }
}
