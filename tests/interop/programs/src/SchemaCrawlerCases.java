import java.sql.Connection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import schemacrawler.inclusionrule.RegularExpressionInclusionRule;
import schemacrawler.schema.Catalog;
import schemacrawler.schema.Column;
import schemacrawler.schema.ForeignKey;
import schemacrawler.schema.Index;
import schemacrawler.schema.Routine;
import schemacrawler.schema.Schema;
import schemacrawler.schema.Sequence;
import schemacrawler.schema.Table;
import schemacrawler.schema.TableConstraint;
import schemacrawler.schema.View;
import schemacrawler.schemacrawler.LimitOptionsBuilder;
import schemacrawler.schemacrawler.LoadOptionsBuilder;
import schemacrawler.schemacrawler.SchemaCrawlerOptions;
import schemacrawler.schemacrawler.SchemaCrawlerOptionsBuilder;
import schemacrawler.schemacrawler.SchemaInfoLevelBuilder;
import schemacrawler.tools.utility.SchemaCrawlerUtility;
import us.fatehi.utility.datasource.DatabaseConnectionSources;

/** SchemaCrawler: a crawl of everything that a database declares. */
final class SchemaCrawlerCases {
    private final Cases cases;
    private Catalog catalog;

    private SchemaCrawlerCases(Cases cases) {
        this.cases = cases;
    }

    public static void main(String[] arguments) {
        Cases cases = new Cases(arguments);
        SchemaCrawlerCases self = new SchemaCrawlerCases(cases);
        cases.add("crawls_at_the_highest_level", self::crawl)
            .add("finds_tables_and_views", self::tables)
            .add("columns_have_types_sizes_and_nullability", self::columns)
            .add("primary_keys_have_their_columns_in_order", self::primaryKeys)
            .add("foreign_keys_lead_to_their_tables_with_rules", self::foreignKeys)
            .add("indexes_have_columns_and_uniqueness", self::indexes)
            .add("serial_columns_number_themselves", self::serials)
            .add("defaults_are_shown", self::defaults)
            .add("routines_have_parameters", self::routines)
            .add("privileges_are_shown", self::privileges)
            .add("owners_are_schemas", self::catalogs)
            .add("a_filtered_crawl_finds_only_what_is_asked_for", self::filtered)
            .run();
    }

    private void crawl() throws Exception {
        cases.drop("sc_items", "sc_orders", "sc_types");
        cases.execute(
            "CREATE TABLE sc_orders (id SERIAL NOT NULL, region CHAR(3) NOT NULL, name VARCHAR(40) DEFAULT 'nobody', total DECIMAL(12,3),"
                + " placed DATETIME YEAR TO FRACTION(3) DEFAULT CURRENT YEAR TO FRACTION(3), day DATE DEFAULT TODAY,"
                + " PRIMARY KEY (region, id) CONSTRAINT sc_orders_pk, UNIQUE (name) CONSTRAINT sc_orders_name, CHECK (total >= 0) CONSTRAINT sc_total)",
            "CREATE TABLE sc_items (region CHAR(3), order_id INT, line SMALLINT, what LVARCHAR(500),"
                + " FOREIGN KEY (region, order_id) REFERENCES sc_orders (region, id) ON DELETE CASCADE CONSTRAINT sc_items_fk)",
            "CREATE INDEX sc_items_line ON sc_items (line DESC, what)",
            "CREATE UNIQUE INDEX sc_items_unique ON sc_items (order_id, line)",
            "CREATE TABLE sc_types (a SMALLINT, b INT8, c BIGINT, d SMALLFLOAT, e FLOAT, f MONEY(10,2), g DECIMAL(16), h NCHAR(5), i NVARCHAR(20),"
                + " j BOOLEAN, k BYTE, l TEXT, m BLOB, n CLOB, o INTERVAL DAY(3) TO SECOND, p DATETIME HOUR TO MINUTE, q BIGSERIAL, r LIST(INT NOT NULL))",
            "CREATE VIEW sc_both (region, what) AS SELECT o.region, i.what FROM sc_orders o, sc_items i WHERE o.id = i.order_id",
            "CREATE SYNONYM sc_alias FOR sc_orders",
            "CREATE SEQUENCE sc_numbers START WITH 10 INCREMENT BY 5",
            "CREATE FUNCTION sc_twice(n INT, t VARCHAR(10)) RETURNING INT; RETURN n * 2; END FUNCTION",
            "CREATE PROCEDURE sc_nothing() END PROCEDURE",
            "GRANT SELECT ON sc_orders TO PUBLIC");
        catalog = crawled(SchemaCrawlerOptionsBuilder.newSchemaCrawlerOptions()
            .withLimitOptions(LimitOptionsBuilder.builder()
                .includeSchemas(new RegularExpressionInclusionRule(".*informix.*"))
                .includeRoutines(new RegularExpressionInclusionRule(".*sc_.*"))  // it leaves them out unless told
                .tableTypes("TABLE", "VIEW", "SYNONYM").toOptions())
            .withLoadOptions(LoadOptionsBuilder.builder().withSchemaInfoLevel(SchemaInfoLevelBuilder.maximum()).toOptions()));
        Cases.check(!catalog.getTables().isEmpty(), "tables: " + catalog.getSchemas());
    }

    private Catalog crawled(SchemaCrawlerOptions options) throws Exception {
        Connection connection = cases.connectTellingUrl(cases.url());
        return SchemaCrawlerUtility.getCatalog(DatabaseConnectionSources.fromConnection(connection), options);
    }

