package slackwater;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.MultipleWatermarkPolicy;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;
import org.apache.spark.unsafe.types.UTF8String;
import scala.runtime.AbstractFunction1;

/** The watermark of a query after each batch: that of its controllers, and of others that it may have. */
class Steering implements MultipleWatermarkPolicy {
    /** Begins the name of the property in which a metric of the query finds what the controllers say of a batch. */
    private static final String TOLD = "slackwater.told.";
    private static final String EVERYTHING = "slackwater.everything";
    private static final long EVERY_ROW = -1;
    final Map gauges = new TreeMap();
    private final MicroBatchExecution query;
    private final Function controllers;
    private final Path file;
    private final boolean smallest;
    private final int far;
    private int ours = 0;
    private String told = null;
    private boolean everything = false;
    private long standing = Long.MIN_VALUE, delay = 0;

    Steering(MicroBatchExecution query, Function controllers, String folder, final int far) {
        this.far = far;
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
                        Object value = found instanceof Literal ? ((Literal) found).value() : null;
                        if (value instanceof Gauge) gauges.put(((Gauge) value).name, value);
                        if (value instanceof UTF8String && value.toString().startsWith(TOLD)) told = value.toString();
                        return null;
                    }
                });
                return null;
            }
        });
    }

    /** Before the first batch of a run: where the controllers stand. */
    void begin(long batch) {
        standing = set(batch, asked(request("begin", batch, taken(batch))), Gauge.NONE);
        release(everything && query.watermarkTracker().currentWatermark() == standing);
    }

    public long chooseGlobalWatermark(scala.collection.immutable.Seq marks) {
        long batch = query.lastExecution().currentBatchId();
        Map readings = taken(batch);
        if (readings.isEmpty()) {
            read();
            readings = taken(batch);
        }
        long before = standing;
        standing = set(batch + 1, asked(request("end", batch, readings)), query.watermarkTracker().currentWatermark());
        long chosen = foreign(marks, standing);
        if (standing < before) takeBack(chosen);
        release(everything && chosen == standing);
        return chosen;
    }

    /** Spark lets no watermark go back by itself. A flush that closed the windows of suspect rows does. */
    private void takeBack(long watermark) {
        WatermarkTracker tracker = query.watermarkTracker();
        tracker.setWatermark(Math.min(watermark, tracker.currentWatermark()));
    }

    /**
     * Reads the rows of a batch for the controllers alone: a sink that has the batch already, since it was killed before
     * Spark could commit it, runs nothing.
     */
    private void read() {
        query.lastExecution().executedPlan().foreach(new AbstractFunction1() {
            public Object apply(Object node) {
                if (node instanceof EventTimeWatermarkExec && ((EventTimeWatermarkExec) node).delay().days == far)
                    ((EventTimeWatermarkExec) node).execute().count();
                return null;
            }
        });
    }

    /** The readings of a batch, by the name of their gauge. */
    private Map taken(long batch) {
        Map taken = new TreeMap();
        Iterator each = gauges.values().iterator();
        while (each.hasNext()) {
            Gauge gauge = (Gauge) each.next();
            List readings = gauge.taken(query.id().toString(), batch);
            if (!readings.isEmpty()) taken.put(gauge.name, readings);
        }
        return taken;
    }

    /** By how many milliseconds the watermark is behind the newest row; of several streams, the most. */
    long delay() {
        return delay;
    }

    /** Tells gauges what acts in a batch; gives the watermark of all. At the start of a run the answers know what the
     * watermark of the batch before was. */
    private long set(long batch, String answers, long passed) {
        int end = answers.indexOf("\n\n");
        if (told != null) System.setProperty(told, answers.substring(end + 2));
        String[] said = answers.substring(0, end).split(" ");
        Iterator each = gauges.values().iterator();
        long chosen = watermark(said, 0);
        everything = true;
        delay = 0;
        for (int i = 0; each.hasNext(); i += 5) {
            long before = passed == Gauge.NONE ? Long.parseLong(said[i + 4]) : passed;
            long[] setting = {batch, Long.parseLong(said[i]), Long.parseLong(said[i + 1]), before};
            ((Gauge) each.next()).settings.put(query.id().toString(), setting);
            delay = Math.max(delay, Long.parseLong(said[i + 2]));
            chosen = of(chosen, watermark(said, i));
            everything &= Long.parseLong(said[i + 3]) == EVERY_ROW;
        }
        return chosen;
    }

    /** The punctuation of a gauge, unless Spark's watermark is to go ahead for a batch. */
    private static long watermark(String[] said, int place) {
        long ahead = Long.parseLong(said[place + 3]);
        return ahead > 0 ? ahead : Long.parseLong(said[place]);
    }

    /** Tells the tasks of the next batch whether they release every row: not while another stream is waited for. */
    private void release(boolean every) {
        query.sparkSession().sparkContext().setLocalProperty(EVERYTHING, every ? "true" : null);
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

    /** What is asked, then query, run, batch and checkpoint, then each gauge with its spec and its readings. */
    private byte[] request(String what, long batch, Map readings) {
        StringBuilder head = new StringBuilder(what).append('\n');
        head.append(query.id()).append('\n').append(query.runId()).append('\n').append(batch).append('\n');
        head.append(query.resolvedCheckpointRoot());
        List parts = new ArrayList();
        int size = 0;
        Iterator each = gauges.keySet().iterator();
        while (each.hasNext()) {
            Object name = each.next();
            head.append('\n').append(((Gauge) gauges.get(name)).spec).append('\t');
            List taken = readings.containsKey(name) ? (List) readings.get(name) : Collections.EMPTY_LIST;
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
