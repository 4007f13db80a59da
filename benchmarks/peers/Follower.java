import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Debezium's embedded engine as a peer of the benchmarks. Arguments: host, port, database, user, password, table, folder. It keeps its
 * offsets in the folder, without a snapshot of rows. Takes a command a line and answers each with one line:
 *   follow N     starts the engine where it ended and stops it when N inserts with k >= 0 have come: nanoseconds from the first to the last
 *   mark         the same until an insert with k < 0 has come: 0
 * Events are not made JSON of: Debezium's own records are the least that it can give.
 */
public class Follower {
    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = in.readLine()) != null) {
            String[] word = line.split(" ");
            System.out.println(word[0].equals("mark") ? run(a, 0) : run(a, Long.parseLong(word[1])));
        }
        Runtime.getRuntime().halt(0);
    }

    private static String run(String[] a, long wanted) throws Exception {
        Properties p = new Properties();
        p.setProperty("name", "peer");
        p.setProperty("connector.class", "io.debezium.connector.informix.InformixConnector");
        p.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        p.setProperty("offset.storage.file.filename", a[6] + "/offsets");
        p.setProperty("offset.flush.interval.ms", "1000");
        p.setProperty("schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
        p.setProperty("schema.history.internal.file.filename", a[6] + "/history");
        p.setProperty("database.hostname", a[0]);
        p.setProperty("database.port", a[1]);
        p.setProperty("database.dbname", a[2]);
        p.setProperty("database.user", a[3]);
        p.setProperty("database.password", a[4]);
        p.setProperty("topic.prefix", "w");
        p.setProperty("table.include.list", a[2] + "." + a[3] + "." + a[5]);
        p.setProperty("snapshot.mode", "no_data");
        p.setProperty("cdc.stop.logging.on.close", "false");
        p.setProperty("errors.max.retries", "0");
        CountDownLatch done = new CountDownLatch(1);
        long[] seen = new long[3]; // inserts, and when the first and the last of them came
        String[] ended = new String[1];
        DebeziumEngine<RecordChangeEvent<SourceRecord>> engine = DebeziumEngine.create(ChangeEventFormat.of(Connect.class)).using(p)
            .notifying(event -> {
                Object value = event.record().value();
                if (!(value instanceof Struct) || ((Struct) value).schema().field("op") == null) return;
                Struct change = (Struct) value;
                if (!"c".equals(change.getString("op"))) return;
                boolean marker = change.getStruct("after").getInt32("k") < 0;
                if (marker != (wanted == 0)) return;
                long now = System.nanoTime();
                if (seen[0]++ == 0) seen[1] = now;
                seen[2] = now;
                if (seen[0] >= wanted) done.countDown();
            }).using((ok, message, error) -> {
                ended[0] = "error " + (message + " " + error).replace('\n', ' ');
                done.countDown();
            }).build();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        thread.execute(engine);
        done.await();
        String answer = ended[0] != null ? ended[0] : Long.toString(seen[2] - seen[1]);
        engine.close();
        thread.shutdown();
        thread.awaitTermination(60, TimeUnit.SECONDS);
        return answer;
    }
}
