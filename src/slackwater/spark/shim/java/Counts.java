package slackwater;

/** Counts of numbers: those near the first one in an array, the others in a hash table. */
class Counts {
    private static final int NEAR = 1 << 17;
    private int[] near = null;
    private long base = 0;
    private int used = 0;
    private long[] keys = new long[64];
    private long[] times = new long[64];
    private int filled = 0;

    void add(long value) {
        if (near == null) {
            near = new int[NEAR];
            base = value - NEAR / 2;
        }
        long place = value - base;
        if (place >= 0 && place < NEAR) {
            if (near[(int) place]++ == 0) used += 1;
        } else {
            put(value, 1);
        }
    }

    private void put(long value, long count) {
        int at = place(value);
        if (times[at] == 0) {
            if (2 * ++filled > keys.length) {
                filled -= 1;
                grow();
                put(value, count);
                return;
            }
            keys[at] = value;
        }
        times[at] += count;
    }

    private int place(long value) {
        int mask = keys.length - 1;
        int at = (int) ((value * 0x9E3779B97F4A7C15L) >>> 32) & mask;
        while (times[at] != 0 && keys[at] != value) at = (at + 1) & mask;
        return at;
    }

    private void grow() {
        long[] value = keys, count = times;
        keys = new long[2 * value.length];
        times = new long[2 * value.length];
        filled = 0;
        for (int i = 0; i < value.length; i++) if (count[i] != 0) put(value[i], count[i]);
    }

    /** Writes first the numbers near the base, place and count in one long, then the others, two longs each. */
    void write(Longs out) {
        out.add(base);
        out.add(used);
        for (int i = 0; i < NEAR && used > 0; i++) if (near[i] != 0) out.add((long) i << 32 | near[i]);
        out.add(2L * filled);
        for (int i = 0; i < keys.length; i++)
            if (times[i] != 0) {
                out.add(keys[i]);
                out.add(times[i]);
            }
    }
}
