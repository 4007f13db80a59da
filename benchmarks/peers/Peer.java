import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Types;

/**
 * IBM's driver as a peer of the benchmarks: one JVM for all rounds, so that its compiler is warm. Argument: the JDBC URL.
 * Takes a command a line and answers each with one line:
 *   read SQL           reads all columns of all rows, each by the getter of its type: the rows
 *   latency N SQL      runs a query N times and reads it: N nanoseconds, blank between them
 *   prepared N SQL     the same, prepared once, with the run's number as its parameter
 *   connect N          N connections, each closed again: N nanoseconds
 *   batch N SIZE SQL   N rows of INT, VARCHAR, INT, FLOAT, DATE by addBatch, executed every SIZE rows, one transaction: N
 *   each N SQL         the same rows, executed one by one, one transaction: N
 *   metadata CALL T    a call of DatabaseMetaData about table T: the rows
 */
public class Peer {
    private static long sink;

    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        try (Connection c = DriverManager.getConnection(a[0])) {
            String line;
            while ((line = in.readLine()) != null) {
                String[] word = line.split(" ", 2);
                try {
                    System.out.println(answer(a[0], c, word[0], word.length > 1 ? word[1] : ""));
                } catch (Exception e) {
                    System.out.println("error " + String.valueOf(e).replace('\n', ' '));
                }
            }
        }
    }

    private static String answer(String url, Connection c, String what, String rest) throws Exception {
        String[] part = rest.split(" ", 2);
        switch (what) {
            case "read":
                try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(rest)) {
                    return String.valueOf(drain(r));
                }
            case "latency": return latency(c, Integer.parseInt(part[0]), part[1]);
            case "prepared": return prepared(c, Integer.parseInt(part[0]), part[1]);
            case "connect": return connect(url, Integer.parseInt(part[0]));
            case "batch": {
                String[] size = part[1].split(" ", 2);
                return load(c, Integer.parseInt(part[0]), Integer.parseInt(size[0]), size[1]);
            }
            case "each": return load(c, Integer.parseInt(part[0]), 0, part[1]);
            case "metadata":
                try (ResultSet r = metadata(c.getMetaData(), part[0], part[1])) {
                    return String.valueOf(drain(r));
                }
            default: throw new IllegalArgumentException(what);
        }
    }

    private static ResultSet metadata(DatabaseMetaData m, String call, String table) throws Exception {
        switch (call) {
            case "getTables": return m.getTables(null, null, table, null);
            case "getColumns": return m.getColumns(null, null, table, "%");
            case "getPrimaryKeys": return m.getPrimaryKeys(null, null, table);
            case "getImportedKeys": return m.getImportedKeys(null, null, table);
            case "getExportedKeys": return m.getExportedKeys(null, null, table);
            case "getIndexInfo": return m.getIndexInfo(null, null, table, false, false);
            default: throw new IllegalArgumentException(call);
        }
    }

    /** Every value by the getter that fits its type; numbers into a sum, so that nothing is optimised away. */
    private static long drain(ResultSet r) throws Exception {
        ResultSetMetaData m = r.getMetaData();
        int n = m.getColumnCount();
        int[] type = new int[n + 1];
        for (int i = 1; i <= n; i++) type[i] = m.getColumnType(i);
        long rows = 0;
        while (r.next()) {
            for (int i = 1; i <= n; i++) {
                switch (type[i]) {
                    case Types.INTEGER: case Types.SMALLINT: sink += r.getInt(i); break;
                    case Types.BIGINT: sink += r.getLong(i); break;
                    case Types.DOUBLE: case Types.FLOAT: case Types.REAL: sink += (long) r.getDouble(i); break;
                    case Types.DATE: Date d = r.getDate(i); sink += d == null ? 0 : 1; break;
                    case Types.CHAR: case Types.VARCHAR: case Types.LONGVARCHAR:
                        String s = r.getString(i); sink += s == null ? 0 : s.length(); break;
                    default: Object o = r.getObject(i); sink += o == null ? 0 : 1;
                }
            }
            rows++;
        }
        return rows;
    }

    private static String latency(Connection c, int runs, String sql) throws Exception {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < runs; i++) {
            long begin = System.nanoTime();
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) { drain(r); }
            out.append(System.nanoTime() - begin).append(' ');
        }
        return out.toString().trim();
    }

    private static String prepared(Connection c, int runs, String sql) throws Exception {
        StringBuilder out = new StringBuilder();
        try (PreparedStatement p = c.prepareStatement(sql)) {
            for (int i = 0; i < runs; i++) {
                long begin = System.nanoTime();
                p.setInt(1, i);
                try (ResultSet r = p.executeQuery()) { drain(r); }
                out.append(System.nanoTime() - begin).append(' ');
            }
        }
        return out.toString().trim();
    }

    private static String connect(String url, int runs) throws Exception {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < runs; i++) {
            long begin = System.nanoTime();
            DriverManager.getConnection(url).close();
            out.append(System.nanoTime() - begin).append(' ');
        }
        return out.toString().trim();
    }

    private static String load(Connection c, int rows, int size, String sql) throws Exception {
        Date day = Date.valueOf("2026-01-01");
        c.setAutoCommit(false);
        try (PreparedStatement p = c.prepareStatement(sql)) {
            for (int i = 0; i < rows; i++) {
                p.setInt(1, i);
                p.setString(2, "customer number " + i);
                p.setInt(3, -i);
                p.setDouble(4, i / 8.0);
                p.setDate(5, day);
                if (size == 0) {
                    p.executeUpdate();
                } else {
                    p.addBatch();
                    if (i % size == size - 1 || i == rows - 1) p.executeBatch();
                }
            }
        }
        c.commit();
        c.setAutoCommit(true);
        return String.valueOf(rows);
    }
}
