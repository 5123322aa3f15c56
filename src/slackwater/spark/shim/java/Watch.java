package slackwater;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.DeduplicateWithinWatermark;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.types.MetadataBuilder;
import scala.runtime.AbstractPartialFunction;

/**
 * Installs the steering of the watermark in every query that uses a gauge, once, and tells its operators the delay.
 *
 * Spark applies its rules whenever it optimises a plan: also in the thread of a query before the first batch of a run,
 * even if that batch has no tasks. This rule changes only dropDuplicatesWithinWatermark, which reads the delay.
 */
public class Watch extends Rule {
    private static final String MARK = "spark.watermarkDelayMs";
    private final SparkSession session;
    private final String folder;
    private final int far;
    private Function controllers;
    /** For each query a weak reference to its steering, which its tracker owns; empty if the query has no gauge. */
    private final Map watched = Collections.synchronizedMap(new WeakHashMap());

    /** Takes the folder for questions to the controllers, and the delay of our watermarks in days. */
    public Watch(SparkSession session, String folder, int far) {
        this.session = session;
        this.folder = folder;
        this.far = far;
    }

    /** Sets the controllers, which are asked for punctuations. */
    public Watch asking(Function controllers) {
        this.controllers = controllers;
        return this;
    }

    public TreeNode apply(TreeNode plan) {
        MicroBatchExecution query = planning();
        if (query == null) return plan;
        if (!watched.containsKey(query)) watched.put(query, new WeakReference(watch(query)));
        final Steering steering = (Steering) ((WeakReference) watched.get(query)).get();
        if (steering == null) return plan;
        return ((LogicalPlan) plan).transformUp(new AbstractPartialFunction() {
            public boolean isDefinedAt(Object node) {
                return node instanceof DeduplicateWithinWatermark && ((LogicalPlan) node).isStreaming();
            }

            public Object applyOrElse(Object node, scala.Function1 otherwise) {
                return isDefinedAt(node) ? delayed((LogicalPlan) node, steering.delay()) : otherwise.apply(node);
            }
        });
    }

    private Steering watch(MicroBatchExecution query) {
        Steering steering = new Steering(query, controllers, folder, far);
        if (steering.gauges.isEmpty()) return null;
        WatermarkTracker tracker = new WatermarkTracker(steering, query.logicalPlan());
        tracker.setWatermark(query.watermarkTracker().currentWatermark());
        query.watermarkTracker_$eq(tracker);
        steering.begin(query.lastExecution().currentBatchId());
        return steering;
    }

    /**
     * Returns the operator with the current delay in the metadata of its event time column: it forgets a row when the
     * watermark is this far after the row. The metadata from when the DataFrame was made has no current delay.
     */
    private static LogicalPlan delayed(LogicalPlan plan, long delay) {
        LogicalPlan child = (LogicalPlan) plan.children().head();
        List columns = new ArrayList();
        boolean changed = false;
        scala.collection.Iterator each = child.output().iterator();
        while (each.hasNext()) {
            Attribute column = (Attribute) each.next();
            boolean stale = column.metadata().contains(MARK) && column.metadata().getLong(MARK) != delay;
            columns.add(stale ? marked(column, delay) : column);
            changed |= stale;
        }
        if (!changed) return plan;
        return (LogicalPlan) plan.withNewChildren(seq(Collections.singletonList(new Project(seq(columns), child))));
    }

    private static NamedExpression marked(Attribute column, long delay) {
        MetadataBuilder mark = new MetadataBuilder().withMetadata(column.metadata()).putLong(MARK, delay);
        scala.Option metadata = scala.Option.apply(mark.build());
        return new Alias(column, column.name(), column.exprId(), column.qualifier(), metadata, seq(Collections.EMPTY_LIST));
    }

    private static scala.collection.immutable.Seq seq(List values) {
        return scala.jdk.javaapi.CollectionConverters.asScala(values).toSeq();
    }

    /** Returns the query that plans a batch in this thread, or null. */
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
