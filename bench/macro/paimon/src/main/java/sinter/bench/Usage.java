package sinter.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the process has used at some moment: all its threads, collector and compiler included. */
final class Usage {
    final double cpuSeconds; // user and system
    final double wallSeconds;
    final double rssPeakMib;
    private final double userShare; // of the CPU time, from the start of the process

    private Usage(double cpuSeconds, double wallSeconds, double rssPeakMib, double userShare) {
        this.cpuSeconds = cpuSeconds;
        this.wallSeconds = wallSeconds;
        this.rssPeakMib = rssPeakMib;
        this.userShare = userShare;
    }

    static Usage read() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        double user = Double.parseDouble(fields[11]);
        double system = Double.parseDouble(fields[12]);
        OperatingSystemMXBean process =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

        return new Usage(process.getProcessCpuTime() / 1e9, System.nanoTime() / 1e9, peakMib(),
                user / Math.max(1, user + system));
    }

    double userSeconds() {
        return cpuSeconds * userShare;
    }

    private static double peakMib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1024;
            }
        }
        throw new IOException("/proc/self/status has no VmHWM");
    }
}