    private Table table(String name) {
        return catalog.getTables().stream().filter(t -> bare(t.getName()).equals(name)).findFirst()
            .orElseThrow(() -> new AssertionError("no table " + name + " among " + catalog.getTables()));
    }

    private static String bare(String name) {
        return name.replace("\"", "").trim();
    }

    private void tables() {
        Set<String> found = new TreeSet<>();
        for (Table each : catalog.getTables()) if (bare(each.getName()).startsWith("sc_")) found.add(bare(each.getName()) + ":" + each.getTableType().getTableType());
        Cases.equal("[sc_alias:SYNONYM, sc_both:VIEW, sc_items:TABLE, sc_orders:TABLE, sc_types:TABLE]", found.toString(), "tables");
        Cases.check(table("sc_both") instanceof View, "sc_both is a view");
    }

    private String described(Column c) {
        return bare(c.getName()) + " " + c.getColumnDataType().getJavaSqlType().getName() + "(" + c.getSize() + "," + c.getDecimalDigits() + ")"
            + (c.isNullable() ? "" : " not null");
    }

    private void columns() {
        Cases.equal("[id INTEGER(10,0) not null, region CHAR(3,0) not null, name VARCHAR(40,0), total DECIMAL(12,3), placed TIMESTAMP(23,3), day DATE(10,0)]",
            table("sc_orders").getColumns().stream().map(this::described).collect(Collectors.toList()).toString(), "columns");
        Cases.equal("[SMALLINT, BIGINT, BIGINT, REAL, DOUBLE, DECIMAL, DECIMAL, NCHAR, NVARCHAR, BOOLEAN, LONGVARBINARY, LONGVARCHAR, BLOB, CLOB, OTHER, TIME, BIGINT, OTHER]",
            table("sc_types").getColumns().stream().map(c -> c.getColumnDataType().getJavaSqlType().getName()).collect(Collectors.toList()).toString()
                .replace("FLOAT", "DOUBLE").replace("JAVA_OBJECT", "OTHER"), "types");
    }

    private static String names(List<? extends Column> columns) {
        return columns.stream().map(c -> bare(c.getName())).collect(Collectors.joining(","));
    }

    private void primaryKeys() {
        Cases.equal("region,id", names(table("sc_orders").getPrimaryKey().getConstrainedColumns()), "columns");
        Cases.check(!table("sc_items").hasPrimaryKey(), "sc_items has none");
    }

    private void foreignKeys() {
        ForeignKey key = table("sc_items").getForeignKeys().iterator().next();
        Cases.equal("sc_items_fk", bare(key.getName()), "name");
        Cases.equal("sc_orders", bare(key.getPrimaryKeyTable().getName()), "table");
        Cases.equal("[region, order_id]", key.getColumnReferences().stream().map(r -> bare(r.getForeignKeyColumn().getName())).collect(Collectors.toList()).toString(), "columns");
        Cases.equal("cascade", key.getDeleteRule().name(), "rule");
    }

    private void indexes() {
        Set<String> found = new TreeSet<>();
        for (Index each : table("sc_items").getIndexes()) found.add(bare(each.getName()) + ":" + names(each.getColumns()) + (each.isUnique() ? ":unique" : ""));
        Cases.check(found.contains("sc_items_line:line,what"), "the plain one in " + found);
        Cases.check(found.contains("sc_items_unique:order_id,line:unique"), "the unique one in " + found);
    }

    private void serials() {
        Cases.check(table("sc_orders").getColumns().get(0).isAutoIncremented(), "id numbers itself");
        Cases.check(!table("sc_orders").getColumns().get(2).isAutoIncremented(), "name does not");
    }

    private void defaults() {
        Cases.equal("nobody", String.valueOf(table("sc_orders").getColumns().get(2).getDefaultValue()).replace("'", "").trim(), "default of name");
        Cases.equal(null, table("sc_orders").getColumns().get(3).getDefaultValue(), "default of total");
    }

    private void routines() {
        for (Routine each : catalog.getRoutines()) {
            if (bare(each.getName()).equals("sc_twice")) {
                long inputs = each.getParameters().stream().filter(p -> p.getParameterMode().name().equals("in")).count();
                Cases.equal(2L, inputs, "parameters of sc_twice: " + each.getParameters());
                return;
            }
        }
        throw new AssertionError("no sc_twice among " + catalog.getRoutines());
    }

    private void privileges() {
        // The driver misspells the column's name ("privelege"), so that SchemaCrawler knows who has one, but not which.
        Cases.check(table("sc_orders").getPrivileges().stream().flatMap(p -> p.getGrants().stream()).anyMatch(g -> bare(g.getGrantee()).equals("public")), "a grantee of sc_orders");
    }

    private void catalogs() {
        Set<String> found = new TreeSet<>();
        for (Schema each : catalog.getSchemas()) found.add(bare(each.getName()));
        Cases.equal("[informix]", found.toString(), "owners; the driver's catalogs are not asked for");
    }

    private void filtered() throws Exception {
        Catalog part = crawled(SchemaCrawlerOptionsBuilder.newSchemaCrawlerOptions()
            .withLimitOptions(LimitOptionsBuilder.builder()
                .includeSchemas(new RegularExpressionInclusionRule(".*informix.*"))
                .includeTables(new RegularExpressionInclusionRule(".*sc_orders.*")).toOptions())
            .withLoadOptions(LoadOptionsBuilder.builder().withSchemaInfoLevel(SchemaInfoLevelBuilder.standard()).toOptions()));
        Cases.equal("[sc_orders]", part.getTables().stream().map(t -> bare(t.getName())).collect(Collectors.toList()).toString(), "tables");
    }
}
