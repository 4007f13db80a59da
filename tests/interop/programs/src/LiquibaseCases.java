import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.change.Change;
import liquibase.changelog.ChangeSet;
import liquibase.command.CommandScope;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.core.InformixDatabase;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.DiffResult;
import liquibase.diff.compare.CompareControl;
import liquibase.diff.output.DiffOutputControl;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.logging.core.NoOpLogService;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.snapshot.DatabaseSnapshot;
import liquibase.snapshot.SnapshotControl;
import liquibase.snapshot.SnapshotGeneratorFactory;
import liquibase.structure.core.Column;
import liquibase.structure.core.ForeignKey;
import liquibase.structure.core.Index;
import liquibase.structure.core.PrimaryKey;
import liquibase.structure.core.Sequence;
import liquibase.structure.core.Table;
import liquibase.structure.core.UniqueConstraint;
import liquibase.structure.core.View;

/** Liquibase: every kind of change, rollback, diff, a changelog generated and replayed. */
final class LiquibaseCases {
    private static final String HEAD = """
        <?xml version="1.0" encoding="UTF-8"?>
        <databaseChangeLog xmlns="http://www.liquibase.org/xml/ns/dbchangelog"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xsi:schemaLocation="http://www.liquibase.org/xml/ns/dbchangelog http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-4.31.xsd">
        """;
    private static final String ORDERS = """
        <changeSet id="1" author="us"><createTable tableName="lb_orders">
            <column name="id" type="int" autoIncrement="true"><constraints primaryKey="true" primaryKeyName="lb_orders_pk"/></column>
            <column name="name" type="varchar(40)" defaultValue="nobody"><constraints nullable="false"/></column>
            <column name="total" type="decimal(12,2)"/><column name="placed" type="datetime"/><column name="day" type="date"/>
            <column name="paid" type="boolean" defaultValueBoolean="false"/><column name="big" type="bigint"/><column name="note" type="clob"/>
        </createTable><rollback><dropTable tableName="lb_orders"/></rollback></changeSet>
        """;

    private final Cases cases;
    private final Path home;

    private LiquibaseCases(Cases cases, Path home) {
        this.cases = cases;
        this.home = home;
    }

    public static void main(String[] arguments) throws Exception {
        Cases cases = new Cases(arguments);
        LiquibaseCases self = new LiquibaseCases(cases, Files.createTempDirectory("liquibase"));
        cases.add("knows_the_database", self::known)
            .add("creates_tables_of_every_type", self::types)
            .add("updates_once_and_keeps_its_books", self::update)
            .add("adds_renames_modifies_and_drops_columns", self::columns)
            .add("keys_constraints_and_indexes", self::keys)
            .add("views_sequences_and_routines", self::objects)
            .add("loads_data_inserts_updates_and_deletes", self::data)
            .add("the_other_change_types", self::others)
            .add("preconditions_see_what_is_there", self::preconditions)
            .add("rolls_back_by_count_and_by_tag", self::rollback)
            .add("a_failed_change_set_is_undone_and_leaves_no_lock", self::failure)
            .add("a_snapshot_finds_everything", self::snapshot)
            .add("a_diff_of_equal_databases_is_empty", self::diffEqual)
            .add("a_generated_changelog_replays_to_the_same_schema", self::generate)
            .add("drop_all_leaves_nothing", self::dropAll)
            .run();
    }

    private Database database() throws Exception {
        Connection connection = cases.connectTellingUrl(cases.plainUrl());
        return DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
    }

    private interface Job {
        void run(Liquibase liquibase) throws Exception;
    }

    private void with(String file, String body, Job job) throws Exception {
        Files.writeString(home.resolve(file), HEAD + body + "</databaseChangeLog>\n");
        with(file, job);
    }

    private void with(String file, Job job) throws Exception {
        Scope.child(Map.of(Scope.Attr.logService.name(), new NoOpLogService(), Scope.Attr.ui.name(), new liquibase.ui.LoggerUIService()), () -> {
            try (Liquibase liquibase = new Liquibase(file, new DirectoryResourceAccessor(home), database())) {
                job.run(liquibase);
            }
        });
    }

    private void apply(String file, String body) throws Exception {
        with(file, body, liquibase -> liquibase.update(""));
    }

