import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.sql.*;
import java.util.*;
import com.informix.jdbc.IfmxPreparedStatement;
import com.informix.jdbc.IfmxStatement;
import com.informix.lang.IntervalDF;
import com.informix.lang.IntervalYM;

/**
 * Black-box conformance cases for a server that speaks SQLI, driven by the vendor's JDBC driver.
 * Arguments: HOST PORT DB USER PASSWORD [INFORMIXSERVER]
 * System properties: only=REGEX (names to run), timeout=SECONDS per case (60), extra=URL properties, rows=N (100000),
 * list=true (print the names of all cases, connect to nothing).
 * Every case has its own connection, its own tables (names begin with cf_) and its own time limit.
 */
public class Conformance {
    interface Body { void run(Connection c) throws Exception; }
    interface Free { void run() throws Exception; }
    interface Bind { void set(PreparedStatement p, int i) throws Exception; }
    interface Get { Object get(ResultSet r, int i) throws Exception; }

    static String host, port, db, user, password, server, extra = System.getProperty("extra", "");
    static final Map<String, Free> CASES = new LinkedHashMap<>();
    static int passed, failed;

    // ---- plumbing -------------------------------------------------------------------------
    static String url(String database, String u, String pw, String more) {
        return "jdbc:informix-sqli://" + host + ":" + port + "/" + database + ":INFORMIXSERVER=" + server
             + ";user=" + u + ";password=" + pw + ";" + extra + more;
    }
    static Connection open(String more) throws SQLException {
        return DriverManager.getConnection(url(db, user, password, more));
    }
    static void add(String name, Body b) { add(name, "", b); }
    static void add(String name, String more, Body b) {
        CASES.put(name, () -> { try (Connection c = open(more)) { b.run(c); } });
    }
    static void free(String name, Free f) { CASES.put(name, f); }

