package slackwater;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.TaskCompletionListener;

/**
 * What one task saw: its rows (0), what they add up to (1), or that and the rows (2), of which then so many may be left
 * out, each time every other one, that they are no more than a driver can take.
 */
class Reading implements TaskCompletionListener {
    private final CollectionAccumulator readings;
    private final long batch, skew, most, punctuation, kind, passed;
    private final long[] extents;
    final long[] tick = {Gauge.NONE, Gauge.NONE, Gauge.NONE, Gauge.NONE};
    boolean named = false;
    long sender = 0;
    private long rows = 0, untimed = 0;
    private long late = 0, lost = 0, early = 0, suspect = 0, onTime = 0, waiting = 0;
    private long latest = Gauge.NONE, newest = Gauge.NONE, furthest = Gauge.NONE, stride = 1, met = 0;
    private final Longs events = new Longs(), arrivals = new Longs(), senders = new Longs(), unstamped = new Longs();
    private final Longs lastEvents = new Longs(), lastArrivals = new Longs();
    private boolean ordered = true;
    private long newestBefore = Gauge.NONE, clockBefore = Gauge.NONE;
    private final Counts times = new Counts(), delays = new Counts();

    /** The setting: the batch, the punctuation in it, the kind of reading, and the watermark of the batch before. */
    Reading(CollectionAccumulator readings, long skew, long most, long[] setting, long[] extents) {
        this.readings = readings;
        this.batch = setting[0];
        this.skew = skew;
        this.most = most;
        this.punctuation = setting[1];
        this.kind = setting[2];
        this.passed = setting[3];
        this.extents = extents;
    }

    /**
     * Whether an answer left a late row out: a window of the row was emitted in an earlier batch, or, without windows,
     * its place was released in one. The extents are pairs of RANGE and SLIDE in microseconds.
     */
    private boolean isLost(long event) {
        if (extents.length == 0) return event < passed;
        long time = event * 1000L;
        for (int i = 0; i < extents.length; i += 2) {
            long boundary = (Math.floorDiv(time, extents[i + 1]) + 1L) * extents[i + 1];
            if (boundary <= Math.min(time + extents[i], passed * 1000L)) return true;
        }
        return false;
    }

    void add(long event, long arrival) {
        rows += 1;
        if (event == Gauge.NONE) {
            untimed += 1;
        } else if (arrival == Gauge.NONE) {
            unstamped.add(event);
            unstamped.add(sender);
        } else {
            enter(event, arrival, sender);
        }
    }

    private void enter(long event, long arrival, long sender) {
        if (arrival > latest) latest = arrival;
        if (event > furthest) furthest = event;
        if (event < punctuation && isLost(event)) lost += 1;
        if (kind != 1) list(event, arrival, sender);
        if (kind == 0) return;
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
            if (event > newest) newest = event;
            if (kind == 2) return;
            times.add(event);
            delays.add(arrival - event);
            last(event, arrival);
        }
    }

    private void list(long event, long arrival, long sender) {
        if (met++ % stride != 0) return;
        events.add(event);
        arrivals.add(arrival);
        if (named) senders.add(sender);
        if (kind == 2 && events.size == most) {
            events.halve();
            arrivals.halve();
            senders.halve();
            stride *= 2;
        }
    }

    private void last(long event, long arrival) {
        int size = lastArrivals.size;
        if (size > 0 && arrival < lastArrivals.values[size - 1]) ordered = false;
        lastEvents.add(event);
        lastArrivals.add(arrival);
        if (size + 1 == 8 * Gauge.LAST) keepLast();
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
        int first = Math.max(0, size - Gauge.LAST);
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
            enter(unstamped.values[i], clock == Gauge.NONE ? unstamped.values[i] : clock, unstamped.values[i + 1]);
        keepLast();
        Longs out = new Longs();
        out.add(batch);
        out.add(context.partitionId());
        out.add(rows);
        out.add(untimed);
        for (int i = 0; i < tick.length; i++) out.add(tick[i]);
        out.add(kind);
        long[] sums = {late, early, suspect, onTime, waiting, latest, newest, newestBefore, clockBefore, furthest,
            lost};
        for (int i = 0; i < sums.length; i++) out.add(sums[i]);
        if (kind == 1) {
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
        bytes.put(context.getLocalProperty(Gauge.QUERY).getBytes());
        bytes.position(40);
        for (int i = 0; i < out.size; i++) bytes.putLong(out.values[i]);
        readings.add(bytes.array());
    }
}