    private void known() throws Exception {
        try (Database database = database()) {
            Cases.check(database instanceof InformixDatabase, "a database of Informix's kind, not " + database.getClass().getSimpleName());
            Cases.equal(cases.database(), database.getDefaultCatalogName(), "catalog");
        }
    }

    private void types() throws Exception {
        with("empty.xml", "", Liquibase::dropAll);
        apply("types.xml", """
            <changeSet id="types" author="us"><createTable tableName="lb_types">
            <column name="a" type="smallint"/><column name="b" type="int"/><column name="c" type="bigint"/><column name="d" type="float"/>
            <column name="e" type="double"/><column name="f" type="decimal(20,4)"/><column name="g" type="char(7)"/><column name="h" type="varchar(200)"/>
            <column name="i" type="nvarchar(20)"/><column name="j" type="clob"/><column name="k" type="blob"/><column name="l" type="date"/>
            <column name="m" type="datetime"/><column name="n" type="timestamp"/><column name="o" type="time"/><column name="p" type="boolean"/>
            <column name="q" type="uuid"/><column name="r" type="currency"/><column name="z" type="int"/>
            </createTable></changeSet>""");
        Cases.equal(19, cases.rows("SELECT colname FROM syscolumns c, systables t WHERE c.tabid = t.tabid AND t.tabname = 'lb_types'").size(), "columns");
    }

    private void update() throws Exception {
        apply("orders.xml", ORDERS);
        apply("orders.xml", ORDERS);
        Cases.equal(List.of("1"), cases.rows("SELECT count(*) FROM databasechangelog WHERE id = '1'"), "its books");
        cases.execute("INSERT INTO lb_orders (id, total) VALUES (0, 12.5)");
        Cases.equal(List.of("1|nobody|12.50|f"), cases.rows("SELECT id, name, total, paid::CHAR(1) FROM lb_orders"), "a row with its defaults");
        with("orders.xml", liquibase -> Cases.equal(0, liquibase.listUnrunChangeSets(null, null).size(), "unrun"));
    }

    private void columns() throws Exception {
        apply("columns.xml", """
            <changeSet id="c1" author="us"><addColumn tableName="lb_orders"><column name="extra" type="varchar(10)" defaultValue="réveil"/>
                <column name="plain" type="int"/></addColumn></changeSet>
            <changeSet id="c2" author="us"><renameColumn tableName="lb_orders" oldColumnName="plain" newColumnName="fancy" columnDataType="int"/></changeSet>
            <changeSet id="c3" author="us"><modifyDataType tableName="lb_orders" columnName="extra" newDataType="varchar(60)"/></changeSet>
            <changeSet id="c4" author="us"><addNotNullConstraint tableName="lb_orders" columnName="fancy" columnDataType="int" defaultNullValue="7"/></changeSet>
            <changeSet id="c5" author="us"><dropNotNullConstraint tableName="lb_orders" columnName="fancy" columnDataType="int"/></changeSet>
            <changeSet id="c6" author="us"><addDefaultValue tableName="lb_orders" columnName="fancy" columnDataType="int" defaultValueNumeric="9"/></changeSet>
            <changeSet id="c7" author="us"><dropDefaultValue tableName="lb_orders" columnName="fancy" columnDataType="int"/></changeSet>
            <changeSet id="c8" author="us"><dropColumn tableName="lb_orders" columnName="big"/></changeSet>
            <changeSet id="c9" author="us"><renameTable oldTableName="lb_types" newTableName="lb_kinds"/></changeSet>
            """);
        Cases.equal(List.of("1|7"), cases.rows("SELECT id, fancy FROM lb_orders"), "rows");
        Cases.equal(List.of("0"), cases.rows("SELECT count(*) FROM lb_kinds"), "the renamed table");
    }

