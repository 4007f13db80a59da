import com.informix.jdbc.IfmxPreparedStatement;
import com.informix.lang.IntervalDF;
import com.informix.lang.IntervalYM;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
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
 *   {"op": "query", "sql": SQL, "getters": [G...], "setters": [S...], "parameters": [TEXT...], "timeout": SECONDS}
 *       -> {"columns": [{"name", "type", "precision", "scale", "nullable"}...], "rows": [[TEXT...]...]}
 *   {"op": "metadata", "call": NAME, "arguments": [TEXT...]}            -> {"rows": [{COLUMN: TEXT...}...]}
 *   {"op": "autocommit", "on": BOOL}, {"op": "commit"}, {"op": "rollback"}, {"op": "close"}  -> {}
 *
 * Every value travels as text, NULL as null. Setters and getters are named after the JDBC methods, without set and get;
 * bytes are hexadecimal digits. "OpenStream" is setBinaryStream without a length, "BlobTwice" reads parts as well.
 * An SQLException becomes {"error": {"code", "state", "message"}}, anything else {"fault": TEXT}.
 */
public class DriverBridge {
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
            case "Bytes": p.setBytes(i, unhex(v)); break;
            case "BinaryStream": p.setBinaryStream(i, new ByteArrayInputStream(unhex(v)), v.length() / 2); break;
            case "OpenStream": p.setBinaryStream(i, new ByteArrayInputStream(unhex(v))); break;
            case "IntervalYM": ((IfmxPreparedStatement) p).setIntervalYM(i, new IntervalYM(v)); break;
            case "IntervalDF": ((IfmxPreparedStatement) p).setIntervalDF(i, new IntervalDF(v)); break;
            default: throw new IllegalArgumentException("unknown setter " + how);
        }
    }

    static byte[] unhex(String text) {
        byte[] b = new byte[text.length() / 2];
        for (int i = 0; i < b.length; i++) b[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        return b;
    }

    static String hex(byte[] data) {
        if (data == null) return null;
        StringBuilder text = new StringBuilder(2 * data.length);
        for (byte b : data) text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        return text.toString();
    }

    static String hex(InputStream in) throws SQLException {
        if (in == null) return null;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[4096];
        try { for (int n; (n = in.read(part)) > 0; ) out.write(part, 0, n); }
        catch (java.io.IOException e) { throw new SQLException("stream: " + e); }
        return hex(out.toByteArray());
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
            case "Bytes": v = hex(r.getBytes(i)); break;
            case "BinaryStream": v = hex(r.getBinaryStream(i)); break;
            case "Blob": Blob blob = r.getBlob(i); v = blob == null ? null : hex(blob.getBinaryStream()); break;
            case "BlobTwice":
                // Also behind what was read, and from its middle.
                Blob again = r.getBlob(i);
                if (again == null) { v = null; break; }
                String whole = hex(again.getBinaryStream());
                int size = (int) again.length();
                if (size > 3 && !whole.startsWith(hex(again.getBytes(3, size - 2)), 4)) throw new SQLException("parts of a BLOB differ");
                v = whole;
                break;
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

    /** OUT parameters: "out" has [number, java.sql.Types name, getter]; each of "rows", for one call, [number, setter,
     *  value], where the setter of a NULL is a java.sql.Types name: no other NULL is known to a call by the fast path. */
    static Document call(Document c) throws Exception {
        List<Document> answers = new ArrayList<>();
        try (CallableStatement s = connection.prepareCall(c.getString("sql"))) {
            for (Object each : (List<?>) c.get("out")) {
                List<?> out = (List<?>) each;
                s.registerOutParameter((Integer) out.get(0), Types.class.getField((String) out.get(1)).getInt(null));
            }
            for (Object values : (List<?>) c.get("rows")) {
                for (Object each : (List<?>) values) {
                    List<?> in = (List<?>) each;
                    if (in.get(2) == null) s.setNull((Integer) in.get(0), Types.class.getField((String) in.get(1)).getInt(null));
                    else set(s, (Integer) in.get(0), (String) in.get(1), (String) in.get(2));
                }
                List<List<String>> rows = new ArrayList<>();
                ResultSet r = s.executeQuery();
                while (r != null && r.next()) {
                    List<String> row = new ArrayList<>();
                    for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) row.add(r.getString(i));
                    rows.add(row);
                }
                List<String> outs = new ArrayList<>();
                for (Object each : (List<?>) c.get("out")) {
                    List<?> out = (List<?>) each;
                    outs.add(get(s, (Integer) out.get(0), (String) out.get(2)));
                }
                answers.add(new Document("rows", rows).append("out", outs));
            }
        }
        return new Document("answers", answers);
    }

    static String get(CallableStatement s, int i, String how) throws SQLException {
        Object v;
        switch (how) {
            case "Short": v = s.getShort(i); break;
            case "Int": v = s.getInt(i); break;
            case "Long": v = s.getLong(i); break;
            case "Float": v = s.getFloat(i); break;
            case "Double": v = s.getDouble(i); break;
            case "BigDecimal": BigDecimal d = s.getBigDecimal(i); v = d == null ? null : d.toPlainString(); break;
            case "String": v = s.getString(i); break;
            case "Object": v = s.getObject(i); break;
            case "Boolean": v = s.getBoolean(i); break;
            case "Date": v = s.getDate(i); break;
            case "Timestamp": v = s.getTimestamp(i); break;
            default: throw new IllegalArgumentException("unknown getter " + how);
        }
        return v == null || s.wasNull() ? null : String.valueOf(v);
    }

    static Document query(Document c) throws SQLException {
        List<String> getters = c.getList("getters", String.class);
        List<?> parameters = (List<?>) c.get("parameters");
        if (parameters.isEmpty())
            try (Statement s = connection.createStatement()) {
                s.setQueryTimeout(c.getInteger("timeout", 0));
                try (ResultSet r = s.executeQuery(c.getString("sql"))) { return rows(r, getters); }
            }
        List<String> setters = c.getList("setters", String.class);
        try (PreparedStatement p = connection.prepareStatement(c.getString("sql"))) {
            for (int i = 0; i < setters.size(); i++) set(p, i + 1, setters.get(i), (String) parameters.get(i));
            try (ResultSet r = p.executeQuery()) { return rows(r, getters); }
        }
    }

    static ResultSet metadata(String call, List<String> a) throws SQLException {
        DatabaseMetaData m = connection.getMetaData();
        switch (call) {
            case "getTables": return m.getTables(null, null, a.get(0), a.size() > 1 ? a.subList(1, a.size()).toArray(new String[0]) : null);
            case "getColumns": return m.getColumns(null, null, a.get(0), "%");
            case "getPrimaryKeys": return m.getPrimaryKeys(null, null, a.get(0));
            case "getImportedKeys": return m.getImportedKeys(null, null, a.get(0));
            case "getExportedKeys": return m.getExportedKeys(null, null, a.get(0));
            case "getCrossReference": return m.getCrossReference(null, null, a.get(0), null, null, a.get(1));
            case "getIndexInfo": return m.getIndexInfo(null, null, a.get(0), false, false);
            case "getProcedures": return m.getProcedures(null, null, a.get(0));
            case "getProcedureColumns": return m.getProcedureColumns(null, null, a.get(0), a.size() > 1 ? a.get(1) : "%");
            case "getTypeInfo": return m.getTypeInfo();
            case "getTablePrivileges": return m.getTablePrivileges(null, null, a.get(0));
            case "getColumnPrivileges": return m.getColumnPrivileges(null, null, a.get(0), "%");
            case "getUDTs": return m.getUDTs(null, null, a.get(0), null);
            case "getVersionColumns": return m.getVersionColumns(null, null, a.get(0));
            case "getSuperTables": return m.getSuperTables(null, null, a.get(0));
            default: throw new IllegalArgumentException("unknown call " + call);
        }
    }

    static Document metadata(Document c) throws SQLException {
        List<Document> rows = new ArrayList<>();
        try (ResultSet r = metadata(c.getString("call"), c.getList("arguments", String.class))) {
            ResultSetMetaData m = r.getMetaData();
            while (r.next()) {
                Document row = new Document();
                for (int i = 1; i <= m.getColumnCount(); i++) {
                    String v = r.getString(i);
                    row.append(m.getColumnName(i).toUpperCase(), v == null ? null : v.trim());
                }
                rows.add(row);
            }
        }
        return new Document("rows", rows);
    }

    static Document run(Document c) throws Exception {
        switch (c.getString("op")) {
            case "connect":
                if (connection != null) connection.close();
                connection = null;
                connection = DriverManager.getConnection(c.getString("url"));
                return new Document();
            case "update": try (Statement s = connection.createStatement()) { return new Document("count", s.executeUpdate(c.getString("sql"))); }
            case "insert": return insert(c);
            case "query": return query(c);
            case "call": return call(c);
            case "metadata": return metadata(c);
            case "autocommit": connection.setAutoCommit(c.getBoolean("on")); return new Document();
            case "commit": connection.commit(); return new Document();
            case "rollback": connection.rollback(); return new Document();
            case "close": if (connection != null) connection.close(); connection = null; return new Document();
            default: throw new IllegalArgumentException("unknown op " + c.getString("op"));
        }
    }

    public static void main(String[] a) throws Exception {
        java.util.logging.LogManager.getLogManager().reset(); // its warnings would stand among the answers
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
