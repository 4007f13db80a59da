import jakarta.persistence.Basic;
import jakarta.persistence.CascadeType;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.DiscriminatorColumn;
import jakarta.persistence.DiscriminatorValue;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.JoinTable;
import jakarta.persistence.Lob;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.OrderBy;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import jakarta.persistence.UniqueConstraint;
import jakarta.persistence.Version;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.hibernate.Hibernate;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.exception.ConstraintViolationException;

/** Hibernate: schema tools, every type, associations, inheritance, locks, batches, queries. */
final class HibernateCases {
    enum Colour { RED, GREEN, BLUE }

    @Entity(name = "Everything") @Table(name = "hb_everything")
    public static class Everything {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        boolean flag; Boolean maybe; byte tiny; short small; int plain; Integer boxed; long big; float single; double twice;
        @Column(precision = 20, scale = 5) BigDecimal exact;
        @Column(length = 40) String text;
        @Column(length = 2000) String longer;
        @Column(columnDefinition = "varchar(4)") char letter;  // lengths are bytes, and a CHAR has blanks behind it
        LocalDate day; LocalTime time; LocalDateTime moment;
        @Enumerated(EnumType.STRING) @Column(length = 10) Colour colour;
        @Enumerated(EnumType.ORDINAL) Colour number;
        UUID uuid;
        byte[] bytes;
        @Lob @Basic(fetch = FetchType.LAZY) String clob;
        @Lob byte[] blob;
        int sentinel;
    }

    @Embeddable
    public static class Address { @Column(length = 30) String street; @Column(length = 20) String town; }