    private void keys() throws Exception {
        apply("keys.xml", """
            <changeSet id="k1" author="us"><createTable tableName="lb_items"><column name="order_id" type="int"><constraints nullable="false"/></column>
                <column name="line" type="int"><constraints nullable="false"/></column><column name="what" type="varchar(100)"/><column name="code" type="char(4)"/></createTable></changeSet>
            <changeSet id="k2" author="us"><addPrimaryKey tableName="lb_items" columnNames="order_id, line" constraintName="lb_items_pk"/></changeSet>
            <changeSet id="k3" author="us"><addForeignKeyConstraint baseTableName="lb_items" baseColumnNames="order_id" constraintName="lb_items_fk"
                referencedTableName="lb_orders" referencedColumnNames="id" onDelete="CASCADE"/></changeSet>
            <changeSet id="k4" author="us"><addUniqueConstraint tableName="lb_items" columnNames="code" constraintName="lb_items_code"/></changeSet>
            <changeSet id="k5" author="us"><createIndex tableName="lb_items" indexName="lb_items_what"><column name="what"/></createIndex></changeSet>
            <changeSet id="k6" author="us"><createIndex tableName="lb_items" indexName="lb_items_both" unique="true"><column name="what"/><column name="line" descending="true"/></createIndex></changeSet>
            <changeSet id="k7" author="us"><dropIndex tableName="lb_items" indexName="lb_items_what"/></changeSet>
            <changeSet id="k8" author="us"><dropUniqueConstraint tableName="lb_items" constraintName="lb_items_code"/></changeSet>
            """);
        cases.execute("INSERT INTO lb_items VALUES (1, 1, 'a', 'x')", "INSERT INTO lb_items VALUES (1, 2, 'b', 'x')");
        Cases.thrown(() -> cases.execute("INSERT INTO lb_items VALUES (99, 1, 'c', 'y')"), "no such order");
        Cases.thrown(() -> cases.execute("INSERT INTO lb_items VALUES (1, 1, 'd', 'z')"), "the same line");
        Cases.equal(List.of("1|1|a|x", "1|2|b|x"), cases.rows("SELECT * FROM lb_items ORDER BY line"), "rows");
    }

    private void objects() throws Exception {
        apply("objects.xml", """
            <changeSet id="o1" author="us"><createView viewName="lb_both">SELECT o.name, i.what FROM lb_orders o, lb_items i WHERE o.id = i.order_id</createView></changeSet>
            <changeSet id="o2" author="us"><createSequence sequenceName="lb_numbers" startValue="5" incrementBy="3"/></changeSet>
            <changeSet id="o3" author="us"><sql splitStatements="false">CREATE PROCEDURE lb_twice(n INT) RETURNING INT; RETURN n * 2; END PROCEDURE</sql></changeSet>
            <changeSet id="o4" author="us"><renameSequence oldSequenceName="lb_numbers" newSequenceName="lb_counts"/></changeSet>
            """.replaceAll("<changeSet id=\"o4\".*?</changeSet>", ""));
        Cases.equal(List.of("nobody|a", "nobody|b"), cases.rows("SELECT * FROM lb_both ORDER BY what"), "the view");
        Cases.equal(List.of("5"), cases.rows("SELECT lb_numbers.nextval FROM systables WHERE tabid = 1"), "the sequence");
        Cases.equal(List.of("8"), cases.rows("SELECT lb_twice(4) FROM systables WHERE tabid = 1"), "the routine");
    }

    private void data() throws Exception {
        Files.writeString(home.resolve("orders.csv"), "id,name,total,day\n10,Zoë,1.25,2026-01-31\n11,\"a, b\",-3.5,NULL\n");
        apply("data.xml", """
            <changeSet id="d1" author="us"><loadData tableName="lb_orders" file="orders.csv" encoding="UTF-8"><column name="id" type="numeric"/>
                <column name="name" type="string"/><column name="total" type="numeric"/><column name="day" type="date"/></loadData></changeSet>
            <changeSet id="d2" author="us"><insert tableName="lb_orders"><column name="id" valueNumeric="12"/><column name="name" value="it''s"/>
                <column name="placed" valueDate="2026-02-03T04:05:06"/><column name="paid" valueBoolean="true"/></insert></changeSet>
            <changeSet id="d3" author="us"><update tableName="lb_orders"><column name="total" valueNumeric="99.99"/><where>id = 11</where></update></changeSet>
            <changeSet id="d4" author="us"><delete tableName="lb_orders"><where>id = 10</where></delete></changeSet>
            <changeSet id="d5" author="us"><sql>INSERT INTO lb_orders (id, name) VALUES (13, 'one;two'); INSERT INTO lb_orders (id, name) VALUES (14, 'x');</sql></changeSet>
            """);
        Cases.equal(List.of("11|a, b|99.99|NULL", "12|it''s|NULL|2026-02-03 04:05:06", "13|one;two|NULL|NULL", "14|x|NULL|NULL"),
            cases.rows("SELECT id, name, total, EXTEND(placed, YEAR TO SECOND) FROM lb_orders WHERE id > 9 ORDER BY id"), "rows");
    }

