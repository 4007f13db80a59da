package cdcclient;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Properties;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;

/** Prints what Debezium gives out, one envelope a line, until it is killed: HOST PORT DB USER PASSWORD FOLDER TABLES NAME. */
public final class Recorder {
    private Recorder() { }

    public static void main(String[] args) {
        ObjectMapper json = new ObjectMapper();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Properties p = new Properties();
        p.setProperty("name", "recorder");
        p.setProperty("connector.class", "io.debezium.connector.informix.InformixConnector");
        p.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        p.setProperty("offset.storage.file.filename", Path.of(args[5], "offsets").toString());
        p.setProperty("schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
        p.setProperty("schema.history.internal.file.filename", Path.of(args[5], "history").toString());
        p.setProperty("database.hostname", args[0]);
        p.setProperty("database.port", args[1]);
        p.setProperty("database.dbname", args[2]);
        p.setProperty("database.user", args[3]);
        p.setProperty("database.password", args[4]);
        p.setProperty("table.include.list", args[6]);
        p.setProperty("topic.prefix", args[7]);
        p.setProperty("snapshot.mode", "initial");
        p.setProperty("skipped.operations", "none");
        p.setProperty("tombstones.on.delete", "false");
        p.setProperty("cdc.timeout", "1");
        p.setProperty("errors.max.retries", "0");
        p.setProperty("poll.interval.ms", "100");
        DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class).using(p).notifying(event -> {
            try {
                if (event.value() == null) return;
                var payload = json.readTree(event.value()).path("payload");
                if (payload.has("op")) out.println(json.writeValueAsString(payload));
            } catch (Exception e) {
                e.printStackTrace();
            }
        }).using((ok, message, error) -> {
            System.err.println("ended: " + message);
            if (error != null) error.printStackTrace();
        }).build();
        engine.run();
        System.exit(1);
    }
}