    @Entity(name = "Customer") @Table(name = "hb_customer", uniqueConstraints = @UniqueConstraint(name = "hb_customer_code", columnNames = "code"),
        indexes = @Index(name = "hb_customer_name", columnList = "name, code DESC"))
    public static class Customer {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "hb_numbers") @SequenceGenerator(name = "hb_numbers", sequenceName = "hb_numbers", allocationSize = 5) Integer id;
        @Column(nullable = false, length = 50) String name;
        @Column(length = 8, nullable = false) String code;  // Hibernate makes no constraint of a column that may be null
        @Embedded Address address;
        @Version int version;
        @OneToMany(mappedBy = "customer", cascade = CascadeType.ALL, orphanRemoval = true) @OrderBy("line") List<Order> orders = new ArrayList<>();
        @ElementCollection @CollectionTable(name = "hb_nicknames", joinColumns = @JoinColumn(name = "customer_id")) @Column(name = "nickname", length = 20) Set<String> nicknames = new HashSet<>();
        @ManyToMany @JoinTable(name = "hb_customer_tag", joinColumns = @JoinColumn(name = "customer_id"), inverseJoinColumns = @JoinColumn(name = "tag_id")) Set<Tag> tags = new HashSet<>();
        @OneToOne(cascade = CascadeType.ALL, fetch = FetchType.LAZY) @JoinColumn(name = "profile_id") Profile profile;
    }

    @Entity(name = "Order") @Table(name = "hb_order")
    public static class Order {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Integer id;
        int line;
        @Column(precision = 10, scale = 2) BigDecimal total;
        @ManyToOne(fetch = FetchType.LAZY, optional = false) @JoinColumn(name = "customer_id") Customer customer;
    }

    @Entity(name = "Tag") @Table(name = "hb_tag")
    public static class Tag { @Id @Column(length = 10) String id; @Column(length = 40) String title; }

    @Entity(name = "Profile") @Table(name = "hb_profile")
    public static class Profile { @Id @GeneratedValue Integer id; @Column(length = 100) String motto; }

    @Embeddable
    public static class PlaceId implements Serializable {
        @Column(length = 3) String region; int number;
        @Override public boolean equals(Object o) { return o instanceof PlaceId p && p.number == number && Objects.equals(p.region, region); }
        @Override public int hashCode() { return Objects.hash(region, number); }
    }

    @Entity(name = "Place") @Table(name = "hb_place")
    public static class Place { @EmbeddedId PlaceId id; @Column(length = 30) String name; @Column(name = "\"order\"", length = 5) String reserved; }

    @Entity(name = "Animal") @Table(name = "hb_animal") @Inheritance(strategy = InheritanceType.SINGLE_TABLE) @DiscriminatorColumn(name = "kind", length = 10)
    public abstract static class Animal { @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Integer id; @Column(length = 20) String name; }
    @Entity(name = "Cat") @DiscriminatorValue("cat") public static class Cat extends Animal { Integer lives; }
    @Entity(name = "Dog") @DiscriminatorValue("dog") public static class Dog extends Animal { Boolean good; }

    @Entity(name = "Vehicle") @Table(name = "hb_vehicle") @Inheritance(strategy = InheritanceType.JOINED)
    public static class Vehicle { @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Integer id; @Column(length = 20) String name; }
    @Entity(name = "Car") @Table(name = "hb_car") public static class Car extends Vehicle { int doors; }

    @Entity(name = "Shape") @Table(name = "hb_shape") @Inheritance(strategy = InheritanceType.TABLE_PER_CLASS)
    public static class Shape { @Id int id; @Column(length = 20) String name; }
    @Entity(name = "Circle") @Table(name = "hb_circle") public static class Circle extends Shape { double radius; }

    private static final List<Class<?>> MODEL = List.of(Everything.class, Customer.class, Order.class, Tag.class, Profile.class, Place.class,
        Animal.class, Cat.class, Dog.class, Vehicle.class, Car.class, Shape.class, Circle.class);

    private final Cases cases;
    private SessionFactory factory;

    private HibernateCases(Cases cases) { this.cases = cases; }

    public static void main(String[] arguments) {
        Cases cases = new Cases(arguments);
        HibernateCases self = new HibernateCases(cases);
        cases.add("schema_tools_create_the_schema", self::create)
            .add("schema_tools_find_it_valid", self::validate)
            .add("schema_tools_have_nothing_to_update", self::update)
            .add("every_type_there_and_back", self::everything)
            .add("nulls_of_every_type", self::nulls)
            .add("associations_of_every_kind", self::associations)
            .add("orphans_are_removed", self::orphans)
            .add("lazy_collections_and_join_fetch", self::fetching)
            .add("composite_keys_and_reserved_names", self::places)
            .add("inheritance_in_one_table", self::singleTable)
            .add("inheritance_by_joins", self::joined)
            .add("inheritance_by_a_table_each", self::tablePerClass)
            .add("optimistic_locks", self::optimistic)
            .add("pessimistic_locks", self::pessimistic)
            .add("batches_of_a_thousand", self::batches)
            .add("pages_of_a_query", self::pages)
            .add("hql_functions_and_aggregates", self::functions)
            .add("hql_updates_and_deletes", self::bulk)
            .add("subqueries_case_and_unions", self::subqueries)
            .add("native_queries_and_procedures", self::natives)
            .add("a_refused_row_names_its_constraint", self::constraints)
            .add("a_rollback_undoes_all", self::rollback)
            .add("large_objects_of_a_megabyte", self::objects)
            .add("streams_of_ten_thousand_rows", self::streams)
            .add("schema_tools_drop_the_schema", self::drop)
            .run();
    }

    private SessionFactory built(String action) {
        Configuration configuration = new Configuration();
        MODEL.forEach(configuration::addAnnotatedClass);
        configuration.setProperty("hibernate.connection.url", cases.url());
        configuration.setProperty("hibernate.connection.driver_class", "com.informix.jdbc.IfxDriver");
        configuration.setProperty("hibernate.connection.username", cases.user());
        configuration.setProperty("hibernate.connection.password", cases.password());
        configuration.setProperty("hibernate.dialect", "org.hibernate.community.dialect.InformixDialect");
        configuration.setProperty("hibernate.hbm2ddl.auto", action);
        configuration.setProperty("hibernate.hbm2ddl.halt_on_error", "true");
        configuration.setProperty("hibernate.jdbc.batch_size", "100");
        configuration.setProperty("hibernate.order_inserts", "true");
        return configuration.buildSessionFactory();
    }

    private void in(Consumer<Session> work) {
        factory.inTransaction(work::accept);
    }

    private void create() throws Exception {
        factory = built("create");
        in(s -> Cases.equal(0L, s.createSelectionQuery("select count(e) from Everything e", Long.class).getSingleResult(), "rows"));
    }

    private void validate() { built("validate").close(); }

    private void update() { built("update").close(); }

    private Everything filled() {
        Everything e = new Everything();
        e.flag = true; e.maybe = false; e.tiny = -128; e.small = -32767; e.plain = Integer.MAX_VALUE; e.boxed = -Integer.MAX_VALUE; e.big = Long.MAX_VALUE;
        e.single = 1.5f; e.twice = -2.25e100; e.exact = new BigDecimal("-123456789012345.54321"); e.text = "réveillé 'quoted' \u20ac"; e.longer = "x".repeat(1999) + "y"; e.letter = 'é';
        e.day = LocalDate.of(1, 1, 1); e.time = LocalTime.of(23, 59, 59); e.moment = LocalDateTime.of(9999, 12, 31, 23, 59, 59, 123_000_000);
        e.colour = Colour.GREEN; e.number = Colour.BLUE; e.uuid = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
        e.bytes = new byte[] {0, 1, -1, 127, -128}; e.clob = "large " + "é".repeat(5000); e.blob = new byte[3001]; Arrays.fill(e.blob, (byte) -1); e.sentinel = 4711;
        return e;
    }

    private void everything() {
        Everything e = filled();
        in(s -> s.persist(e));
        in(s -> {
            Everything got = s.find(Everything.class, e.id);
            Cases.equal(List.of(true, false, (byte) -128, (short) -32767, e.plain, e.boxed, e.big, e.single, e.twice, e.exact, e.text, e.longer, e.letter),
                List.of(got.flag, got.maybe, got.tiny, got.small, got.plain, got.boxed, got.big, got.single, got.twice, got.exact, got.text, got.longer, got.letter), "numbers and texts");
            Cases.equal(List.of(e.day, e.time, e.moment, e.colour, e.number, e.uuid), List.of(got.day, got.time, got.moment, got.colour, got.number, got.uuid), "dates and the like");
            Cases.check(Arrays.equals(e.bytes, got.bytes), "bytes");
            Cases.check(Arrays.equals(e.blob, got.blob), "blob");
            Cases.equal(e.clob, got.clob, "clob");
            Cases.equal(4711, got.sentinel, "the column behind");
            Cases.equal(1, s.createSelectionQuery("from Everything where moment = :m and exact = :x and uuid = :u and day = :d", Everything.class)
                .setParameter("m", e.moment).setParameter("x", e.exact).setParameter("u", e.uuid).setParameter("d", e.day).list().size(), "found by its values");
        });
    }

    private void nulls() {
        Everything e = new Everything();
        e.letter = 'x'; e.sentinel = 7;
        in(s -> s.persist(e));
        in(s -> {
            Everything got = s.find(Everything.class, e.id);
            Cases.check(got.maybe == null && got.boxed == null && got.exact == null && got.text == null && got.longer == null && got.day == null && got.time == null
                && got.moment == null && got.colour == null && got.number == null && got.uuid == null && got.bytes == null && got.clob == null && got.blob == null, "all null");
            Cases.equal(7, got.sentinel, "the column behind");
            Cases.equal(1, s.createSelectionQuery("from Everything where exact is null and sentinel = 7", Everything.class).list().size(), "found");
        });
    }

    private Customer customer(String name, String code) {
        Customer c = new Customer();
        c.name = name; c.code = code; c.address = new Address(); c.address.street = "Straße 1"; c.address.town = "Köln";
        for (int line = 3; line > 0; line--) { Order o = new Order(); o.line = line; o.total = new BigDecimal("10.0" + line); o.customer = c; c.orders.add(o); }
        c.nicknames.addAll(List.of("a", "bb")); c.profile = new Profile(); c.profile.motto = "no; {brace} --";
        return c;
    }

    private Integer first;

    private void associations() {
        in(s -> {
            Tag tag = new Tag(); tag.id = "vip"; tag.title = "very important"; s.persist(tag);
            Customer c = customer("Zoë", "z1"); c.tags.add(tag); s.persist(c); s.flush(); first = c.id;
        });
        in(s -> {
            Customer c = s.find(Customer.class, first);
            Cases.equal(List.of(1, 2, 3), c.orders.stream().map(o -> o.line).toList(), "orders in order");
            Cases.equal(Set.of("a", "bb"), c.nicknames, "nicknames");
            Cases.equal("very important", c.tags.iterator().next().title, "tag");
            Cases.equal("no; {brace} --", Hibernate.unproxy(c.profile, Profile.class).motto, "profile");
            Cases.equal("Köln", c.address.town, "address");
        });
    }

    private void orphans() {
        in(s -> { Customer c = s.find(Customer.class, first); c.orders.remove(0); c.nicknames.remove("a"); c.nicknames.add("ccc"); });
        in(s -> {
            Cases.equal(2L, s.createSelectionQuery("select count(o) from Order o where o.customer.id = :c", Long.class).setParameter("c", first).getSingleResult(), "orders");
            Cases.equal(Set.of("bb", "ccc"), s.find(Customer.class, first).nicknames, "nicknames");
        });
    }

    private void fetching() {
        in(s -> {
            Customer c = s.createSelectionQuery("select distinct c from Customer c left join fetch c.orders o where c.name like 'Z%' order by c.name", Customer.class).getSingleResult();
            Cases.equal(2, c.orders.size(), "orders");
            Cases.equal(new BigDecimal("20.05"), s.createSelectionQuery("select sum(o.total) from Order o where o.customer.code = 'z1'", BigDecimal.class).getSingleResult(), "sum");
        });
    }

    private void places() {
        PlaceId id = new PlaceId(); id.region = "eu"; id.number = 3;
        in(s -> { Place p = new Place(); p.id = id; p.name = "here"; p.reserved = "yes"; s.persist(p); });
        in(s -> { Place p = s.find(Place.class, id); Cases.equal("yes", p.reserved, "a column named order"); p.name = "there"; });
        in(s -> Cases.equal("there", s.createSelectionQuery("select p.name from Place p where p.id = :i", String.class).setParameter("i", id).getSingleResult(), "name"));
    }

    private void singleTable() {
        in(s -> { Cat cat = new Cat(); cat.name = "Tom"; cat.lives = 9; s.persist(cat); Dog dog = new Dog(); dog.name = "Rex"; dog.good = true; s.persist(dog); });
        in(s -> {
            Cases.equal(2, s.createSelectionQuery("from Animal", Animal.class).list().size(), "animals");
            Cases.equal(9, s.createSelectionQuery("from Cat", Cat.class).getSingleResult().lives, "lives");
            Cases.equal("Rex", s.createSelectionQuery("select a.name from Animal a where type(a) = Dog", String.class).getSingleResult(), "the dog");
        });
    }

    private void joined() {
        in(s -> { Car car = new Car(); car.name = "2CV"; car.doors = 4; s.persist(car); Vehicle v = new Vehicle(); v.name = "bike"; s.persist(v); });
        in(s -> {
            Cases.equal(List.of("2CV", "bike"), s.createSelectionQuery("select v.name from Vehicle v order by v.name", String.class).list(), "vehicles");
            Cases.equal(4, s.createSelectionQuery("from Car where doors > 2", Car.class).getSingleResult().doors, "doors");
            Cases.equal(2, s.createSelectionQuery("from Vehicle", Vehicle.class).list().size(), "outer joins");
        });
        in(s -> s.remove(s.createSelectionQuery("from Car", Car.class).getSingleResult()));
    }

    private void tablePerClass() {
        in(s -> { Circle c = new Circle(); c.id = 2; c.name = "o"; c.radius = 1.5; s.persist(c); Shape p = new Shape(); p.id = 1; p.name = "?"; s.persist(p); });
        in(s -> Cases.equal(List.of("?", "o"), s.createSelectionQuery("from Shape x order by x.id", Shape.class).list().stream().map(x -> x.name).toList(), "a union"));
    }

    private void optimistic() {
        Session other = factory.openSession();
        Customer stale = other.find(Customer.class, first);
        in(s -> s.find(Customer.class, first).name = "Zoé");
        other.beginTransaction();
        stale.name = "lost";
        Throwable problem = Cases.thrown(() -> other.getTransaction().commit(), "a lost update");
        other.close();
        Cases.check(problem instanceof OptimisticLockException, "OptimisticLockException, not " + problem);
    }

    private void pessimistic() {
        in(s -> {
            s.createNativeMutationQuery("SET LOCK MODE TO NOT WAIT").executeUpdate();
            Customer c = s.find(Customer.class, first, LockModeType.PESSIMISTIC_WRITE);
            c.name = "locked";
            s.flush();
            Session other = factory.openSession();
            other.beginTransaction();
            other.createNativeMutationQuery("SET LOCK MODE TO NOT WAIT").executeUpdate();
            Throwable problem = Cases.thrown(() -> other.createNativeMutationQuery("UPDATE hb_customer SET name = 'x' WHERE id = " + first).executeUpdate(), "a locked row");
            other.getTransaction().rollback();
            other.close();
            Cases.check(problem.toString().contains("ock"), "tells of a lock: " + problem);
        });
        in(s -> Cases.equal("locked", s.find(Customer.class, first).name, "name"));
    }

    private void batches() {
        in(s -> { for (int n = 0; n < 1000; n++) { Customer c = new Customer(); c.name = "n" + n; c.code = "b" + n; s.persist(c); } });
        in(s -> Cases.equal(1000L, s.createSelectionQuery("select count(c) from Customer c where c.code like 'b%'", Long.class).getSingleResult(), "rows"));
        in(s -> { for (Customer c : s.createSelectionQuery("from Customer c where c.code like 'b%'", Customer.class).list()) c.name = c.name + "!"; });
        in(s -> Cases.equal(1000L, s.createSelectionQuery("select count(c) from Customer c where c.name like '%!' and c.version = 1", Long.class).getSingleResult(), "updated"));
    }

    private void pages() {
        in(s -> {
            List<String> page = s.createSelectionQuery("select c.code from Customer c where c.code like 'b%' order by c.id", String.class).setFirstResult(10).setMaxResults(5).list();
            Cases.equal(List.of("b10", "b11", "b12", "b13", "b14"), page, "a page");
            Cases.equal(3, s.createSelectionQuery("select c.code from Customer c order by c.id", String.class).setMaxResults(3).list().size(), "the first three");
        });
    }

    private void functions() {
        in(s -> {
            Object[] row = s.createSelectionQuery("select upper(c.name), length(c.name), substring(c.name, 2, 3), concat(c.name, '-', c.code), trim(c.name), coalesce(c.code, 'none'),"
                + " locate('c', c.name), abs(-c.id), mod(c.id, 2), cast(c.id as String) from Customer c where c.id = :i", Object[].class).setParameter("i", first).getSingleResult();
            Cases.equal("LOCKED", row[0], "upper"); Cases.equal(6, ((Number) row[1]).intValue(), "length"); Cases.equal("ock", row[2], "substring");
            Cases.equal("locked-z1", row[3], "concat"); Cases.equal(3, ((Number) row[6]).intValue(), "locate"); Cases.equal(String.valueOf(first), String.valueOf(row[9]).trim(), "cast");
            Object[] parts = s.createSelectionQuery("select year(e.moment), month(e.moment), day(e.moment), hour(e.moment), minute(e.moment), second(e.moment) from Everything e where e.sentinel = 4711", Object[].class).getSingleResult();
            Cases.equal("[9999, 12, 31, 23, 59, 59]", Arrays.stream(parts).map(p -> ((Number) p).intValue()).toList().toString(), "parts of a moment");
            Object[] sums = s.createSelectionQuery("select count(o), min(o.total), max(o.total), avg(o.total), count(distinct o.customer.id) from Order o", Object[].class).getSingleResult();
            Cases.equal("10.02|10.03", sums[1] + "|" + sums[2], "min and max");
            Cases.check(s.createSelectionQuery("select current_timestamp, current_date", Object[].class).getSingleResult()[1] != null, "now");
            Cases.equal(1, s.createSelectionQuery("select c.name, count(o) from Customer c join c.orders o group by c.name having count(o) > 1 order by 2 desc", Object[].class).list().size(), "groups");
        });
    }

    private void bulk() {
        in(s -> Cases.equal(500, s.createMutationQuery("update Customer c set c.name = concat(c.name, '!') where c.code like 'b%' and mod(c.id, 2) = 0").executeUpdate(), "updated"));
        in(s -> Cases.equal(1000, s.createMutationQuery("delete from Customer c where c.code like 'b%'").executeUpdate(), "deleted"));
    }

    private void subqueries() {
        in(s -> {
            Cases.equal(1, s.createSelectionQuery("from Customer c where exists (select 1 from Order o where o.customer = c and o.total > (select avg(x.total) from Order x))", Customer.class).list().size(), "exists");
            Cases.equal("big", s.createSelectionQuery("select case when o.total > 10.02 then 'big' else 'small' end from Order o where o.line = 3", String.class).getSingleResult().trim(), "case");
            Cases.equal(2, s.createSelectionQuery("select v.name from Vehicle v union all select a.name from Animal a where a.name = 'Tom'", String.class).list().size(), "a union");
            Cases.equal(1, s.createSelectionQuery("from Customer c where c.id in (select o.customer.id from Order o) and c.code not in ('q', 'r')", Customer.class).list().size(), "in");
        });
    }

    private void natives() throws Exception {
        cases.execute("CREATE PROCEDURE IF NOT EXISTS hb_twice(n INT) RETURNING INT; RETURN n * 2; END PROCEDURE");
        in(s -> {
            Cases.equal("42", String.valueOf(s.createNativeQuery("SELECT hb_twice(:n) FROM systables WHERE tabid = 1", Integer.class).setParameter("n", 21).getSingleResult()), "a function");
            Cases.equal("locked", s.createNativeQuery("SELECT * FROM hb_customer WHERE id = ?", Customer.class).setParameter(1, first).getSingleResult().name, "an entity");
        });
        cases.execute("DROP PROCEDURE hb_twice");
    }

    private void constraints() {
        Throwable problem = Cases.thrown(() -> in(s -> s.persist(customer("again", "z1"))), "a doubled code");
        for (; problem != null && !(problem instanceof ConstraintViolationException); problem = problem.getCause()) { }
        Cases.check(problem != null, "a ConstraintViolationException");
        Cases.check(Cases.thrown(() -> in(s -> s.persist(customer(null, "z2"))), "a null name") != null, "refused");
    }

    private void rollback() {
        Cases.thrown(() -> in(s -> { s.persist(customer("gone", "z9")); s.flush(); throw new IllegalStateException("on purpose"); }), "on purpose");
        in(s -> Cases.equal(0L, s.createSelectionQuery("select count(c) from Customer c where c.code = 'z9'", Long.class).getSingleResult(), "rows"));
    }

    private void objects() {
        Everything e = new Everything();
        e.letter = 'l'; e.sentinel = 1; e.blob = new byte[1 << 20]; e.clob = "0123456789".repeat(100_000);
        for (int n = 0; n < e.blob.length; n++) e.blob[n] = (byte) (n * 31);
        in(s -> s.persist(e));
        in(s -> { Everything got = s.find(Everything.class, e.id); Cases.check(Arrays.equals(e.blob, got.blob), "blob"); Cases.equal(e.clob, got.clob, "clob"); got.blob = new byte[] {1}; });
        in(s -> Cases.equal(1, s.find(Everything.class, e.id).blob.length, "a smaller one"));
    }

    private void streams() {
        in(s -> { for (int n = 0; n < 10_000; n++) { Tag t = new Tag(); t.id = "t" + n; t.title = "title " + n; s.persist(t); } });
        in(s -> Cases.equal(49_995_000L, s.createSelectionQuery("from Tag t where t.id like 't%'", Tag.class).getResultStream().mapToLong(t -> Long.parseLong(t.id.substring(1))).sum(), "the sum"));
    }

    private void drop() throws Exception {
        factory.close();
        SessionFactory last = built("create-drop");
        last.close();
        Cases.equal(List.of(), cases.rows("SELECT tabname FROM systables WHERE tabname LIKE 'hb%'"), "what is left");
    }
}
