package slackwater;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongBinaryOperator;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Reads event time and arrival of every row that passes, within Spark's generated code, and lets it pass.
 *
 * A task leaves one reading, in an accumulator of Spark's own kind: what comes back to the driver is bytes, so that
 * only executors need this class. Readings are told apart by query, batch and partition, so that a task that runs
 * twice counts once.
 */
public class Gauge implements LongBinaryOperator, Serializable {
    public static final long NONE = Long.MIN_VALUE;
    static final String QUERY = "sql.streaming.queryId";
    static final String BATCH = "streaming.sql.batchId";
    static final int LAST = 1024;

    final String name;
    /** What its controller is, as the controllers wrote it: it lives as long as the DataFrame that it is part of. */
    final transient String spec;
    private final long skew, most;
    private final CollectionAccumulator readings;
    /** Pairs of RANGE and SLIDE of the windows that read the stream; none if rows are read by their place. */
    private final long[] extents;
    /** By query: the batch for which the rest is said, the punctuation in it, the kind of reading, and the watermark of
     * the batch before. */
    final ConcurrentHashMap settings = new ConcurrentHashMap();
    private final transient Map pending = new HashMap();
    private transient Reading reading;

    public Gauge(String name, String spec, long skew, long most, String extents, CollectionAccumulator readings) {
        this.name = name;
        this.spec = spec;
        this.skew = skew;
        this.most = most;
        this.readings = readings;
        String[] each = extents.isEmpty() ? new String[0] : extents.split(" ");
        this.extents = new long[each.length];
        for (int i = 0; i < each.length; i++) this.extents[i] = Long.parseLong(each[i]);
    }

    public String toString() {
        return "gauge";
    }

    public long applyAsLong(long event, long arrival) {
        reading().add(event, arrival);
        return 0L;
    }

    public LongBinaryOperator senders() {
        return new Senders(this);
    }

    public LongBinaryOperator punctuations() {
        return new Punctuations(this);
    }

    public LongBinaryOperator ticks() {
        return new Ticks(this);
    }

    Reading reading() {
        if (reading == null) {
            TaskContext context = TaskContext.get();
            long batch = Long.parseLong(context.getLocalProperty(BATCH));
            long[] setting = (long[]) settings.get(context.getLocalProperty(QUERY));
            boolean known = setting != null && setting[0] == batch;
            // All tasks of a batch together list no more rows than one task may: they all meet in the driver.
            long share = Math.max(LAST, most / Math.max(1, context.numPartitions()));
            reading = new Reading(readings, skew, share, known ? setting : new long[] {batch, 0L, 0L, 0L}, extents);
            context.addTaskCompletionListener((TaskCompletionListener) reading);
        }
        return reading;
    }

    /** All readings of a batch of a query, those of each partition once. */
    synchronized List taken(String query, long batch) {
        synchronized (readings) {
            Iterator found = readings.value().iterator();
            while (found.hasNext()) {
                byte[] each = (byte[]) found.next();
                ByteBuffer head = ByteBuffer.wrap(each).order(ByteOrder.LITTLE_ENDIAN);
                byte[] id = new byte[36];
                head.get(id);
                String key = new String(id) + "/" + head.getLong(40);
                Map parts = (Map) pending.get(key);
                if (parts == null) {
                    parts = new TreeMap();
                    pending.put(key, parts);
                }
                Long part = Long.valueOf(head.getLong(48));
                byte[] other = (byte[]) parts.get(part);
                if (other == null || ByteBuffer.wrap(other).order(ByteOrder.LITTLE_ENDIAN).getLong(56) <= head.getLong(56))
                    parts.put(part, each);
            }
            readings.reset();
        }
        List taken = new ArrayList();
        Map parts = (Map) pending.get(query + "/" + batch);
        if (parts != null) taken.addAll(parts.values());
        Iterator keys = pending.keySet().iterator();
        while (keys.hasNext()) if (((String) keys.next()).startsWith(query)) keys.remove();
        return taken;
    }

    /** The punctuation that acts in the batch of a row. */
    static class Punctuations implements LongBinaryOperator, Serializable {
        private final Gauge gauge;
        private transient long[] found;

        Punctuations(Gauge gauge) {
            this.gauge = gauge;
        }

        public long applyAsLong(long event, long unused) {
            if (found == null) {
                TaskContext context = TaskContext.get();
                long[] setting = (long[]) gauge.settings.get(context.getLocalProperty(QUERY));
                boolean known = setting != null && setting[0] == Long.parseLong(context.getLocalProperty(BATCH));
                found = new long[] {known ? setting[1] : 0L};
            }
            return found[0];
        }

        public String toString() {
            return "punctuations";
        }
    }

    /** Takes in the sender of a row, and gives its arrival on. */
    static class Senders implements LongBinaryOperator, Serializable {
        private final Gauge gauge;

        Senders(Gauge gauge) {
            this.gauge = gauge;
        }

        public long applyAsLong(long sender, long arrival) {
            gauge.reading().sender = sender;
            gauge.reading().named = true;
            return arrival;
        }

        public String toString() {
            return "senders";
        }
    }

    /** Takes in what a tick says: silence (0), how far beyond (1), the newest row (2) and the furthest (3).
     * Its row does not pass. */
    static class Ticks implements LongBinaryOperator, Serializable {
        private final Gauge gauge;

        Ticks(Gauge gauge) {
            this.gauge = gauge;
        }

        public long applyAsLong(long which, long value) {
            long[] tick = gauge.reading().tick;
            tick[(int) which] = Math.max(tick[(int) which], value);
            return -1L;
        }

        public String toString() {
            return "ticks";
        }
    }

}
