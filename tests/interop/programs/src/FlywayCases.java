import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Flyway: migrations, validation, repair, baseline and clean. */
final class FlywayCases {
    private final Cases cases;
    private final Path home;

    private FlywayCases(Cases cases, Path home) {
        this.cases = cases;
        this.home = home;
    }

    public static void main(String[] arguments) throws Exception {
        Cases cases = new Cases(arguments);
        FlywayCases self = new FlywayCases(cases, Files.createTempDirectory("flyway"));
        cases.add("migrates_from_an_empty_database", self::migrates)
            .add("says_what_is_pending_and_applied", self::info)
            .add("runs_a_repeatable_migration_when_it_changes", self::repeatable)
            .add("replaces_placeholders", self::placeholders)
            .add("validation_finds_a_changed_script", self::validation)
            .add("a_failed_migration_is_undone_and_repaired", self::repair)
            .add("baselines_a_database_that_is_in_use", self::baseline)
            .add("routines_in_a_script_keep_their_bodies", self::routines)
            .add("takes_a_target_and_goes_on_from_there", self::target)
            .add("cleans_tables_views_synonyms_sequences_and_routines", self::clean)
            .add("refuses_out_of_order_unless_told", self::outOfOrder)
            .run();
    }

    private Flyway flyway(String folder, Map<String, String> scripts) throws Exception {
        return configured(folder, scripts).load();
    }

    private FluentConfiguration configured(String folder, Map<String, String> scripts) throws Exception {
        Path path = home.resolve(folder);
        Files.createDirectories(path);
        for (Map.Entry<String, String> each : scripts.entrySet()) Files.writeString(path.resolve(each.getKey()), each.getValue());
        return Flyway.configure()
            .dataSource(cases.plainUrl(), cases.user(), cases.password())
            .locations("filesystem:" + path)
            .cleanDisabled(false);
    }

    private static final Map<String, String> FIRST = Map.of(
        "V1__orders.sql",
        "CREATE TABLE fw_orders (id SERIAL PRIMARY KEY, name VARCHAR(40) NOT NULL, total DECIMAL(10,2));\n"
            + "INSERT INTO fw_orders (id, name, total) VALUES (0, 'first; not the end', 12.50);\n",
        "V2__items.sql",
        "-- a comment; with a semicolon\nCREATE TABLE fw_items (order_id INT REFERENCES fw_orders(id), line INT, what LVARCHAR(300),"
            + " PRIMARY KEY (order_id, line));\nCREATE INDEX fw_items_what ON fw_items (line);\n"
            + "INSERT INTO fw_items VALUES (1, 1, 'réveillé {no comment}');\n",
        "V2.1__view.sql", "CREATE VIEW fw_both (name, what) AS SELECT o.name, i.what FROM fw_orders o, fw_items i WHERE o.id = i.order_id;\n");

    private void migrates() throws Exception {
        Flyway flyway = flyway("first", FIRST);
        flyway.clean();
        Cases.equal(3, flyway.migrate().migrationsExecuted, "migrations");
        Cases.equal(List.of("first; not the end|réveillé {no comment}"), cases.rows("SELECT * FROM fw_both"), "rows");
        Cases.equal(0, flyway.migrate().migrationsExecuted, "migrations of the second run");
        flyway.validate();
    }

    private void info() throws Exception {
        Flyway flyway = flyway("first", FIRST);
        Cases.equal("2.1", flyway.info().current().getVersion().getVersion(), "current version");
        for (MigrationInfo each : flyway.info().applied()) Cases.equal(MigrationState.SUCCESS, each.getState(), each.getScript());
        Flyway more = flyway("first", Map.of("V3__more.sql", "ALTER TABLE fw_orders ADD (placed DATETIME YEAR TO SECOND);\n"));
        Cases.equal(1, more.info().pending().length, "pending");
        Cases.equal(1, more.migrate().migrationsExecuted, "migrations");
        Cases.equal(0, more.info().pending().length, "pending afterwards");
    }

    private void repeatable() throws Exception {
        String view = "DROP VIEW IF EXISTS fw_names;\nCREATE VIEW fw_names AS SELECT %s FROM fw_orders;\n";
        Flyway flyway = flyway("first", Map.of("R__names.sql", String.format(view, "name")));
        Cases.equal(1, flyway.migrate().migrationsExecuted, "first run");
        Cases.equal(0, flyway.migrate().migrationsExecuted, "unchanged");
        Flyway changed = flyway("first", Map.of("R__names.sql", String.format(view, "name, total")));
        Cases.equal(1, changed.migrate().migrationsExecuted, "changed");
        Cases.equal(List.of("first; not the end|12.50"), cases.rows("SELECT * FROM fw_names"), "rows");
    }

    private void placeholders() throws Exception {
        Flyway flyway = configured("first", Map.of("V4__placeholder.sql", "INSERT INTO fw_orders VALUES (0, '${who}', ${sum}, NULL);\n"))
            .placeholders(Map.of("who", "Zoë", "sum", "-0.01")).load();
        flyway.migrate();
        Cases.equal(List.of("Zoë|-0.01"), cases.rows("SELECT name, total FROM fw_orders WHERE total < 0"), "rows");
    }