    static void check(boolean ok, String what) { if (!ok) throw new AssertionError(what); }
    static String show(Object o) {
        if (o instanceof byte[]) { byte[] b = (byte[]) o; return b.length > 40 ? "byte[" + b.length + "]" : Arrays.toString(b); }
        String s = String.valueOf(o);
        return s.length() > 120 ? s.substring(0, 120) + "... (" + s.length() + " chars)" : s;
    }
    static void eq(Object want, Object got, String what) {
        boolean same = want instanceof byte[] && got instanceof byte[] ? Arrays.equals((byte[]) want, (byte[]) got)
                     : want instanceof BigDecimal && got instanceof BigDecimal ? ((BigDecimal) want).compareTo((BigDecimal) got) == 0
                     : Objects.equals(want, got);
        check(same, what + ": expected <" + show(want) + "> but got <" + show(got) + ">");
    }
    static int exec(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) { return s.executeUpdate(sql); }
    }
    static void drop(Connection c, String table) {
        try { exec(c, "drop table " + table); } catch (SQLException e) { /* was not there */ }
    }
    static void table(Connection c, String name, String columns) throws SQLException {
        drop(c, name);
        exec(c, "create table " + name + " (" + columns + ")");
    }
    static Object one(Connection c, String sql, Get g) throws Exception {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            check(r.next(), "no row from: " + sql);
            Object v = g.get(r, 1);
            if (r.wasNull()) v = null;
            check(!r.next(), "more than one row from: " + sql);
            return v;
        }
    }
    static long count(Connection c, String sql) throws Exception { return (Long) one(c, sql, (r, i) -> r.getLong(i)); }
    static void fails(int code, Free f) throws Exception {
        try { f.run(); }
        catch (SQLException e) {
            check(e.getErrorCode() == code, "expected error " + code + " but got " + e.getErrorCode() + " " + e.getMessage());
            return;
        }
        throw new AssertionError("expected error " + code + " but the call succeeded");
    }
    static void failsSql(String name, int code, String sql) {
        add("error_" + name, c -> fails(code, () -> {
            try (Statement s = c.createStatement()) {
                if (s.execute(sql)) try (ResultSet r = s.getResultSet()) { while (r.next()) r.getObject(1); }
            }
        }));
    }

    /** Insert each value through a PreparedStatement, read it back with the getter, compare; then the same with NULL. */
    static void type(String name, String sqlType, Get get, Object... setterThenExpected) {
        add("type_" + name, c -> {
            String t = "cf_t_" + name;
            table(c, t, "id integer, v " + sqlType + ", tail integer");
            try (PreparedStatement p = c.prepareStatement("insert into " + t + " values (?, ?, ?)")) {
                int n = 0;
                for (int k = 0; k < setterThenExpected.length; k += 2) {
                    p.setInt(1, n); ((Bind) setterThenExpected[k]).set(p, 2); p.setInt(3, 1000 + n);
                    eq(1, p.executeUpdate(), "rows inserted"); n++;
                }
                p.setInt(1, n); p.setNull(2, Types.NULL); p.setInt(3, 1000 + n);
                eq(1, p.executeUpdate(), "null inserted");
            }
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select id, v, tail from " + t + " order by id")) {
                int n = 0;
                for (int k = 0; k < setterThenExpected.length; k += 2, n++) {
                    check(r.next(), "row " + n + " missing");
                    Object got = get.get(r, 2);
                    eq(setterThenExpected[k + 1], got, "value " + n);
                    check(!r.wasNull(), "value " + n + " reported as NULL");
                    eq(1000 + n, r.getInt(3), "column after value " + n);
                }
                check(r.next(), "NULL row missing");
                check(r.getObject(2) == null && r.wasNull(), "NULL came back as " + show(r.getObject(2)));
                eq(1000 + n, r.getInt(3), "column after NULL");
                check(!r.next(), "too many rows");
            }
            drop(c, t);
        });
    }
    static Bind bd(String v) { return (p, i) -> p.setBigDecimal(i, new BigDecimal(v)); }
    static Bind st(String v) { return (p, i) -> p.setString(i, v); }
    static BigDecimal dec(String v) { return new BigDecimal(v); }
    static String rep(char ch, int n) { char[] a = new char[n]; Arrays.fill(a, ch); return new String(a); }
    static byte[] bytes(int n) { byte[] b = new byte[n]; for (int i = 0; i < n; i++) b[i] = (byte) (i * 7 + i / 251); return b; }
    static String rtrim(String s) { return s == null ? null : s.replaceAll(" +$", ""); }

    static void keyTable(Connection c, String t) throws SQLException { table(c, t, "id integer not null primary key, name varchar(40)"); }
    static void fill(Connection c, String t, int n) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("insert into " + t + " values (?, ?)")) {
            for (int i = 1; i <= n; i++) { p.setInt(1, i); p.setString(2, "name " + i); p.addBatch(); }
            p.executeBatch();
        }
    }
    static Set<String> names(ResultSet r, String column) throws SQLException {
        Set<String> s = new TreeSet<>();
        while (r.next()) { String v = r.getString(column); s.add(v == null ? null : v.trim().toLowerCase()); }
        r.close();
        return s;
    }

    // ---- the cases ------------------------------------------------------------------------
    static void define() {
        // connection
        add("connect_close", c -> { check(!c.isClosed(), "closed"); check(c.getAutoCommit(), "autocommit should start on"); c.close(); check(c.isClosed(), "still open"); });
        add("connect_is_valid", c -> { check(c.isValid(5), "not valid"); c.close(); check(!c.isValid(5), "valid after close"); });
        free("connect_ten_at_once", () -> {
            List<Connection> l = new ArrayList<>();
            try {
                for (int i = 0; i < 10; i++) l.add(open(""));
                for (Connection c : l) eq(1L, count(c, "select count(*) from systables where tabid = 1"), "count");
            } finally { for (Connection c : l) c.close(); }
        });
        free("connect_wrong_password", () -> fails(-951, () -> DriverManager.getConnection(url(db, user, "wrong" + password, "")).close()));
        free("connect_unknown_user", () -> fails(-951, () -> DriverManager.getConnection(url(db, "nosuchuserx", "x", "")).close()));
        free("connect_unknown_database", () -> fails(-329, () -> DriverManager.getConnection(url("nosuchdbx", user, password, "")).close()));

        // simple statements
        add("select_one_row", c -> eq(1, one(c, "select tabid from systables where tabid = 1", (r, i) -> r.getInt(i)), "tabid"));
        add("select_no_row", c -> { try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select tabid from systables where tabid = -5")) { check(!r.next(), "unexpected row"); } });
        add("select_first_n", c -> { keyTable(c, "cf_first"); fill(c, "cf_first", 20); try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select first 5 id from cf_first order by id")) { int n = 0; while (r.next()) eq(++n, r.getInt(1), "id"); eq(5, n, "rows"); } drop(c, "cf_first"); });
        add("select_group_having_order", c -> { table(c, "cf_grp", "g integer, v integer"); for (int i = 0; i < 12; i++) exec(c, "insert into cf_grp values (" + i % 3 + ", " + i + ")"); try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select g, sum(v) from cf_grp group by g having sum(v) > 18 order by 1 desc")) { r.next(); eq(2, r.getInt(1), "g"); eq(26L, r.getLong(2), "sum"); r.next(); eq(1, r.getInt(1), "g"); eq(22L, r.getLong(2), "sum"); check(!r.next(), "too many rows"); } drop(c, "cf_grp"); });
        add("select_outer_join", c -> { keyTable(c, "cf_oj1"); keyTable(c, "cf_oj2"); fill(c, "cf_oj1", 3); fill(c, "cf_oj2", 2); eq(1L, count(c, "select count(*) from cf_oj1 a left outer join cf_oj2 b on a.id = b.id where b.id is null"), "unmatched"); drop(c, "cf_oj1"); drop(c, "cf_oj2"); });
        add("column_names_and_types", c -> { table(c, "cf_md", "a integer not null, b varchar(30), d decimal(8,2), e date"); try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select a, b, d, e, a + 1 as f from cf_md")) { ResultSetMetaData m = r.getMetaData(); eq(5, m.getColumnCount(), "columns"); eq("a", m.getColumnName(1), "name 1"); eq("f", m.getColumnLabel(5), "label 5"); eq(Types.INTEGER, m.getColumnType(1), "type 1"); eq(ResultSetMetaData.columnNoNulls, m.isNullable(1), "nullable 1"); eq(ResultSetMetaData.columnNullable, m.isNullable(2), "nullable 2"); eq(Types.VARCHAR, m.getColumnType(2), "type 2"); eq(30, m.getPrecision(2), "length 2"); eq(Types.DECIMAL, m.getColumnType(3), "type 3"); eq(8, m.getPrecision(3), "precision 3"); eq(2, m.getScale(3), "scale 3"); eq(Types.DATE, m.getColumnType(4), "type 4"); } drop(c, "cf_md"); });
        add("execute_and_update_count", c -> { keyTable(c, "cf_ex"); try (Statement s = c.createStatement()) { check(!s.execute("insert into cf_ex values (1, 'a')"), "insert is no query"); eq(1, s.getUpdateCount(), "count"); check(s.execute("select id from cf_ex"), "select is a query"); try (ResultSet r = s.getResultSet()) { check(r.next(), "row"); } } drop(c, "cf_ex"); });
        add("ddl_create_alter_drop", c -> { drop(c, "cf_ddl"); exec(c, "create table cf_ddl (a integer)"); exec(c, "insert into cf_ddl values (1)"); exec(c, "alter table cf_ddl add (b varchar(10))"); exec(c, "update cf_ddl set b = 'x'"); eq("x", one(c, "select b from cf_ddl", (r, i) -> r.getString(i)), "b"); exec(c, "create index cf_ddl_i on cf_ddl (a)"); exec(c, "drop index cf_ddl_i"); exec(c, "drop table cf_ddl"); fails(-206, () -> one(c, "select a from cf_ddl", (r, i) -> r.getInt(i))); });
        add("temp_table", c -> { exec(c, "create temp table cf_tmp (a integer) with no log"); exec(c, "insert into cf_tmp values (7)"); eq(7, one(c, "select a from cf_tmp", (r, i) -> r.getInt(i)), "a"); exec(c, "drop table cf_tmp"); });
        add("serial_dbinfo", c -> { table(c, "cf_ser2", "id serial, v integer"); exec(c, "insert into cf_ser2 values (0, 1)"); eq(1, one(c, "select dbinfo('sqlca.sqlerrd1') from systables where tabid = 1", (r, i) -> r.getInt(i)), "dbinfo"); drop(c, "cf_ser2"); });
        add("bigserial_value", c -> { table(c, "cf_bser", "id bigserial, v integer"); try (Statement s = c.createStatement()) { s.executeUpdate("insert into cf_bser values (0, 1)"); eq(1L, ((IfmxStatement) s).getBigSerial(), "first bigserial"); } drop(c, "cf_bser"); });
        add("generated_keys", c -> { table(c, "cf_gk", "id serial, v integer"); try (Statement s = c.createStatement()) { s.executeUpdate("insert into cf_gk (v) values (5)", Statement.RETURN_GENERATED_KEYS); try (ResultSet r = s.getGeneratedKeys()) { check(r.next(), "no key row"); eq(1, r.getInt(1), "key"); } } drop(c, "cf_gk"); });

        // types: value, NULL, and alignment of the column after it
        type("integer", "integer", (r, i) -> r.getInt(i), (Bind) (p, i) -> p.setInt(i, 0), 0, (Bind) (p, i) -> p.setInt(i, -1), -1, (Bind) (p, i) -> p.setInt(i, Integer.MAX_VALUE), Integer.MAX_VALUE, (Bind) (p, i) -> p.setInt(i, -2147483647), -2147483647, st("123"), 123);
        type("bigint", "bigint", (r, i) -> r.getLong(i), (Bind) (p, i) -> p.setLong(i, 0), 0L, (Bind) (p, i) -> p.setLong(i, -5000000000L), -5000000000L, (Bind) (p, i) -> p.setLong(i, Long.MAX_VALUE), Long.MAX_VALUE, (Bind) (p, i) -> p.setLong(i, -Long.MAX_VALUE), -Long.MAX_VALUE);
        type("int8", "int8", (r, i) -> r.getLong(i), (Bind) (p, i) -> p.setLong(i, 0), 0L, (Bind) (p, i) -> p.setLong(i, -123456789012L), -123456789012L, (Bind) (p, i) -> p.setLong(i, Long.MAX_VALUE), Long.MAX_VALUE, (Bind) (p, i) -> p.setLong(i, -Long.MAX_VALUE), -Long.MAX_VALUE);
        type("float", "float", (r, i) -> r.getDouble(i), (Bind) (p, i) -> p.setDouble(i, 0d), 0d, (Bind) (p, i) -> p.setDouble(i, 0.1), 0.1, (Bind) (p, i) -> p.setDouble(i, -1e300), -1e300, (Bind) (p, i) -> p.setDouble(i, 123456789.123456789), 123456789.123456789);
        type("decimal_8_2", "decimal(8,2)", (r, i) -> r.getBigDecimal(i), bd("0"), dec("0"), bd("0.01"), dec("0.01"), bd("-0.01"), dec("-0.01"), bd("123456.78"), dec("123456.78"), bd("-123456.78"), dec("-123456.78"), bd("100"), dec("100"), st("12.5"), dec("12.5"), (Bind) (p, i) -> p.setInt(i, 42), dec("42"));
        type("decimal_32_16", "decimal(32,16)", (r, i) -> r.getBigDecimal(i), bd("1234567890123456.1234567890123456"), dec("1234567890123456.1234567890123456"), bd("-1234567890123456.1234567890123456"), dec("-1234567890123456.1234567890123456"), bd("0.0000000000000001"), dec("0.0000000000000001"));
        type("decimal_5_5", "decimal(5,5)", (r, i) -> r.getBigDecimal(i), bd("0.5"), dec("0.5"), bd("0.00001"), dec("0.00001"), bd("-0.99999"), dec("-0.99999"));
        type("decimal_floating", "decimal(16)", (r, i) -> r.getBigDecimal(i), bd("0"), dec("0"), bd("1.5"), dec("1.5"), bd("1E-20"), dec("1E-20"), bd("-1E+20"), dec("-1E+20"), bd("1234567890.123456"), dec("1234567890.123456"));
        type("money", "money(16,2)", (r, i) -> r.getBigDecimal(i), bd("0"), dec("0"), bd("9.99"), dec("9.99"), bd("-1234.56"), dec("-1234.56"));
        type("varchar", "varchar(255)", (r, i) -> r.getString(i), st("abc"), "abc", st(""), "", st("tail  "), "tail  ", st(rep('x', 255)), rep('x', 255));
        type("nchar", "nchar(10)", (r, i) -> r.getString(i), st("abc"), "abc       ");
        type("nvarchar", "nvarchar(100)", (r, i) -> r.getString(i), st("abc"), "abc", st(""), "");
        type("lvarchar_long", "lvarchar(32739)", (r, i) -> r.getString(i), st(rep('z', 32739)), rep('z', 32739), st(rep('q', 4097)), rep('q', 4097));
        type("date", "date", (r, i) -> r.getDate(i).toString(), (Bind) (p, i) -> p.setDate(i, java.sql.Date.valueOf("2024-02-29")), "2024-02-29", (Bind) (p, i) -> p.setDate(i, java.sql.Date.valueOf("1899-12-31")), "1899-12-31", (Bind) (p, i) -> p.setDate(i, java.sql.Date.valueOf("9999-12-31")), "9999-12-31", (Bind) (p, i) -> p.setDate(i, java.sql.Date.valueOf("1850-01-01")), "1850-01-01");
        type("datetime_year_second", "datetime year to second", (r, i) -> r.getTimestamp(i).toString(), (Bind) (p, i) -> p.setTimestamp(i, Timestamp.valueOf("2024-02-29 13:14:15")), "2024-02-29 13:14:15.0", (Bind) (p, i) -> p.setTimestamp(i, Timestamp.valueOf("1999-12-31 00:00:00")), "1999-12-31 00:00:00.0");
        type("datetime_year_fraction3", "datetime year to fraction(3)", (r, i) -> r.getTimestamp(i).toString(), (Bind) (p, i) -> p.setTimestamp(i, Timestamp.valueOf("2024-02-29 13:14:15.123")), "2024-02-29 13:14:15.123");
        type("datetime_year_day", "datetime year to day", (r, i) -> r.getDate(i).toString(), (Bind) (p, i) -> p.setDate(i, java.sql.Date.valueOf("2024-02-29")), "2024-02-29");
        type("datetime_year_minute", "datetime year to minute", (r, i) -> r.getString(i), st("2024-02-29 13:14"), "2024-02-29 13:14");
        type("interval_year_month", "interval year(4) to month", (r, i) -> r.getString(i).trim(), (Bind) (p, i) -> ((IfmxPreparedStatement) p).setIntervalYM(i, new IntervalYM("5-07")), "5-07", (Bind) (p, i) -> ((IfmxPreparedStatement) p).setIntervalYM(i, new IntervalYM("-5-07")), "-5-07");
        type("interval_day_second", "interval day(2) to second", (r, i) -> r.getString(i).trim(), (Bind) (p, i) -> ((IfmxPreparedStatement) p).setIntervalDF(i, new IntervalDF("3 04:05:06.00000")), "3 04:05:06", st("-3 04:05:06"), "-3 04:05:06", st("0 00:00:00"), "0 00:00:00");
        type("interval_day_fraction5", "interval day(2) to fraction(5)", (r, i) -> r.getString(i).trim(), (Bind) (p, i) -> ((IfmxPreparedStatement) p).setIntervalDF(i, new IntervalDF("3 04:05:06.70000")), "3 04:05:06.70000");
        type("byte", "byte", (r, i) -> r.getBytes(i), (Bind) (p, i) -> p.setBytes(i, bytes(5)), bytes(5), (Bind) (p, i) -> p.setBytes(i, bytes(1024)), bytes(1024), (Bind) (p, i) -> p.setBytes(i, bytes(100001)), bytes(100001), (Bind) (p, i) -> p.setBinaryStream(i, new ByteArrayInputStream(bytes(2500)), 2500), bytes(2500));
        type("text", "text", (r, i) -> r.getString(i), (Bind) (p, i) -> p.setCharacterStream(i, new StringReader("hello"), 5), "hello", st(rep('t', 5000)), rep('t', 5000));
        type("blob_needs_sbspace", "blob", (r, i) -> r.getBytes(i), (Bind) (p, i) -> p.setBytes(i, bytes(1000)), bytes(1000));
        add("type_boolean_in_where", c -> { table(c, "cf_bw", "b boolean"); exec(c, "insert into cf_bw values ('t')"); exec(c, "insert into cf_bw values ('f')"); try (PreparedStatement p = c.prepareStatement("select count(*) from cf_bw where b = ?")) { p.setBoolean(1, true); try (ResultSet r = p.executeQuery()) { r.next(); eq(1, r.getInt(1), "count"); } } drop(c, "cf_bw"); });
        add("type_many_columns_one_row", c -> {
            table(c, "cf_wide", "a smallint, b integer, c bigint, d int8, e float, f smallfloat, g decimal(8,2), h money, i char(7), j varchar(20), k lvarchar(300), l date, m datetime year to fraction(5), n interval day to second, o boolean, p integer");
            exec(c, "insert into cf_wide values (1, 2, 3, 4, 5.5, 6.5, 7.25, 8.75, 'chr', 'vch', 'lvch', mdy(2,29,2024), datetime(2024-02-29 13:14:15.12345) year to fraction(5), interval(3 04:05:06) day to second, 't', 99)");
            exec(c, "insert into cf_wide (p) values (100)");
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select * from cf_wide order by p")) {
                check(r.next(), "row 1");
                eq(1, r.getInt(1), "a"); eq(2, r.getInt(2), "b"); eq(3L, r.getLong(3), "c"); eq(4L, r.getLong(4), "d"); eq(5.5, r.getDouble(5), "e"); eq(6.5f, r.getFloat(6), "f"); eq(dec("7.25"), r.getBigDecimal(7), "g"); eq(dec("8.75"), r.getBigDecimal(8), "h"); eq("chr    ", r.getString(9), "i"); eq("vch", r.getString(10), "j"); eq("lvch", r.getString(11), "k"); eq("2024-02-29", r.getDate(12).toString(), "l"); eq("2024-02-29 13:14:15.12345", r.getTimestamp(13).toString(), "m"); eq("3 04:05:06", r.getString(14).trim(), "n"); eq(true, r.getBoolean(15), "o"); eq(99, r.getInt(16), "p");
                check(r.next(), "row 2");
                for (int i = 1; i <= 15; i++) check(r.getObject(i) == null, "column " + i + " should be NULL but is " + show(r.getObject(i)));
                eq(100, r.getInt(16), "p of the NULL row");
            }
            drop(c, "cf_wide");
        });

        // prepared statements
        add("prepared_reuse_100", c -> { keyTable(c, "cf_pr"); try (PreparedStatement p = c.prepareStatement("insert into cf_pr values (?, ?)")) { for (int i = 0; i < 100; i++) { p.setInt(1, i); p.setString(2, "n" + i); eq(1, p.executeUpdate(), "insert"); } } try (PreparedStatement p = c.prepareStatement("select name from cf_pr where id = ?")) { for (int i = 0; i < 100; i++) { p.setInt(1, i); try (ResultSet r = p.executeQuery()) { check(r.next(), "row " + i); eq("n" + i, r.getString(1), "name"); check(!r.next(), "more rows"); } } } drop(c, "cf_pr"); });
        add("prepared_null_parameter", c -> { keyTable(c, "cf_pn"); fill(c, "cf_pn", 3); try (PreparedStatement p = c.prepareStatement("select count(*) from cf_pn where name = ?")) { p.setNull(1, Types.VARCHAR); try (ResultSet r = p.executeQuery()) { r.next(); eq(0, r.getInt(1), "count"); } p.setString(1, "name 2"); try (ResultSet r = p.executeQuery()) { r.next(); eq(1, r.getInt(1), "count"); } } drop(c, "cf_pn"); });
        add("prepared_update_delete", c -> { keyTable(c, "cf_pu"); fill(c, "cf_pu", 10); try (PreparedStatement p = c.prepareStatement("update cf_pu set name = ? where id > ?")) { p.setString(1, "big"); p.setInt(2, 7); eq(3, p.executeUpdate(), "updated"); } try (PreparedStatement p = c.prepareStatement("delete from cf_pu where name = ?")) { p.setString(1, "big"); eq(3, p.executeUpdate(), "deleted"); } eq(7L, count(c, "select count(*) from cf_pu"), "left"); drop(c, "cf_pu"); });
        add("prepared_error_then_reuse", c -> { keyTable(c, "cf_pe"); try (PreparedStatement p = c.prepareStatement("insert into cf_pe values (?, ?)")) { p.setInt(1, 1); p.setString(2, "a"); p.executeUpdate(); fails(-268, p::executeUpdate); p.setInt(1, 2); eq(1, p.executeUpdate(), "after the error"); } eq(2L, count(c, "select count(*) from cf_pe"), "rows"); drop(c, "cf_pe"); });
        add("interleaved_statements", c -> { keyTable(c, "cf_il"); fill(c, "cf_il", 2000); try (Statement s = c.createStatement(); PreparedStatement q = c.prepareStatement("select name from cf_il where id = ?"); ResultSet r = s.executeQuery("select id from cf_il order by id")) { int n = 0; while (r.next()) { n++; eq(n, r.getInt(1), "id"); if (n % 100 == 0) { q.setInt(1, n); try (ResultSet x = q.executeQuery()) { check(x.next(), "inner row"); eq("name " + n, x.getString(1), "inner"); } } } eq(2000, n, "rows"); } drop(c, "cf_il"); });
        add("close_result_set_early", c -> { keyTable(c, "cf_ce"); fill(c, "cf_ce", 3000); for (int i = 0; i < 20; i++) try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select id from cf_ce order by id")) { r.next(); eq(1, r.getInt(1), "id"); } drop(c, "cf_ce"); });
        add("autofree", "IFX_AUTOFREE=1;", c -> { for (int i = 0; i < 50; i++) eq(1, one(c, "select tabid from systables where tabid = 1", (r, k) -> r.getInt(k)), "tabid"); });
        add("optofc", "OPTOFC=1;", c -> { try (PreparedStatement p = c.prepareStatement("select tabname from systables where tabid = ?")) { for (int i = 0; i < 20; i++) { p.setInt(1, 1); try (ResultSet r = p.executeQuery()) { check(r.next(), "row"); eq("systables", rtrim(r.getString(1)), "name"); check(!r.next(), "end"); } } } });

        // batches
        add("batch_statement", c -> { keyTable(c, "cf_bs"); try (Statement s = c.createStatement()) { s.addBatch("insert into cf_bs values (1, 'a')"); s.addBatch("insert into cf_bs values (2, 'b')"); s.addBatch("update cf_bs set name = 'z'"); s.addBatch("delete from cf_bs where id = 1"); check(Arrays.equals(new int[] {1, 1, 2, 1}, s.executeBatch()), "counts"); } drop(c, "cf_bs"); });
        for (String put : new String[] {"", "IFX_USEPUT=1;"}) {
            String suffix = put.isEmpty() ? "" : "_useput";
            add("batch_duplicate_key_rolled_back" + suffix, put, c -> { keyTable(c, "cf_bd" + suffix); c.setAutoCommit(false); try (PreparedStatement p = c.prepareStatement("insert into cf_bd" + suffix + " values (?, ?)")) { for (int i = 1; i <= 10; i++) { p.setInt(1, i == 6 ? 2 : i); p.setString(2, "x"); p.addBatch(); } try { p.executeBatch(); check(false, "no error"); } catch (BatchUpdateException e) { eq(-268, e.getErrorCode(), "code"); } } c.rollback(); c.setAutoCommit(true); eq(0L, count(c, "select count(*) from cf_bd" + suffix), "rows after rollback"); drop(c, "cf_bd" + suffix); });
            add("bulk_10000_rows" + suffix, put, c -> { keyTable(c, "cf_bk" + suffix); c.setAutoCommit(false); try (PreparedStatement p = c.prepareStatement("insert into cf_bk" + suffix + " values (?, ?)")) { for (int i = 1; i <= 10000; i++) { p.setInt(1, i); p.setString(2, "name " + i); p.addBatch(); if (i % 2500 == 0) p.executeBatch(); } } c.commit(); c.setAutoCommit(true); eq(10000L, count(c, "select count(*) from cf_bk" + suffix), "rows"); eq(50005000L, count(c, "select sum(id) from cf_bk" + suffix), "sum"); drop(c, "cf_bk" + suffix); });
        }
        add("useput_autocommit", "IFX_USEPUT=1;", c -> { keyTable(c, "cf_ua"); fill(c, "cf_ua", 500); eq(500L, count(c, "select count(*) from cf_ua"), "rows"); drop(c, "cf_ua"); });
        add("useput_types_and_nulls", "IFX_USEPUT=1;", c -> {
            table(c, "cf_ut", "id integer, a smallint, b bigint, d decimal(8,2), e float, f char(5), g varchar(20), h lvarchar(100), i date, j datetime year to second, k boolean");
            try (PreparedStatement p = c.prepareStatement("insert into cf_ut values (?,?,?,?,?,?,?,?,?,?,?)")) {
                p.setInt(1, 1); p.setShort(2, (short) -2); p.setLong(3, 5000000000L); p.setBigDecimal(4, dec("-12.34")); p.setDouble(5, 0.1); p.setString(6, "ch"); p.setString(7, "vch"); p.setString(8, "lvch"); p.setDate(9, java.sql.Date.valueOf("2024-02-29")); p.setTimestamp(10, Timestamp.valueOf("2024-02-29 13:14:15")); p.setBoolean(11, true); p.addBatch();
                p.setInt(1, 2); for (int i = 2; i <= 11; i++) p.setNull(i, Types.NULL); p.addBatch();
                p.executeBatch();
            }
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select * from cf_ut order by id")) {
                check(r.next(), "row 1"); eq(-2, r.getInt(2), "a"); eq(5000000000L, r.getLong(3), "b"); eq(dec("-12.34"), r.getBigDecimal(4), "d"); eq(0.1, r.getDouble(5), "e"); eq("ch   ", r.getString(6), "f"); eq("vch", r.getString(7), "g"); eq("lvch", r.getString(8), "h"); eq("2024-02-29", r.getDate(9).toString(), "i"); eq("2024-02-29 13:14:15.0", r.getTimestamp(10).toString(), "j"); eq(true, r.getBoolean(11), "k");
                check(r.next(), "row 2"); for (int i = 2; i <= 11; i++) check(r.getObject(i) == null, "column " + i + " should be NULL");
            }
            drop(c, "cf_ut");
        });

        // transactions
        add("tx_supported", c -> check(c.getMetaData().supportsTransactions(), "the database has no transactions"));
        add("tx_rollback", c -> { keyTable(c, "cf_tr"); exec(c, "insert into cf_tr values (1, 'a')"); c.setAutoCommit(false); exec(c, "insert into cf_tr values (2, 'b')"); exec(c, "update cf_tr set name = 'z'"); exec(c, "delete from cf_tr where id = 1"); c.rollback(); c.setAutoCommit(true); eq(1L, count(c, "select count(*) from cf_tr"), "rows"); eq("a", one(c, "select name from cf_tr", (r, i) -> r.getString(i)), "name"); drop(c, "cf_tr"); });
        free("tx_close_rolls_back", () -> { try (Connection c = open("")) { keyTable(c, "cf_tb"); Connection d = open(""); d.setAutoCommit(false); exec(d, "insert into cf_tb values (1, 'a')"); d.close(); Thread.sleep(300); eq(0L, count(c, "select count(*) from cf_tb"), "rows"); drop(c, "cf_tb"); } });
        add("tx_savepoint_rollback", c -> { keyTable(c, "cf_sp"); c.setAutoCommit(false); exec(c, "insert into cf_sp values (1, 'a')"); Savepoint sp = c.setSavepoint("one"); exec(c, "insert into cf_sp values (2, 'b')"); c.rollback(sp); exec(c, "insert into cf_sp values (3, 'c')"); c.commit(); c.setAutoCommit(true); eq(4L, count(c, "select sum(id) from cf_sp"), "1 and 3 remain"); drop(c, "cf_sp"); });
        add("tx_savepoint_unnamed", c -> { keyTable(c, "cf_su"); c.setAutoCommit(false); exec(c, "insert into cf_su values (1, 'a')"); Savepoint sp = c.setSavepoint(); exec(c, "insert into cf_su values (2, 'b')"); c.rollback(sp); c.commit(); c.setAutoCommit(true); eq(1L, count(c, "select count(*) from cf_su"), "rows"); drop(c, "cf_su"); });
        add("tx_error_inside_keeps_work", c -> { keyTable(c, "cf_te"); c.setAutoCommit(false); exec(c, "insert into cf_te values (1, 'a')"); fails(-268, () -> exec(c, "insert into cf_te values (1, 'b')")); exec(c, "insert into cf_te values (2, 'b')"); c.commit(); c.setAutoCommit(true); eq(2L, count(c, "select count(*) from cf_te"), "rows"); drop(c, "cf_te"); });
        add("tx_begin_work_sql", c -> { keyTable(c, "cf_bw2"); exec(c, "begin work"); exec(c, "insert into cf_bw2 values (1, 'a')"); exec(c, "rollback work"); eq(0L, count(c, "select count(*) from cf_bw2"), "rows"); drop(c, "cf_bw2"); });
        add("tx_ddl_rolled_back", c -> { drop(c, "cf_dr"); c.setAutoCommit(false); exec(c, "create table cf_dr (a integer)"); c.rollback(); c.setAutoCommit(true); fails(-206, () -> count(c, "select count(*) from cf_dr")); });

        // cursors
        add("scroll_cursor", c -> { keyTable(c, "cf_sc"); fill(c, "cf_sc", 50); try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY); ResultSet r = s.executeQuery("select id from cf_sc order by id")) { check(r.last(), "last"); eq(50, r.getInt(1), "last"); eq(50, r.getRow(), "row number"); check(r.first(), "first"); eq(1, r.getInt(1), "first"); check(r.absolute(10), "absolute"); eq(10, r.getInt(1), "absolute"); check(r.relative(-3), "relative"); eq(7, r.getInt(1), "relative"); check(r.previous(), "previous"); eq(6, r.getInt(1), "previous"); check(r.next(), "next"); eq(7, r.getInt(1), "next"); check(r.absolute(-1), "absolute -1"); eq(50, r.getInt(1), "absolute -1"); check(!r.next(), "after last"); r.beforeFirst(); int n = 0; while (r.next()) eq(++n, r.getInt(1), "walk"); eq(50, n, "rows"); check(!r.absolute(99), "absolute beyond the end"); } drop(c, "cf_sc"); });
        add("scroll_cursor_empty", c -> { keyTable(c, "cf_se"); try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY); ResultSet r = s.executeQuery("select id from cf_se")) { check(!r.last(), "last"); check(!r.first(), "first"); check(!r.next(), "next"); } drop(c, "cf_se"); });
        add("hold_cursor_over_commit", c -> { keyTable(c, "cf_hc"); fill(c, "cf_hc", 2000); c.setAutoCommit(false); try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT); ResultSet r = s.executeQuery("select id from cf_hc order by id")) { int n = 0; while (r.next()) { n++; if (n == 10) { exec(c, "update cf_hc set name = 'z' where id = 1"); c.commit(); } } eq(2000, n, "rows"); } c.commit(); c.setAutoCommit(true); drop(c, "cf_hc"); });
        add("update_where_current_of", c -> { keyTable(c, "cf_cu"); fill(c, "cf_cu", 3); c.setAutoCommit(false); try (Statement s = c.createStatement()) { s.setCursorName("cfcur"); try (ResultSet r = s.executeQuery("select id, name from cf_cu where id = 2 for update")) { check(r.next(), "row"); eq(1, exec(c, "update cf_cu set name = 'here' where current of cfcur"), "updated"); } } c.commit(); c.setAutoCommit(true); eq("here", one(c, "select name from cf_cu where id = 2", (r, i) -> r.getString(i)), "name"); drop(c, "cf_cu"); });
        add("query_timeout", c -> { try (Statement s = c.createStatement()) { s.setQueryTimeout(1); long t = System.currentTimeMillis(); try (ResultSet r = s.executeQuery("select count(*) from syscolumns a, syscolumns b, syscolumns c, syscolumns d")) { r.next(); check(false, "the query finished; it should have been interrupted"); } catch (SQLException e) { check(e instanceof SQLTimeoutException || e.getErrorCode() == -213, "expected a timeout but got " + e.getErrorCode() + " " + e.getMessage()); check(System.currentTimeMillis() - t < 20000, "took too long to stop"); } } eq(1L, count(c, "select count(*) from systables where tabid = 1"), "the connection still works"); });

        // large results
        add("large_result", c -> {
            int n = Integer.getInteger("rows", 100000);
            keyTable(c, "cf_big"); c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("insert into cf_big values (?, ?)")) {
                for (int i = 1; i <= n; i++) { p.setInt(1, i); p.setString(2, "row number " + i); p.addBatch(); if (i % 1000 == 0) p.executeBatch(); }
                p.executeBatch();
            }
            c.commit(); c.setAutoCommit(true);
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select id, name from cf_big order by id")) {
                int k = 0;
                while (r.next()) { k++; if (r.getInt(1) != k || !("row number " + k).equals(r.getString(2))) eq(k + " row number " + k, r.getInt(1) + " " + r.getString(2), "row"); }
                eq(n, k, "rows");
            }
            drop(c, "cf_big");
        });
        add("fetch_buffer_sizes", "FET_BUF_SIZE=65536;", c -> { keyTable(c, "cf_fb"); fill(c, "cf_fb", 5000); try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select id from cf_fb order by id")) { int n = 0; while (r.next()) eq(++n, r.getInt(1), "id"); eq(5000, n, "rows"); } drop(c, "cf_fb"); });

        // characters
        add("utf8_latin", "CLIENT_LOCALE=en_US.utf8;", c -> { String v = "h\u00e9llo \u00fc\u00df"; table(c, "cf_u1", "a varchar(60), b char(20), d lvarchar(60)"); try (PreparedStatement p = c.prepareStatement("insert into cf_u1 values (?, ?, ?)")) { p.setString(1, v); p.setString(2, v); p.setString(3, v); p.executeUpdate(); } try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select * from cf_u1")) { r.next(); eq(v, r.getString(1), "varchar"); eq(v, rtrim(r.getString(2)), "char"); eq(v, r.getString(3), "lvarchar"); } exec(c, "delete from cf_u1"); exec(c, "insert into cf_u1 (a) values ('" + v + "')"); eq(v, one(c, "select a from cf_u1", (r, i) -> r.getString(i)), "literal"); drop(c, "cf_u1"); });
        add("utf8_multibyte_needs_utf8_database", "CLIENT_LOCALE=en_US.utf8;", c -> { String v = "\u20ac \u65e5\u672c\u8a9e \ud83d\ude00"; table(c, "cf_u2", "a varchar(100)"); try (PreparedStatement p = c.prepareStatement("insert into cf_u2 values (?)")) { p.setString(1, v); p.executeUpdate(); } eq(v, one(c, "select a from cf_u2", (r, i) -> r.getString(i)), "varchar"); try (PreparedStatement p = c.prepareStatement("select count(*) from cf_u2 where a = ?")) { p.setString(1, v); try (ResultSet r = p.executeQuery()) { r.next(); eq(1, r.getInt(1), "found by value"); } } drop(c, "cf_u2"); });

        // errors
        failsSql("syntax", -201, "selct 1 from systables");
        failsSql("no_such_table", -206, "select * from cf_nosuch");
        failsSql("no_such_column", -217, "select nosuchcol from systables");
        failsSql("ambiguous_column", -324, "select tabid from systables a, systables b");
        failsSql("not_in_group_by", -294, "select tabid, count(*) from systables");
        failsSql("subquery_many_rows", -284, "select tabid from systables where tabid = (select tabid from systables)");
        failsSql("divide_by_zero", -1202, "select 1 / 0 from systables where tabid = 1");
        failsSql("character_to_number", -1213, "select tabid from systables where tabid = 'abc'");
        failsSql("drop_missing_table", -206, "drop table cf_nosuch");
        failsSql("commit_outside_transaction", -255, "commit work");
        add("error_table_exists", c -> { table(c, "cf_e1", "a integer"); fails(-310, () -> exec(c, "create table cf_e1 (a integer)")); drop(c, "cf_e1"); });
        add("error_duplicate_primary_key", c -> { keyTable(c, "cf_e2"); exec(c, "insert into cf_e2 values (1, 'a')"); try { exec(c, "insert into cf_e2 values (1, 'b')"); check(false, "no error"); } catch (SQLException e) { eq(-268, e.getErrorCode(), "code"); eq("23000", e.getSQLState(), "state"); } eq(1L, count(c, "select count(*) from cf_e2"), "rows"); drop(c, "cf_e2"); });
        add("error_duplicate_unique_index", c -> { table(c, "cf_e3", "a integer"); exec(c, "create unique index cf_e3_i on cf_e3 (a)"); exec(c, "insert into cf_e3 values (1)"); fails(-239, () -> exec(c, "insert into cf_e3 values (1)")); drop(c, "cf_e3"); });
        add("error_check_constraint", c -> { table(c, "cf_e5", "a integer, check (a > 0)"); fails(-530, () -> exec(c, "insert into cf_e5 values (-1)")); drop(c, "cf_e5"); });
        add("error_foreign_key", c -> { drop(c, "cf_e7"); keyTable(c, "cf_e6"); exec(c, "insert into cf_e6 values (1, 'a')"); exec(c, "create table cf_e7 (p integer, foreign key (p) references cf_e6 (id))"); exec(c, "insert into cf_e7 values (1)"); fails(-691, () -> exec(c, "insert into cf_e7 values (2)")); fails(-692, () -> exec(c, "delete from cf_e6 where id = 1")); drop(c, "cf_e7"); drop(c, "cf_e6"); });
        add("error_value_count", c -> { keyTable(c, "cf_e8"); fails(-236, () -> exec(c, "insert into cf_e8 values (1)")); drop(c, "cf_e8"); });
        add("error_decimal_overflow", c -> { table(c, "cf_e10", "a decimal(4,2)"); fails(-1226, () -> exec(c, "insert into cf_e10 values (12345.6)")); drop(c, "cf_e10"); });
        add("error_then_connection_usable", c -> { for (int i = 0; i < 30; i++) { fails(-206, () -> count(c, "select count(*) from cf_nosuch")); eq(1L, count(c, "select count(*) from systables where tabid = 1"), "count"); } });

        // metadata
        add("meta_product", c -> { DatabaseMetaData m = c.getMetaData(); check(m.getDatabaseProductName().contains("Informix"), "product " + m.getDatabaseProductName()); check(m.getDatabaseProductVersion().matches("\\d+\\.\\d+.*"), "version " + m.getDatabaseProductVersion()); check(m.getDatabaseMajorVersion() > 0, "major"); eq(user, m.getUserName().trim(), "user"); });
        add("meta_columns", c -> { table(c, "cf_m2", "a serial not null, b varchar(30), d decimal(8,2), e date, f datetime year to second, g char(7) default 'x' not null"); try (ResultSet r = c.getMetaData().getColumns(null, null, "cf_m2", "%")) { String[] n = {"a", "b", "d", "e", "f", "g"}; int[] t = {Types.INTEGER, Types.VARCHAR, Types.DECIMAL, Types.DATE, Types.TIMESTAMP, Types.CHAR}; int[] size = {10, 30, 8, -1, -1, 7}; int k = 0; while (r.next()) { eq(n[k], r.getString("COLUMN_NAME").trim(), "name"); eq(t[k], r.getInt("DATA_TYPE"), "type of " + n[k]); if (size[k] > 0) eq(size[k], r.getInt("COLUMN_SIZE"), "size of " + n[k]); eq(k + 1, r.getInt("ORDINAL_POSITION"), "position"); eq(k == 0 || k == 5 ? 0 : 1, r.getInt("NULLABLE"), "nullable " + n[k]); k++; } eq(6, k, "columns"); } drop(c, "cf_m2"); });
        add("meta_primary_key", c -> { table(c, "cf_m3", "a integer, b integer, primary key (b, a)"); try (ResultSet r = c.getMetaData().getPrimaryKeys(null, null, "cf_m3")) { Map<String, Integer> k = new TreeMap<>(); while (r.next()) k.put(r.getString("COLUMN_NAME").trim(), r.getInt("KEY_SEQ")); eq(2, k.size(), "columns"); eq(1, k.get("b"), "b"); eq(2, k.get("a"), "a"); } drop(c, "cf_m3"); });
        add("meta_index_info", c -> { table(c, "cf_m4", "a integer, b integer"); exec(c, "create unique index cf_m4_u on cf_m4 (a)"); exec(c, "create index cf_m4_d on cf_m4 (b desc)"); try (ResultSet r = c.getMetaData().getIndexInfo(null, null, "cf_m4", false, false)) { Map<String, String> k = new TreeMap<>(); while (r.next()) k.put(r.getString("INDEX_NAME").trim(), r.getString("NON_UNIQUE").trim() + r.getString("COLUMN_NAME").trim()); eq("0a", k.get("cf_m4_u"), "unique"); eq("1b", k.get("cf_m4_d"), "not unique"); } check(names(c.getMetaData().getIndexInfo(null, null, "cf_m4", true, false), "INDEX_NAME").contains("cf_m4_u"), "unique wanted; the driver lists the others, too"); drop(c, "cf_m4"); });
        add("meta_type_info", c -> check(names(c.getMetaData().getTypeInfo(), "TYPE_NAME").containsAll(Arrays.asList("integer", "varchar", "decimal", "date")), "types"));
        add("meta_catalogs_and_schemas", c -> { check(names(c.getMetaData().getCatalogs(), "TABLE_CAT").contains(db.toLowerCase()), "catalogs"); check(names(c.getMetaData().getSchemas(), "TABLE_SCHEM").contains("informix"), "schemas"); });
        add("meta_table_types", c -> check(names(c.getMetaData().getTableTypes(), "TABLE_TYPE").contains("table"), "table types"));
        add("meta_best_row_identifier", c -> { keyTable(c, "cf_m7"); check(names(c.getMetaData().getBestRowIdentifier(null, null, "cf_m7", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME").contains("id"), "id"); drop(c, "cf_m7"); });

        // routines
        add("procedure_returning_rows", c -> { try { exec(c, "drop procedure cf_proc"); } catch (SQLException e) { /* was not there */ } exec(c, "create procedure cf_proc(n integer) returning integer; define i integer; for i = 1 to n return i with resume; end for; end procedure;"); try (CallableStatement s = c.prepareCall("{call cf_proc(?)}")) { s.setInt(1, 3); check(s.execute(), "rows expected"); try (ResultSet r = s.getResultSet()) { int n = 0; while (r.next()) eq(++n, r.getInt(1), "value"); eq(3, n, "rows"); } } exec(c, "drop procedure cf_proc"); });
        add("triggers_fire_for_batches_and_generated_keys", c -> {
            drop(c, "cf_tr"); table(c, "cf_trlog", "n serial, what varchar(10), o varchar(20), nw varchar(20), tail integer");
            table(c, "cf_tr", "id serial primary key, b varchar(20), tail integer");
            exec(c, "create trigger cf_tri insert on cf_tr referencing new as n for each row (insert into cf_trlog values (0, 'insert', null, n.b, n.id))");
            exec(c, "create trigger cf_tru update of b on cf_tr referencing old as o new as n for each row when (o.b <> n.b) (insert into cf_trlog values (0, 'update', o.b, n.b, n.id))");
            exec(c, "create trigger cf_trd delete on cf_tr referencing old as o for each row (insert into cf_trlog values (0, 'delete', o.b, null, o.id))");
            try (PreparedStatement p = c.prepareStatement("insert into cf_tr (b, tail) values (?, ?)")) { for (int i = 1; i <= 5; i++) { p.setString(1, "b" + i); p.setInt(2, 70 + i); p.addBatch(); } int[] n = p.executeBatch(); eq(5, n.length, "counts"); eq(1, n[4], "count"); }
            try (PreparedStatement p = c.prepareStatement("insert into cf_tr (b, tail) values (?, 76)", Statement.RETURN_GENERATED_KEYS)) { p.setString(1, "six"); eq(1, p.executeUpdate(), "inserted"); try (ResultSet k = p.getGeneratedKeys()) { check(k.next(), "no key"); eq(6, k.getInt(1), "key of the row, not of what its trigger inserted"); } }
            eq(2, exec(c, "update cf_tr set b = 'x' where id <= 2"), "updated"); eq(1, exec(c, "update cf_tr set b = b where id = 3"), "unchanged"); eq(1, exec(c, "delete from cf_tr where id = 1"), "deleted");
            eq(6L, count(c, "select count(*) from cf_trlog where what = 'insert' and nw is not null and o is null"), "inserts"); eq(2L, count(c, "select count(*) from cf_trlog where what = 'update' and nw = 'x'"), "updates"); eq(1L, count(c, "select count(*) from cf_trlog where what = 'delete' and o = 'x' and tail = 1"), "deletes");
            drop(c, "cf_tr"); drop(c, "cf_trlog"); });
        add("trigger_that_fails_undoes_its_statement", c -> {
            drop(c, "cf_tf"); table(c, "cf_tf", "id integer primary key, tail integer"); try { exec(c, "drop procedure cf_tfp"); } catch (SQLException e) { /* was not there */ }
            exec(c, "create procedure cf_tfp(x integer) if x > 100 then raise exception -746, 0, 'too large'; end if; end procedure;");
            exec(c, "create trigger cf_tft insert on cf_tf referencing new as n for each row (execute procedure cf_tfp(n.id))");
            c.setAutoCommit(false); exec(c, "insert into cf_tf values (1, 71)");
            fails(-746, () -> exec(c, "insert into cf_tf select id + 100, tail from cf_tf")); exec(c, "insert into cf_tf values (2, 72)"); c.commit();
            eq(2L, count(c, "select count(*) from cf_tf where id <= 2"), "rows"); eq(2L, count(c, "select count(*) from cf_tf"), "all rows"); c.setAutoCommit(true); drop(c, "cf_tf"); exec(c, "drop procedure cf_tfp"); });
        add("dynamic_sql_in_a_procedure", c -> { try { exec(c, "drop procedure cf_dyn"); } catch (SQLException e) { /* was not there */ }
            exec(c, "create procedure cf_dyn(t varchar(30), low integer) returning varchar(128); define v varchar(128); prepare s from 'select tabname from ' || t || ' where tabid > ? and tabid < 5 order by tabid'; declare k cursor for s; open k using low; fetch k into v; while (sqlcode = 0) return v with resume; fetch k into v; end while; close k; free k; free s; end procedure;");
            try (CallableStatement s = c.prepareCall("{call cf_dyn(?, ?)}")) { s.setString(1, "systables"); s.setInt(2, 2); check(s.execute(), "rows expected"); try (ResultSet r = s.getResultSet()) { check(r.next(), "first"); eq("sysindices", r.getString(1).trim(), "first"); check(r.next(), "second"); eq("systabauth", r.getString(1).trim(), "second"); check(!r.next(), "no third"); } } exec(c, "drop procedure cf_dyn"); });
        add("function_in_select", c -> { try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("select upper('abc'), length('abcd'), nvl(null::integer, 5), mod(7, 3), substr('abcdef', 2, 3), trim('  x ') from systables where tabid = 1")) { r.next(); eq("ABC", rtrim(r.getString(1)), "upper"); eq(4, r.getInt(2), "length"); eq(5, r.getInt(3), "nvl"); eq(1, r.getInt(4), "mod"); eq("bcd", rtrim(r.getString(5)), "substr"); eq("x", r.getString(6), "trim"); } });
    }

    static String reason(Throwable t) {
        String s = t instanceof SQLException ? "SQL error " + ((SQLException) t).getErrorCode() + " (" + ((SQLException) t).getSQLState() + ") " + t.getMessage()
                 : t instanceof AssertionError ? t.getMessage() : t.toString();
        return String.valueOf(s).replace('\n', ' ').replace('\r', ' ');
    }

    public static void main(String[] a) throws Exception {
        if (Boolean.getBoolean("list")) { define(); CASES.keySet().forEach(System.out::println); return; }
        if (a.length < 5) { System.err.println("usage: Conformance HOST PORT DB USER PASSWORD [INFORMIXSERVER]"); System.exit(2); }
        host = a[0]; port = a[1]; db = a[2]; user = a[3]; password = a[4]; server = a.length > 5 ? a[5] : "informix";
        Class.forName("com.informix.jdbc.IfxDriver");
        define();
        String only = System.getProperty("only", ".*");
        long limit = 1000L * Integer.getInteger("timeout", 60);
        for (Map.Entry<String, Free> e : CASES.entrySet()) {
            if (!e.getKey().matches(only)) continue;
            Throwable[] bad = new Throwable[1];
            Thread t = new Thread(() -> { try { e.getValue().run(); } catch (Throwable x) { bad[0] = x; } }, e.getKey());
            t.setDaemon(true);
            t.start();
            t.join(limit);
            if (t.isAlive()) { failed++; t.interrupt(); System.out.println("FAIL " + e.getKey() + ": no end after " + limit / 1000 + " s"); }
            else if (bad[0] != null) { failed++; System.out.println("FAIL " + e.getKey() + ": " + reason(bad[0])); }
            else { passed++; System.out.println("PASS " + e.getKey()); }
            System.out.flush();
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }
}
