package slackwater;

import java.io.Serializable;
import java.util.function.LongBinaryOperator;
import org.apache.spark.TaskContext;

/**
 * Numbers the rows that a task reads, within Spark's generated code. Returns the number of the batch (for 0) or the
 * place in the batch (for 1): by partition, then in the order in which the task reads the rows.
 */
public class Places implements LongBinaryOperator, Serializable {
    private transient boolean begun;
    private transient long batch, next;

    public long applyAsLong(long which, long ignored) {
        if (!begun) begin(TaskContext.get());
        return which == 0L ? batch : next++;
    }

    /** Starts numbering. Spark evaluates small tables on the driver, where there is no task. */
    private void begin(TaskContext context) {
        begun = true;
        if (context == null) return;
        String told = context.getLocalProperty(Gauge.BATCH);
        batch = told == null ? 0L : Long.parseLong(told);
        next = ((long) context.partitionId()) << 40;
    }

    public String toString() {
        return "place";
    }
}
