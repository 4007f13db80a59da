import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;
import org.bson.Document;

/**
 * IBM's driver behind a pipe: one JSON command per line of standard input, one JSON answer per line of standard output.
 *
 *   {"op": "connect", "url": URL}                                      -> {}
 *   {"op": "update", "sql": SQL}                                       -> {"count": N}
 *   {"op": "insert", "sql": SQL, "setters": [S...], "rows": [[TEXT...]...], "batch": BOOL} -> {"counts": [N...]}
 *   {"op": "query", "sql": SQL, "getters": [G...], "setters": [S...], "parameters": [TEXT...]}
 *       -> {"columns": [{"name", "type", "precision", "scale", "nullable"}...], "rows": [[TEXT...]...]}
 *   {"op": "autocommit", "on": BOOL}, {"op": "commit"}, {"op": "rollback"}, {"op": "close"}  -> {}
 *
 * Every value travels as text, NULL as null. Setters and getters are named after the JDBC methods, without set and get.
 * An SQLException becomes {"error": {"code", "state", "message"}}, anything else {"fault": TEXT}.
 */
public class Witness {
    static Connection connection;

    static void set(PreparedStatement p, int i, String how, String v) throws SQLException {
        if (v == null) { p.setNull(i, Types.NULL); return; }
        switch (how) {
            case "Short": p.setShort(i, Short.parseShort(v)); break;
            case "Int": p.setInt(i, Integer.parseInt(v)); break;
            case "Long": p.setLong(i, Long.parseLong(v)); break;
            case "Float": p.setFloat(i, Float.parseFloat(v)); break;
            case "Double": p.setDouble(i, Double.parseDouble(v)); break;
            case "BigDecimal": p.setBigDecimal(i, new BigDecimal(v)); break;
            case "String": p.setString(i, v); break;
            case "Object": p.setObject(i, v); break;
            case "Boolean": p.setBoolean(i, v.equals("true")); break;
            case "Date": p.setDate(i, java.sql.Date.valueOf(v)); break;
            case "Time": p.setTime(i, Time.valueOf(v)); break;
            case "Timestamp": p.setTimestamp(i, Timestamp.valueOf(v)); break;
            default: throw new IllegalArgumentException("unknown setter " + how);
        }
    }

    static String get(ResultSet r, int i, String how) throws SQLException {
        Object v;
        switch (how) {
            case "Short": v = r.getShort(i); break;
            case "Int": v = r.getInt(i); break;
            case "Long": v = r.getLong(i); break;
            case "Float": v = r.getFloat(i); break;
            case "Double": v = r.getDouble(i); break;
            case "BigDecimal": BigDecimal d = r.getBigDecimal(i); v = d == null ? null : d.toPlainString(); break;
            case "String": v = r.getString(i); break;
            case "Object": v = r.getObject(i); break;
            case "Boolean": v = r.getBoolean(i); break;
            case "Date": v = r.getDate(i); break;
            case "Time": v = r.getTime(i); break;
            case "Timestamp": v = r.getTimestamp(i); break;
            default: throw new IllegalArgumentException("unknown getter " + how);
        }
        return r.wasNull() || v == null ? null : String.valueOf(v);
    }

    static Document insert(Document c) throws SQLException {
        List<String> setters = c.getList("setters", String.class);
        List<Integer> counts = new ArrayList<>();
        boolean batch = c.getBoolean("batch", false);
        try (PreparedStatement p = connection.prepareStatement(c.getString("sql"))) {
            for (Object row : (List<?>) c.get("rows")) {
                List<?> values = (List<?>) row;
                for (int i = 0; i < setters.size(); i++) set(p, i + 1, setters.get(i), (String) values.get(i));
                if (batch) p.addBatch(); else counts.add(p.executeUpdate());
            }
            if (batch) for (int n : p.executeBatch()) counts.add(n);
        }
        return new Document("counts", counts);
    }

    static Document rows(ResultSet r, List<String> getters) throws SQLException {
        ResultSetMetaData m = r.getMetaData();
        List<Document> columns = new ArrayList<>();
        for (int i = 1; i <= m.getColumnCount(); i++)
            columns.add(new Document("name", m.getColumnName(i)).append("type", m.getColumnTypeName(i))
                .append("precision", m.getPrecision(i)).append("scale", m.getScale(i))
                .append("nullable", m.isNullable(i) == ResultSetMetaData.columnNullable));
        List<List<String>> rows = new ArrayList<>();
        while (r.next()) {
            List<String> row = new ArrayList<>();
            for (int i = 1; i <= m.getColumnCount(); i++) row.add(get(r, i, getters.get(i - 1)));
            rows.add(row);
        }
        return new Document("columns", columns).append("rows", rows);
    }

    static Document query(Document c) throws SQLException {
        List<String> getters = c.getList("getters", String.class);
        List<?> parameters = (List<?>) c.get("parameters");
        if (parameters.isEmpty())
            try (Statement s = connection.createStatement(); ResultSet r = s.executeQuery(c.getString("sql"))) { return rows(r, getters); }
        List<String> setters = c.getList("setters", String.class);
        try (PreparedStatement p = connection.prepareStatement(c.getString("sql"))) {
            for (int i = 0; i < setters.size(); i++) set(p, i + 1, setters.get(i), (String) parameters.get(i));
            try (ResultSet r = p.executeQuery()) { return rows(r, getters); }
        }
    }

    static Document run(Document c) throws SQLException {
        switch (c.getString("op")) {
            case "connect":
                if (connection != null) connection.close();
                connection = null;
                connection = DriverManager.getConnection(c.getString("url"));
                return new Document();
            case "update": try (Statement s = connection.createStatement()) { return new Document("count", s.executeUpdate(c.getString("sql"))); }
            case "insert": return insert(c);
            case "query": return query(c);
            case "autocommit": connection.setAutoCommit(c.getBoolean("on")); return new Document();
            case "commit": connection.commit(); return new Document();
            case "rollback": connection.rollback(); return new Document();
            case "close": if (connection != null) connection.close(); connection = null; return new Document();
            default: throw new IllegalArgumentException("unknown op " + c.getString("op"));
        }
    }

    public static void main(String[] a) throws Exception {
        Class.forName("com.informix.jdbc.IfxDriver");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            Document answer;
            try { answer = run(Document.parse(line)); }
            catch (SQLException e) {
                answer = new Document("error", new Document("code", e.getErrorCode()).append("state", e.getSQLState()).append("message", String.valueOf(e.getMessage())));
            }
            catch (Throwable t) { answer = new Document("fault", t.toString()); }
            out.println(answer.toJson());
        }
        if (connection != null) connection.close();
    }
}