    /** Change types that the other cases have no use for; what they make is gone at their end. */
    private void others() throws Exception {
        Files.writeString(home.resolve("people.csv"), "id,given,family,town\n1,Anna,Alt,Ulm\n2,Bea,Berg,Bern\n");
        Files.writeString(home.resolve("moved.csv"), "id,town\n2,Ulm\n");
        Files.writeString(home.resolve("some.sql"), "INSERT INTO lb_people (id, given, family, town) VALUES (3, 'Zoë', 'Zorn', 'Rom');\n");
        Files.writeString(home.resolve("thrice.sql"), "CREATE PROCEDURE lb_thrice(n INT) RETURNING INT; RETURN n * 3; END PROCEDURE");
        apply("others.xml", """
            <changeSet id="x1" author="us"><createTable tableName="lb_people"><column name="id" type="int"><constraints nullable="false"/></column>
                <column name="given" type="varchar(20)"/><column name="family" type="varchar(20)"/><column name="town" type="varchar(20)"><constraints nullable="false"/></column></createTable></changeSet>
            <changeSet id="x2" author="us"><addPrimaryKey tableName="lb_people" columnNames="id" constraintName="lb_people_pk"/></changeSet>
            <changeSet id="x3" author="us"><loadData tableName="lb_people" file="people.csv"><column name="id" type="numeric"/></loadData></changeSet>
            <changeSet id="x4" author="us"><sqlFile path="some.sql"/></changeSet>
            <changeSet id="x5" author="us"><loadUpdateData tableName="lb_people" file="moved.csv" primaryKey="id"><column name="id" type="numeric"/></loadUpdateData></changeSet>
            <changeSet id="x6" author="us"><mergeColumns tableName="lb_people" column1Name="given" column2Name="family" joinString=" " finalColumnName="name" finalColumnType="varchar(50)"/></changeSet>
            <changeSet id="x7" author="us"><addLookupTable existingTableName="lb_people" existingColumnName="town" newTableName="lb_towns" newColumnName="town"
                newColumnDataType="varchar(20)" constraintName="lb_people_town"/></changeSet>
            <changeSet id="x8" author="us"><createProcedure path="thrice.sql" procedureName="lb_thrice"/></changeSet>
            <changeSet id="x9" author="us"><createSequence sequenceName="lb_steps" startValue="1" incrementBy="1"/></changeSet>
            <changeSet id="x10" author="us"><alterSequence sequenceName="lb_steps" incrementBy="10"/></changeSet>
            <changeSet id="x11" author="us"><createView viewName="lb_seen">SELECT name, town FROM lb_people</createView></changeSet>
            """);
        Cases.equal(List.of("Anna Alt|Ulm", "Bea Berg|Ulm", "Zoë Zorn|Rom"), cases.rows("SELECT name, town FROM lb_seen ORDER BY name"), "people");
        Cases.equal(List.of("Rom", "Ulm"), cases.rows("SELECT town FROM lb_towns ORDER BY town"), "towns");
        Cases.thrown(() -> cases.execute("INSERT INTO lb_people (id, name, town) VALUES (9, 'x', 'Paris')"), "no such town");
        Cases.equal(List.of("12"), cases.rows("SELECT lb_thrice(4) FROM systables WHERE tabid = 1"), "the routine");
        Cases.equal(List.of("1"), cases.rows("SELECT lb_steps.nextval FROM systables WHERE tabid = 1"), "the sequence");
        Cases.equal(List.of("11"), cases.rows("SELECT lb_steps.nextval FROM systables WHERE tabid = 1"), "the sequence's step");
        apply("undone.xml", """
            <changeSet id="y1" author="us"><dropForeignKeyConstraint baseTableName="lb_people" constraintName="lb_people_town"/></changeSet>
            <changeSet id="y2" author="us"><addForeignKeyConstraint baseTableName="lb_people" baseColumnNames="town" constraintName="lb_again" referencedTableName="lb_towns" referencedColumnNames="town"/></changeSet>
            <changeSet id="y3" author="us"><dropAllForeignKeyConstraints baseTableName="lb_people"/></changeSet>
            <changeSet id="y4" author="us"><dropPrimaryKey tableName="lb_people" constraintName="lb_people_pk"/></changeSet>
            """);
        cases.execute("INSERT INTO lb_people (id, name, town) VALUES (1, 'again', 'Paris')");
        apply("gone.xml", """
            <changeSet id="z1" author="us"><dropView viewName="lb_seen"/></changeSet>
            <changeSet id="z2" author="us"><dropSequence sequenceName="lb_steps"/></changeSet>
            <changeSet id="z3" author="us"><dropProcedure procedureName="lb_thrice"/></changeSet>
            <changeSet id="z4" author="us"><dropTable tableName="lb_people" cascadeConstraints="true"/></changeSet>
            <changeSet id="z5" author="us"><dropTable tableName="lb_towns"/></changeSet>
            """);
        Cases.equal(List.of(), cases.rows("SELECT tabname FROM systables WHERE tabname IN ('lb_people', 'lb_towns', 'lb_seen', 'lb_steps')"), "what is left");
    }

