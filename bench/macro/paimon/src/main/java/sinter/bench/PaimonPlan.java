package sinter.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.paimon.Snapshot;
import org.apache.paimon.manifest.ManifestFile;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.table.FileStoreTable;

/**
 * The peer of plan_bench: for each line of standard input, "plan" or "read", one line of JSON.
 *
 * <p>"plan" is what a batch read of the newest snapshot begins with: all manifests read, their entries
 * merged. "read" only reads the manifests, one after the other. The table is opened anew each time.
 */
public final class PaimonPlan {
    private PaimonPlan() {}

    public static void main(String[] arguments) throws Exception {
        String dir = new Options(arguments).get("--dir");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String what = lines.readLine(); what != null; what = lines.readLine()) {
            Usage before = Usage.read();
            FileStoreTable table = PaimonTable.open(dir, Map.of());
            long files = what.equals("plan")
                    ? table.store().newScan().plan().files().size() : readManifests(table);
            Usage after = Usage.read();

            System.out.printf(Locale.ROOT, "{\"files\":%d,\"cpu_s\":%.6f,\"wall_s\":%.6f"
                            + ",\"rss_peak_mib\":%.2f}%n",
                    files, after.cpuSeconds - before.cpuSeconds,
                    after.wallSeconds - before.wallSeconds, after.rssPeakMib);
        }
    }

    private static long readManifests(FileStoreTable table) {
        Snapshot snapshot = table.snapshotManager().latestSnapshot();
        List<ManifestFileMeta> metas = table.store().manifestListFactory().create()
                .readDataManifests(snapshot);
        ManifestFile manifests = table.store().manifestFileFactory().create();
        long entries = 0;

        for (ManifestFileMeta meta : metas) {
            entries += manifests.read(meta.fileName(), meta.fileSize()).size();
        }
        return entries;
    }
}
