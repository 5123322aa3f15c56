package slackwater;

import java.util.Arrays;

/** A growing array of longs. */
class Longs {
    long[] values = new long[16];
    int size = 0;

    void add(long value) {
        if (size == values.length) values = Arrays.copyOf(values, 2 * size);
        values[size++] = value;
    }

    /** Keeps every other value, beginning with the first. */
    void halve() {
        int kept = (size + 1) / 2;
        for (int i = 0; i < kept; i++) values[i] = values[2 * i];
        size = kept;
    }

    void write(Longs out) {
        out.add(size);
        for (int i = 0; i < size; i++) out.add(values[i]);
    }
}
