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
 * Gives every query that uses a gauge its policy, once, and its operators the delay of the watermark.
 *
 * Spark applies its rules whenever it optimises a plan, and so in the thread of a query before the first batch of a run,
 * even if none of its tasks will be sent. This one changes only what reads the delay: dropDuplicatesWithinWatermark.
 */
public class Watch extends Rule {
    private static final String MARK = "spark.watermarkDelayMs";
    private final SparkSession session;
    private final String folder;
    private final int far;
    private Function controllers;
    /** By query a weak reference to what steers it, which its tracker holds; an empty one if it has no gauge. */
    private final Map watched = Collections.synchronizedMap(new WeakHashMap());

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
     * The operator over the same columns, with the present delay in the mark of the event time: it forgets a row when
     * the watermark is so far beyond it. The mark that a DataFrame is made with knows no delay.
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
