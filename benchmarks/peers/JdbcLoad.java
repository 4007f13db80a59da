import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** IBM's driver: addBatch and executeBatch of the seed's row. Arguments: URL, rows, runs. Prints the seconds of each run. */
public class JdbcLoad {
    public static void main(String[] a) throws Exception {
        int rows = Integer.parseInt(a[1]), runs = Integer.parseInt(a[2]);
        try (Connection c = DriverManager.getConnection(a[0]); Statement s = c.createStatement()) {
            s.executeUpdate("CREATE TEMP TABLE jdbc_load (k INT, name VARCHAR(64), n INT, x FLOAT, d DATE)");
            c.setAutoCommit(false);
            Date day = Date.valueOf("2026-01-01");
            for (int run = 0; run < runs; run++) {
                long begin = System.nanoTime();
                try (PreparedStatement p = c.prepareStatement("INSERT INTO jdbc_load VALUES (?, ?, ?, ?, ?)")) {
                    for (int i = 0; i < rows; i++) {
                        p.setInt(1, i);
                        p.setString(2, "customer number " + i);
                        p.setInt(3, -i);
                        p.setDouble(4, i / 8.0);
                        p.setDate(5, day);
                        p.addBatch();
                        if (i % 10000 == 9999 || i == rows - 1) p.executeBatch();
                    }
                }
                c.commit();
                System.out.printf("%.4f%n", (System.nanoTime() - begin) / 1e9);
            }
            try (ResultSet r = s.executeQuery("SELECT COUNT(*)::INT FROM jdbc_load")) {
                r.next();
                if (r.getInt(1) != rows * runs) throw new IllegalStateException("the table holds " + r.getInt(1));
            }
            c.commit();
        }
    }
}