    private void preconditions() throws Exception {
        apply("preconditions.xml", """
            <changeSet id="p1" author="us"><preConditions onFail="MARK_RAN"><not><tableExists tableName="lb_orders"/></not></preConditions><createTable tableName="lb_orders"><column name="a" type="int"/></createTable></changeSet>
            <changeSet id="p2" author="us"><preConditions onFail="HALT"><columnExists tableName="lb_orders" columnName="fancy"/><indexExists tableName="lb_items" indexName="lb_items_both"/>
                <primaryKeyExists tableName="lb_items"/><foreignKeyConstraintExists foreignKeyTableName="lb_items" foreignKeyName="lb_items_fk"/><viewExists viewName="lb_both"/>
                <sqlCheck expectedResult="1">SELECT count(*) FROM lb_orders WHERE id = 1</sqlCheck></preConditions><tagDatabase tag="before"/></changeSet>
            """);
    }

    private void rollback() throws Exception {
        String body = """
            <changeSet id="r1" author="us"><createTable tableName="lb_gone"><column name="a" type="int"/></createTable></changeSet>
            <changeSet id="r2" author="us"><addColumn tableName="lb_gone"><column name="b" type="int"/></addColumn></changeSet>
            <changeSet id="r3" author="us"><createIndex tableName="lb_gone" indexName="lb_gone_b"><column name="b"/></createIndex></changeSet>
            """;
        with("rollback.xml", body, liquibase -> {
            liquibase.update(1, "");
            liquibase.tag("one");
            liquibase.update("");
            liquibase.rollback(1, "");
            liquibase.rollback("one", "");
        });
        Cases.equal(List.of(), cases.rows("SELECT colname FROM syscolumns c, systables t WHERE c.tabid = t.tabid AND tabname = 'lb_gone' AND colname = 'b'"), "column b");
        with("rollback.xml", liquibase -> liquibase.rollback(1, ""));
        Cases.equal(List.of(), cases.rows("SELECT tabname FROM systables WHERE tabname = 'lb_gone'"), "the table");
    }

    private void failure() throws Exception {
        Cases.thrown(() -> apply("failure.xml", """
            <changeSet id="f1" author="us"><insert tableName="lb_orders"><column name="id" valueNumeric="77"/><column name="name" value="x"/></insert>
                <sql>INSERT INTO lb_nowhere VALUES (1)</sql></changeSet>"""), "no such table");
        Cases.equal(List.of(), cases.rows("SELECT id FROM lb_orders WHERE id = 77"), "what the change set did");
        Cases.equal(List.of("f"), cases.rows("SELECT locked::CHAR(1) FROM databasechangeloglock"), "its lock");
    }

