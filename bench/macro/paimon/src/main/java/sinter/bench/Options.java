package sinter.bench;

import java.util.HashMap;
import java.util.Map;

/** The command line, as in bench/macro/program.h; the launcher adds the file format. */
final class Options {
    final String command;
    private final Map<String, String> values = new HashMap<>();

    Options(String[] arguments) {
        command = arguments.length > 0 ? arguments[0] : "";
        if (arguments.length % 2 == 0) {
            throw new IllegalArgumentException("usage: build|compact|verify --dir DIR ...");
        }
        for (int i = 1; i < arguments.length; i += 2) {
            values.put(arguments[i], arguments[i + 1]);
        }
    }

    String get(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException(command + " needs " + name);
        }
        return value;
    }
}
