import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The frame of the programs: named cases, run one after the other against one database, a line for each.
 *
 * <p>Arguments: host, port, database, user, password, server name. Prints `PASS name` or `FAIL name: reason`; with
 * -Dlist=true only the names. -Dtrace=true prints the stack of what failed on stderr.
 */
final class Cases {
    /** One case; what it throws is why it failed. */
    interface Case {
        void run() throws Exception;
    }

    private final Map<String, Case> cases = new LinkedHashMap<>();
    private final String[] target;

    Cases(String[] arguments) {
        target = arguments;
        Logger.getLogger("").setLevel(Level.SEVERE);
    }

    Cases add(String name, Case body) {
        if (cases.put(name, body) != null) throw new IllegalStateException("two cases are called " + name);
        return this;
    }

    void run() {
        if (Boolean.getBoolean("list")) {
            cases.keySet().forEach(System.out::println);
            return;
        }
        int failed = 0;
        for (Map.Entry<String, Case> each : cases.entrySet()) {
            String reason = null;
            try {
                each.getValue().run();
            } catch (Throwable problem) {
                if (Boolean.getBoolean("trace")) problem.printStackTrace();
                reason = explained(problem);
            }
            System.out.println(reason == null ? "PASS " + each.getKey() : "FAIL " + each.getKey() + ": " + reason);
            System.out.flush();
            if (reason != null) failed++;
        }
        System.out.println((cases.size() - failed) + " passed, " + failed + " failed");
        // Libraries leave threads behind.
        System.exit(failed == 0 ? 0 : 1);
    }

    private static String explained(Throwable problem) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = problem; each != null && text.length() < 1500; each = each.getCause()) {
            if (text.length() > 0) text.append(" <- ");
            text.append(each.getClass().getSimpleName()).append(' ').append(each.getMessage());
            if (each instanceof SQLException sql) text.append(" (").append(sql.getErrorCode()).append(')');
            if (each.getCause() == each) break;
        }
        return text.toString().replaceAll("\\s+", " ");
    }

    String url() {
        return "jdbc:informix-sqli://" + target[0] + ":" + target[1] + "/" + target[2] + ":INFORMIXSERVER=" + target[5]
            + ";DELIMIDENT=Y;DB_LOCALE=en_US.utf8;CLIENT_LOCALE=en_US.utf8";
    }

    /** The same without DELIMIDENT. */
    String plainUrl() {
        return url().replace(";DELIMIDENT=Y", "");
    }

    String user() {
        return target[3];
    }

    String password() {
        return target[4];
    }

    String database() {
        return target[2];
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), user(), password());
    }

    /** A connection whose metadata tells the URL: IBM's driver answers null, and some programs insist on one. */
    Connection connectTellingUrl(String url) throws SQLException {
        return tellingUrl(Connection.class, DriverManager.getConnection(url, user(), password()), url);
    }

    private static <T> T tellingUrl(Class<T> kind, T real, String url) {
        return kind.cast(Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> {
            if (method.getName().equals("getURL")) return url;
            try {
                Object answer = method.invoke(real, arguments);
                return answer instanceof DatabaseMetaData metadata ? tellingUrl(DatabaseMetaData.class, metadata, url) : answer;
            } catch (InvocationTargetException problem) {
                throw problem.getCause();
            }
        }));
    }

    void execute(String... statements) throws SQLException {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            for (String each : statements) statement.execute(each);
        }
    }

    /** Drop tables that may or may not be there. */
    void drop(String... tables) throws SQLException {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            for (String each : tables) statement.execute("DROP TABLE IF EXISTS " + each);
        }
    }

    /** The rows of a query, their columns as trimmed text joined by '|'. */
    List<String> rows(String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            int width = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                StringBuilder row = new StringBuilder();
                for (int column = 1; column <= width; column++) {
                    String value = rows.getString(column);
                    row.append(column > 1 ? "|" : "").append(value == null ? "NULL" : value.trim());
                }
                found.add(row.toString());
            }
        }
        return found;
    }

    static void equal(Object wanted, Object got, String what) {
        if (!Objects.equals(wanted, got)) throw new AssertionError(what + ": wanted " + wanted + ", got " + got);
    }

    static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    /** What a body throws; an error if it does not. */
    static Throwable thrown(Case body, String what) {
        try {
            body.run();
        } catch (Throwable problem) {
            return problem;
        }
        throw new AssertionError(what + ": nothing was thrown");
    }
}