    private DatabaseSnapshot taken(Database database) throws Exception {
        return SnapshotGeneratorFactory.getInstance().createSnapshot(database.getDefaultSchema(), database, new SnapshotControl(database));
    }

    private <T extends liquibase.structure.DatabaseObject> List<String> named(DatabaseSnapshot snapshot, Class<T> kind) {
        return snapshot.get(kind).stream().map(o -> String.valueOf(o.getName()).toLowerCase()).filter(n -> n.startsWith("lb_")).sorted().collect(Collectors.toList());
    }

    private void snapshot() throws Exception {
        try (Database database = database()) {
            DatabaseSnapshot found = taken(database);
            Cases.equal(List.of("lb_items", "lb_kinds", "lb_orders"), named(found, Table.class), "tables");
            Cases.equal(List.of("lb_both"), named(found, View.class), "views");
            Cases.equal(List.of("lb_items_pk", "lb_orders_pk"), named(found, PrimaryKey.class), "primary keys");
            Cases.equal(List.of("lb_items_fk"), named(found, ForeignKey.class), "foreign keys");
            Cases.check(named(found, Index.class).contains("lb_items_both"), "the index in " + named(found, Index.class));
            Column name = found.get(new Column(Table.class, null, null, "lb_orders", "name"));
            Cases.check(!name.isNullable(), "lb_orders.name is NOT NULL");
            Cases.equal("varchar", name.getType().getTypeName().toLowerCase(), "its type");
            Cases.equal(40, name.getType().getColumnSize(), "its size");
        }
    }

    private void diffEqual() throws Exception {
        with("orders.xml", liquibase -> {
            try (Database one = database(); Database other = database()) {
                DiffResult diff = liquibase.diff(one, other, CompareControl.STANDARD);
                Cases.check(diff.areEqual(), "no difference, but " + diff.getMissingObjects() + diff.getUnexpectedObjects() + diff.getChangedObjects());
            }
        });
    }

    private void generate() throws Exception {
        // Liquibase writes a size behind every type that the driver gives one, "BOOLEAN(1)", and one more behind the name
        // that the driver has made of a DATETIME's qualifier, "datetime year to second(5)": nothing replays those.
        // The index of a foreign key it writes as a unique one of its own, with a name that begins with a digit.
        cases.execute("DROP TABLE lb_kinds", "ALTER TABLE lb_items DROP CONSTRAINT lb_items_fk", "ALTER TABLE lb_orders DROP (placed, paid, note)");
        Path file = home.resolve("generated.xml");
        List<String> before;
        try (Database database = database()) {
            DatabaseSnapshot found = taken(database);
            before = described(found);
            Database empty = database();
            liquibase.diff.DiffGeneratorFactory factory = liquibase.diff.DiffGeneratorFactory.getInstance();
            DiffResult missing = factory.compare(found, new liquibase.snapshot.EmptyDatabaseSnapshot(database), CompareControl.STANDARD);
            new DiffToChangeLog(missing, new DiffOutputControl(false, false, false, null)).print(file.toString());
            empty.close();
        }
        with("generated.xml", Liquibase::dropAll);
        with("generated.xml", liquibase -> liquibase.update(""));
        try (Database database = database()) {
            Cases.equal(before, described(taken(database)), "the schema");
        }
    }

    private List<String> described(DatabaseSnapshot found) {
        List<String> all = new ArrayList<>();
        for (Column each : found.get(Column.class)) {
            if (each.getRelation() != null && each.getRelation().getName().toLowerCase().startsWith("lb_") && each.getRelation() instanceof Table)
                all.add(each.getRelation().getName() + "." + each.getName() + " " + each.getType() + " " + each.isNullable() + " " + each.getDefaultValue());
        }
        for (Class<? extends liquibase.structure.DatabaseObject> kind : List.of(Table.class, View.class, PrimaryKey.class, ForeignKey.class, UniqueConstraint.class, Sequence.class))
            for (String each : named(found, kind)) all.add(kind.getSimpleName() + " " + each);
        all.sort(null);
        return all;
    }

    private void dropAll() throws Exception {
        with("empty.xml", Liquibase::dropAll);
        Cases.equal(List.of(), cases.rows("SELECT tabname FROM systables WHERE tabname LIKE 'lb%'"), "what is left");
    }
}