    private void validation() throws Exception {
        Flyway changed = flyway("first", Map.of("V1__orders.sql", "CREATE TABLE fw_orders (id INT);\n"));
        Cases.check(Cases.thrown(changed::validate, "validate") instanceof FlywayException, "an error of Flyway");
        Cases.check(!changed.validateWithResult().validationSuccessful, "validateWithResult says no");
        flyway("first", FIRST);
    }

    private void repair() throws Exception {
        Flyway broken = configured("first", Map.of("V5__broken.sql", "CREATE TABLE fw_half (a INT);\nINSERT INTO fw_nowhere VALUES (1);\n"))
            .placeholders(Map.of("who", "Zoë", "sum", "-0.01")).load();
        Throwable problem = Cases.thrown(broken::migrate, "a broken migration");
        Cases.check(problem.getMessage().contains("-206") || String.valueOf(problem.getCause()).contains("fw_nowhere"), "names the table: " + problem);
        broken.repair();
        Flyway mended = configured("first", Map.of("V5__broken.sql", "CREATE TABLE IF NOT EXISTS fw_half (a INT);\nINSERT INTO fw_half VALUES (1);\n"))
            .placeholders(Map.of("who", "Zoë", "sum", "-0.01")).load();
        Cases.equal(1, mended.migrate().migrationsExecuted, "migrations");
        Cases.equal(List.of("1"), cases.rows("SELECT a FROM fw_half"), "rows");
    }

    private void baseline() throws Exception {
        Flyway flyway = flyway("first", Map.of());
        flyway.clean();
        cases.execute("CREATE TABLE fw_old (a INT, b VARCHAR(10))");
        Flyway used = configured("baseline", Map.of("V1__never.sql", "CREATE TABLE fw_old (a INT);\n", "V2__new.sql", "ALTER TABLE fw_old ADD c DATE;\n")).load();
        Cases.check(Cases.thrown(used::migrate, "a database in use") instanceof FlywayException, "an error of Flyway");
        Flyway told = configured("baseline", Map.of()).baselineVersion("1").load();
        told.baseline();
        Cases.equal(1, told.migrate().migrationsExecuted, "migrations");
        Cases.equal(List.of(), cases.rows("SELECT a, b, c FROM fw_old"), "the new column");
        told.clean();
    }

    private void routines() throws Exception {
        Flyway flyway = flyway("routines", Map.of("V1__routine.sql",
            "CREATE PROCEDURE fw_twice(n INT) RETURNING INT;\n  DEFINE r INT;\n  LET r = n * 2;\n  RETURN r;\nEND PROCEDURE;\n"
                + "CREATE PROCEDURE fw_nothing()\n  DEFINE x INT;\n  LET x = 1;\nEND PROCEDURE;\nCREATE TABLE fw_after (a INT);\n"));
        flyway.clean();
        flyway.migrate();
        Cases.equal(List.of("42"), cases.rows("SELECT fw_twice(21) FROM systables WHERE tabid = 1"), "the function");
        Cases.equal(List.of(), cases.rows("SELECT * FROM fw_after"), "the table behind it");
        flyway.clean();
    }

    private void target() throws Exception {
        Flyway first = configured("target", FIRST).target("1").load();
        Cases.equal(1, first.migrate().migrationsExecuted, "migrations up to 1");
        Cases.equal(2, configured("target", Map.of()).load().migrate().migrationsExecuted, "the others");
        first.clean();
    }

    private void clean() throws Exception {
        Flyway flyway = flyway("clean", Map.of("V1__all.sql",
            "CREATE TABLE fw_t (a SERIAL PRIMARY KEY, b INT);\nCREATE TABLE fw_u (a INT REFERENCES fw_t(a));\nCREATE VIEW fw_v AS SELECT a FROM fw_t;\n"
                + "CREATE SYNONYM fw_s FOR fw_t;\nCREATE SEQUENCE fw_q;\nCREATE PROCEDURE fw_f() RETURNING INT;\n RETURN 1;\nEND PROCEDURE;\n"));
        flyway.clean();
        flyway.migrate();
        flyway.clean();
        Cases.equal(List.of(), cases.rows("SELECT tabname FROM systables WHERE tabname LIKE 'fw\\_%' ESCAPE '\\'"), "what is left");
    }

    private void outOfOrder() throws Exception {
        flyway("order", Map.of("V1__a.sql", "CREATE TABLE fw_a (a INT);\n", "V3__c.sql", "CREATE TABLE fw_c (a INT);\n")).migrate();
        Map<String, String> late = Map.of("V2__b.sql", "CREATE TABLE fw_b (a INT);\n");
        Cases.check(Cases.thrown(() -> flyway("order", late).migrate(), "a late one") instanceof FlywayException, "an error of Flyway");
        Flyway told = configured("order", Map.of()).outOfOrder(true).load();
        Cases.equal(1, told.migrate().migrationsExecuted, "migrations");
        // A schema that has no tables yet is one that Flyway makes: an entry without a version.
        List<String> applied = Arrays.stream(told.info().applied())
            .filter(each -> each.getVersion() != null)
            .map(each -> each.getVersion() + " " + each.getState())
            .toList();
        Cases.equal(List.of("1 SUCCESS", "3 SUCCESS", "2 OUT_OF_ORDER"), applied, "applied");
        told.clean();
    }
}
