package slackwater;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongBinaryOperator;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MultipleWatermarkPolicy;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;
import org.apache.spark.sql.streaming.StreamingQueryManager;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.TaskCompletionListener;
import scala.runtime.AbstractFunction1;

/**
 * Reads event time and arrival of every row that passes, within Spark's generated code, and lets it pass.
 *
 * A task leaves one reading, in an accumulator of Spark's own kind: what comes back to the driver is bytes, so that
 * only executors need this class. Readings are told apart by query, batch and partition, so that a task that runs
 * twice counts once. On the driver, a query that begins to use a gauge gets a policy for its watermark that asks the
 * controllers after each batch, before Spark commits it.
 */
public class Gauge implements LongBinaryOperator, Serializable {
    public static final long NONE = Long.MIN_VALUE;
    static final String QUERY = "sql.streaming.queryId";
    static final String BATCH = "streaming.sql.batchId";
    static final int LAST = 1024;

    final String name;
    private final long skew;
    private final CollectionAccumulator readings;
    /** By query: the batch for which the rest is said, and the punctuation that acts in it. Rows are then added up. */
    final ConcurrentHashMap settings = new ConcurrentHashMap();
    private transient StreamingQueryManager queries;
    private transient Function controllers;
    private transient String folder;
    private transient int far;
    private transient Map pending;
    private transient Reading reading;

    public Gauge(String name, long skew, CollectionAccumulator readings) {
        this.name = name;
        this.skew = skew;
        this.readings = readings;
    }

    /** On the driver: whom to ask for punctuations, where to leave what is asked, and the delay of our watermarks in days. */
    public void attach(StreamingQueryManager queries, Function controllers, String folder, int far) {
        this.queries = queries;
        this.controllers = controllers;
        this.folder = folder;
        this.far = far;
        this.pending = new HashMap();
    }

