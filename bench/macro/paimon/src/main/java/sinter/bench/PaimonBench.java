package sinter.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.table.source.DataSplit;

/**
 * The peer: Paimon compacting the same records through the write API of its tables.
 *
 * <p>One bucket, one level-0 file per run, a full compaction of all of them to the highest level.
 * Some compactions of the same input go before the first that counts, so that the virtual machine
 * has compiled what it runs. The command line is that of bench/macro/program.h, and "serve", which
 * is "compact" over and over.
 */
public final class PaimonBench {
    private static final String USER = "bench";
    private static final int BUCKET = 0;
    private static final int WARM_UPS = 3;

    private PaimonBench() {}

    public static void main(String[] arguments) throws Exception {
        Usage idle = Usage.read();
        Options options = new Options(arguments);
        switch (options.command) {
            case "build" -> build(options);
            case "compact" ->
                    compact(options.get("--dir"), options.get("--out"), WARM_UPS, idle);
            case "serve" -> serve(options, idle);
            case "verify" -> verify(options);
            default -> throw new IllegalArgumentException("no command " + options.command);
        }
    }

    /** Write one level-0 file per run; print the hash of what was written. */
    private static void build(Options options) throws Exception {
        Workload workload =
                Workload.of(options.get("--workload"), Long.parseLong(options.get("--div")));
        String dir = options.get("--dir");
        Digest digest = new Digest();

        PaimonTable.create(dir, workload, options.get("--format"), options.get("--codec"));
        // A run never rolls over into a second file.
        FileStoreTable table = PaimonTable.open(dir,
                Map.of("write-only", "true", "target-file-size", "1 tb"));
        try (Scratch scratch = new Scratch(dir)) {
            for (int run = 0; run < workload.runs; run++) {
                try (TableWriteImpl<?> write = table.newWrite(USER).withIOManager(scratch.io);
                        TableCommitImpl commit = table.newCommit(USER)) {
                    workload.forEach(run, (key, value, isDelete) -> {
                        digest.add(key, isDelete, value);
                        write.write(PaimonTable.row(workload, key, value, isDelete), BUCKET);
                    });
                    commit.commit(run, write.prepareCommit(true, run));
                }
            }
        }
        List<DataFileMeta> files = PaimonTable.files(table);
        check(files.size() == workload.runs && files.stream().allMatch(f -> f.level() == 0),
                "the build made something else than one level-0 file per run");
        System.out.println(digest.json("records", "bytes_in", "in_fnv"));
    }

    /** Compact into each folder that standard input names, one a line; answer each by a line. */
    private static void serve(Options options, Usage idle) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        int warmUps = WARM_UPS;
        for (String out = lines.readLine(); out != null; out = lines.readLine()) {
            compact(options.get("--dir"), out, warmUps, idle);
            warmUps = 0;
        }
    }

    private static void compact(String dir, String out, int warmUps, Usage idle) throws Exception {
        PaimonTable.copy(dir, out);
        // All runs stay open, as in sinter's program; by default 64 would go through spill files.
        FileStoreTable table = PaimonTable.open(out, Map.of("sort-spill-threshold", "1000"));
        int runs = PaimonTable.files(table).size();
        try (Scratch scratch = new Scratch(out)) {
            for (int i = 0; i < warmUps; i++) {
                try (TableWriteImpl<?> write = table.newWrite(USER).withIOManager(scratch.io);
                        TableCommitImpl commit = table.newCommit(USER)) {
                    commit.abort(fullCompaction(write, runs)); // removes what it wrote
                }
            }
            System.gc();
            try (TableWriteImpl<?> write = table.newWrite(USER).withIOManager(scratch.io);
                    TableCommitImpl commit = table.newCommit(USER)) {
                Usage before = Usage.read();
                List<CommitMessage> messages = fullCompaction(write, runs);
                Usage after = Usage.read();

                commit.commit(runs, messages);
                print(idle, before, after, increment(messages),
                        table.options().get("file.format"));
            }
        }
    }

    private static List<CommitMessage> fullCompaction(TableWriteImpl<?> write, int runs)
            throws Exception {
        write.compact(BinaryRow.EMPTY_ROW, BUCKET, true);
        return write.prepareCommit(true, runs);
    }

    private static CompactIncrement increment(List<CommitMessage> messages) {
        return ((CommitMessageImpl) messages.get(0)).compactIncrement();
    }

    private static void print(Usage idle, Usage before, Usage after, CompactIncrement files,
            String format) throws IOException {
        System.out.printf(Locale.ROOT, "{\"cpu_s\":%.6f,\"user_s\":%.6f,\"wall_s\":%.6f"
                        + ",\"rss_mib\":%.2f,\"rss_peak_mib\":%.2f,\"file_bytes_in\":%d"
                        + ",\"file_bytes_out\":%d,\"blocks_in\":0,\"blocks_passed\":0"
                        + ",\"io\":\"java\",\"io_reads\":0,\"io_read_bytes\":0,\"io_writes\":0"
                        + ",\"io_ring_calls\":0,\"library\":\"Paimon %s, %s, Java %s\"}%n",
                after.cpuSeconds - before.cpuSeconds, after.userSeconds() - before.userSeconds(),
                after.wallSeconds - before.wallSeconds, after.rssPeakMib - idle.rssPeakMib,
                after.rssPeakMib, bytes(files.compactBefore()), bytes(files.compactAfter()),
                version(), format, System.getProperty("java.version"));
    }

    /** As the jar tells it. */
    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = FileStoreTable.class.getResourceAsStream(
                "/META-INF/maven/org.apache.paimon/paimon-bundle/pom.properties")) {
            properties.load(file);
        }
        return properties.getProperty("version");
    }

    private static long bytes(List<DataFileMeta> files) {
        return files.stream().mapToLong(DataFileMeta::fileSize).sum();
    }

    /** Read the merged table in key order; all of it must lie in one level above 0. */
    private static void verify(Options options) throws Exception {
        FileStoreTable table = PaimonTable.open(options.get("--dir"), Map.of());
        List<DataFileMeta> files = PaimonTable.files(table);
        Digest digest = new Digest();
        DataSplit split = DataSplit.builder()
                .withSnapshot(table.snapshotManager().latestSnapshotId())
                .withPartition(BinaryRow.EMPTY_ROW)
                .withBucket(BUCKET)
                .withTotalBuckets(1)
                .withBucketPath(table.store().pathFactory()
                        .bucketPath(BinaryRow.EMPTY_ROW, BUCKET).toString())
                .withDataFiles(files)
                .rawConvertible(false)
                .build();

        check(files.stream().allMatch(f -> f.level() == table.coreOptions().numLevels() - 1),
                "files are left below the highest level");
        try (RecordReaderIterator<InternalRow> rows = new RecordReaderIterator<>(
                table.newReadBuilder().newRead().createReader(split))) {
            while (rows.hasNext()) {
                PaimonTable.digest(rows.next(), digest);
            }
        }
        System.out.println(digest.json("live", "bytes_out", "out_fnv"));
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    /** A folder beside the table for what Paimon spills; gone in the end. */
    private static final class Scratch implements AutoCloseable {
        final IOManager io;
        private final Path folder;

        Scratch(String dir) throws Exception {
            folder = Files.createTempDirectory(Path.of(dir).toAbsolutePath().getParent(), "spill-");
            io = IOManager.create(folder.toString());
        }

        @Override
        public void close() throws Exception {
            io.close();
            Files.delete(folder);
        }
    }
}
