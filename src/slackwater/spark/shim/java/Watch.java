package slackwater;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;
import org.apache.spark.sql.streaming.StreamingQuery;

/**
 * Gives every query that uses a gauge its policy, once.
 *
 * Spark asks its strategies whenever it plans, and so in the thread of a query before the first batch of a run, even if
 * none of its tasks will be sent. This one plans nothing.
 */
public class Watch extends SparkStrategy {
    private final SparkSession session;
    private final String folder;
    private final int far;
    private Function controllers;
    private final Set watched = Collections.newSetFromMap(new WeakHashMap());

    /** Where to leave what is asked, and the delay of our watermarks in days. */
    public Watch(SparkSession session, String folder, int far) {
        this.session = session;
        this.folder = folder;
        this.far = far;
    }

    /** Whom to ask for punctuations. */
    public Watch asking(Function controllers) {
        this.controllers = controllers;
        return this;
    }

    public scala.collection.immutable.Seq apply(LogicalPlan plan) {
        MicroBatchExecution query = planning();
        if (query != null && isNew(query)) {
            Steering steering = new Steering(query, controllers, folder, far);
            if (!steering.gauges.isEmpty()) {
                WatermarkTracker tracker = new WatermarkTracker(steering, query.logicalPlan());
                tracker.setWatermark(query.watermarkTracker().currentWatermark());
                query.watermarkTracker_$eq(tracker);
                steering.begin(query.lastExecution().currentBatchId());
            }
        }
        return scala.collection.immutable.Nil$.MODULE$;
    }

    private boolean isNew(MicroBatchExecution query) {
        synchronized (watched) {
            return watched.add(query);
        }
    }

    /** The query whose thread this is, if it is one that plans a batch. */
    private MicroBatchExecution planning() {
        String id = session.sparkContext().getLocalProperty(Gauge.QUERY);
        StreamingQuery found = id == null ? null : session.streams().get(id);
        if (!(found instanceof StreamingQueryWrapper)) return null;
        Object execution = ((StreamingQueryWrapper) found).streamingQuery();
        if (!(execution instanceof MicroBatchExecution)) return null;
        MicroBatchExecution query = (MicroBatchExecution) execution;
        return query.watermarkTracker() == null || query.lastExecution() == null ? null : query;
    }
}