    /** Spark is about to send tasks: the first moment at which the query that runs them can be known. */
    public Object writeReplace() {
        if (queries != null) Watch.over(queries, controllers, folder, far);
        return this;
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

    public LongBinaryOperator ticks() {
        return new Ticks(this);
    }

    Reading reading() {
        if (reading == null) {
            TaskContext context = TaskContext.get();
            long batch = Long.parseLong(context.getLocalProperty(BATCH));
            long[] setting = (long[]) settings.get(context.getLocalProperty(QUERY));
            boolean known = setting != null && setting[0] == batch;
            reading = new Reading(readings, batch, skew, known, known ? setting[1] : 0L);
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
    }

    /** Takes in what a tick says: silence (0), how far beyond (1) and the newest row (2). Its row does not pass. */
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
    }

    /** What one task saw. */
    static class Reading implements TaskCompletionListener {
        private final CollectionAccumulator readings;
        private final long batch, skew, punctuation;
        private final boolean adds;
        final long[] tick = {NONE, NONE, NONE};
        boolean named = false;
        long sender = 0;
        private long rows = 0, untimed = 0;
        private long late = 0, early = 0, suspect = 0, onTime = 0, waiting = 0, latest = NONE;
        private final Longs events = new Longs(), arrivals = new Longs(), senders = new Longs(), unstamped = new Longs();
        private final Longs lastEvents = new Longs(), lastArrivals = new Longs();
        private boolean ordered = true;
        private long newestBefore = NONE, clockBefore = NONE;
        private final Counts times = new Counts(), delays = new Counts();

        Reading(CollectionAccumulator readings, long batch, long skew, boolean adds, long punctuation) {
            this.readings = readings;
            this.batch = batch;
            this.skew = skew;
            this.adds = adds;
            this.punctuation = punctuation;
        }

        void add(long event, long arrival) {
            rows += 1;
            if (event == NONE) {
                untimed += 1;
            } else if (arrival == NONE) {
                unstamped.add(event);
                unstamped.add(sender);
            } else {
                enter(event, arrival, sender);
            }
        }

        private void enter(long event, long arrival, long sender) {
            if (arrival > latest) latest = arrival;
            if (!adds) {
                events.add(event);
                arrivals.add(arrival);
                if (named) senders.add(sender);
                return;
            }
            if (event < punctuation) {
                late += 1;
            } else {
                onTime += 1;
                waiting += arrival;
            }
            if (event < 0) {
                early += 1;
            } else if (event - arrival > skew) {
                suspect += 1;
            } else {
                times.add(event);
                delays.add(arrival - event);
                last(event, arrival);
            }
        }

        private void last(long event, long arrival) {
            int size = lastArrivals.size;
            if (size > 0 && arrival < lastArrivals.values[size - 1]) ordered = false;
            lastEvents.add(event);
            lastArrivals.add(arrival);
            if (size + 1 == 8 * LAST) keepLast();
        }

        /** Of the latest rows, keeps the last in the order of their arrival; equal ones stay as they came. */
        private void keepLast() {
            int size = lastArrivals.size;
            long[] event = lastEvents.values, arrival = lastArrivals.values;
            if (!ordered) {
                long least = Long.MAX_VALUE;
                for (int i = 0; i < size; i++) least = Math.min(least, arrival[i]);
                long[] keys = new long[size];
                for (int i = 0; i < size; i++) keys[i] = Math.min(arrival[i] - least, (1L << 49) - 1) << 13 | i;
                Arrays.sort(keys);
                long[] byEvent = new long[size], byArrival = new long[size];
                for (int i = 0; i < size; i++) {
                    byEvent[i] = event[(int) (keys[i] & 8191)];
                    byArrival[i] = arrival[(int) (keys[i] & 8191)];
                }
                System.arraycopy(byEvent, 0, event, 0, size);
                System.arraycopy(byArrival, 0, arrival, 0, size);
            }
            int first = Math.max(0, size - LAST);
            for (int i = 0; i < first; i++) {
                newestBefore = Math.max(newestBefore, event[i]);
                clockBefore = Math.max(clockBefore, arrival[i]);
            }
            System.arraycopy(event, first, event, 0, size - first);
            System.arraycopy(arrival, first, arrival, 0, size - first);
            lastEvents.size = size - first;
            lastArrivals.size = size - first;
            ordered = true;
        }

        public void onTaskCompletion(TaskContext context) {
            if (context.isFailed() || context.isInterrupted()) return;
            long clock = latest;
            for (int i = 0; i < unstamped.size; i += 2)
                enter(unstamped.values[i], clock == NONE ? unstamped.values[i] : clock, unstamped.values[i + 1]);
            keepLast();
            Longs out = new Longs();
            out.add(batch);
            out.add(context.partitionId());
            out.add(rows);
            out.add(untimed);
            for (int i = 0; i < 3; i++) out.add(tick[i]);
            out.add(adds ? 1 : 0);
            if (adds) {
                long[] sums = {late, early, suspect, onTime, waiting, latest, newestBefore, clockBefore};
                for (int i = 0; i < sums.length; i++) out.add(sums[i]);
                times.write(out);
                delays.write(out);
                lastEvents.write(out);
                lastArrivals.write(out);
            } else {
                events.write(out);
                arrivals.write(out);
                senders.write(out);
            }
            ByteBuffer bytes = ByteBuffer.allocate(40 + 8 * out.size).order(ByteOrder.LITTLE_ENDIAN);
            bytes.put(context.getLocalProperty(QUERY).getBytes());
            bytes.position(40);
            for (int i = 0; i < out.size; i++) bytes.putLong(out.values[i]);
            readings.add(bytes.array());
        }
    }

    /** Numbers in a row. */
    static class Longs {
        long[] values = new long[16];
        int size = 0;

        void add(long value) {
            if (size == values.length) values = Arrays.copyOf(values, 2 * size);
            values[size++] = value;
        }

        void write(Longs out) {
            out.add(size);
            for (int i = 0; i < size; i++) out.add(values[i]);
        }
    }

    /** How often each number came: those near the first by their place in an array, others in a table. */
    static class Counts {
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

        /** First those near the base, place and count in one number, then the others, each as two. */
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

    /** Gives every query that uses a gauge its policy, once. */
    static class Watch {
        private static final Set watched = new HashSet();

        static synchronized void over(StreamingQueryManager queries, Function controllers, String folder, int far) {
            Object[] active = queries.active();
            Set runs = new HashSet();
            for (int i = 0; i < active.length; i++) {
                if (!(active[i] instanceof StreamingQueryWrapper)) continue;
                Object execution = ((StreamingQueryWrapper) active[i]).streamingQuery();
                if (!(execution instanceof MicroBatchExecution)) continue;
                MicroBatchExecution query = (MicroBatchExecution) execution;
                runs.add(query.runId());
                if (watched.contains(query.runId()) || query.watermarkTracker() == null) continue;
                Steering steering = new Steering(query, controllers, folder, far);
                if (steering.gauges.isEmpty()) continue;
                WatermarkTracker tracker = new WatermarkTracker(steering, query.logicalPlan());
                tracker.setWatermark(query.watermarkTracker().currentWatermark());
                query.watermarkTracker_$eq(tracker);
                watched.add(query.runId());
            }
            watched.retainAll(runs);
        }
    }

    /** The watermark of a query after each batch: that of its controllers, and of others that it may have. */
    static class Steering implements MultipleWatermarkPolicy {
        final Map gauges = new TreeMap();
        private final MicroBatchExecution query;
        private final Function controllers;
        private final Path file;
        private final boolean smallest;
        private int ours = 0;

        Steering(MicroBatchExecution query, Function controllers, String folder, final int far) {
            this.query = query;
            this.controllers = controllers;
            this.file = Paths.get(folder, new String[] {query.runId().toString()});
            String key = "spark.sql.streaming.multipleWatermarkPolicy";
            this.smallest = !"max".equalsIgnoreCase(query.sparkSession().conf().get(key, "min"));
            query.logicalPlan().foreach(new AbstractFunction1() {
                public Object apply(Object node) {
                    if (node instanceof EventTimeWatermark && ((EventTimeWatermark) node).delay().days == far) ours += 1;
                    scala.collection.Iterator each = ((LogicalPlan) node).expressions().iterator();
                    while (each.hasNext()) ((Expression) each.next()).foreach(new AbstractFunction1() {
                        public Object apply(Object found) {
                            if (found instanceof Literal && ((Literal) found).value() instanceof Gauge) {
                                Gauge gauge = (Gauge) ((Literal) found).value();
                                gauges.put(gauge.name, gauge);
                            }
                            return null;
                        }
                    });
                    return null;
                }
            });
        }

        public long chooseGlobalWatermark(scala.collection.immutable.Seq marks) {
            long batch = query.lastExecution().currentBatchId();
            String[] said = asked(request(batch)).split(" ");
            boolean none = true;
            long chosen = 0;
            int i = 0;
            Iterator each = gauges.values().iterator();
            while (each.hasNext()) {
                Gauge gauge = (Gauge) each.next();
                long punctuation = Long.parseLong(said[i++]);
                boolean adds = said[i++].equals("1");
                if (adds) gauge.settings.put(query.id().toString(), new long[] {batch + 1, punctuation});
                chosen = none ? punctuation : of(chosen, punctuation);
                none = false;
            }
            return foreign(marks, chosen);
        }

        /** By way of a file: a call into Python takes a hundred times as long with as many bytes. */
        private String asked(byte[] request) {
            try {
                Files.write(file, request, new OpenOption[0]);
                return (String) controllers.apply(file.toString());
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        private long of(long one, long two) {
            return smallest ? Math.min(one, two) : Math.max(one, two);
        }

        /** Ours are far behind, or at 0 as long as their stream is empty, as any other then is. */
        private long foreign(scala.collection.immutable.Seq marks, long own) {
            int behind = 0;
            long chosen = own;
            scala.collection.Iterator each = marks.iterator();
            while (each.hasNext()) if (((Long) each.next()).longValue() < 0) behind += 1;
            int empty = ours - behind;
            each = marks.iterator();
            while (each.hasNext()) {
                long mark = ((Long) each.next()).longValue();
                if (mark > 0 || mark == 0 && empty-- <= 0) chosen = of(chosen, mark);
            }
            return chosen;
        }

        /** Query, run, batch and checkpoint, then each gauge with its readings. */
        private byte[] request(long batch) {
            StringBuilder head = new StringBuilder();
            head.append(query.id()).append('\n').append(query.runId()).append('\n').append(batch).append('\n');
            head.append(query.resolvedCheckpointRoot());
            List parts = new ArrayList();
            int size = 0;
            Iterator each = gauges.values().iterator();
            while (each.hasNext()) {
                Gauge gauge = (Gauge) each.next();
                List taken = gauge.taken(query.id().toString(), batch);
                head.append('\n').append(gauge.name);
                for (int i = 0; i < taken.size(); i++) {
                    byte[] bytes = (byte[]) taken.get(i);
                    head.append(' ').append(bytes.length - 40);
                    size += bytes.length - 40;
                    parts.add(bytes);
                }
            }
            byte[] text = head.append("\n\n").toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
            ByteBuffer all = ByteBuffer.allocate(text.length + size);
            all.put(text);
            for (int i = 0; i < parts.size(); i++) {
                byte[] bytes = (byte[]) parts.get(i);
                all.put(bytes, 40, bytes.length - 40);
            }
            return all.array();
        }
    }
}
