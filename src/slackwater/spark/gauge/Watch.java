package slackwater;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;
import org.apache.spark.sql.streaming.StreamingQueryManager;

/** Gives every query that uses a gauge its policy, once. */
class Watch {
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
            // The thread of a query says which one it is: others, and those that have planned no batch, come by themselves.
            String mine = query.sparkSession().sparkContext().getLocalProperty(Gauge.QUERY);
            IncrementalExecution planned = query.lastExecution();
            if (planned == null || mine != null && !mine.equals(query.id().toString())) continue;
            Steering steering = new Steering(query, controllers, folder, far);
            if (steering.gauges.isEmpty()) continue;
            WatermarkTracker tracker = new WatermarkTracker(steering, query.logicalPlan());
            tracker.setWatermark(query.watermarkTracker().currentWatermark());
            query.watermarkTracker_$eq(tracker);
            watched.add(query.runId());
            steering.begin(planned.currentBatchId());
        }
        watched.retainAll(runs);
    }
}
