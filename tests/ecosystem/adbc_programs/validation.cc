// arrow-adbc's validation suite for drivers, with what is Informix's own: its SQL, and the types that it gives back.
// Built and run by test_adbc_programs.py.

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <arrow-adbc/adbc.h>
#include <arrow-adbc/adbc_driver_manager.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <nanoarrow/nanoarrow.h>

#include "validation/adbc_validation.h"
#include "validation/adbc_validation_util.h"

namespace {
AdbcStatusCode Run(struct AdbcConnection* connection, const std::string& query, struct AdbcError* error) {
  adbc_validation::Handle<struct AdbcStatement> statement;
  AdbcStatusCode code = AdbcStatementNew(connection, &statement.value, error);
  if (code != ADBC_STATUS_OK) return code;
  code = AdbcStatementSetSqlQuery(&statement.value, query.c_str(), error);
  if (code != ADBC_STATUS_OK) return code;
  code = AdbcStatementExecuteQuery(&statement.value, nullptr, nullptr, error);
  if (code != ADBC_STATUS_OK) return code;
  return AdbcStatementRelease(&statement.value, error);
}
}  // namespace

class InformixQuirks : public adbc_validation::DriverQuirks {
 public:
  AdbcStatusCode SetupDatabase(struct AdbcDatabase* database, struct AdbcError* error) const override {
    AdbcStatusCode code = AdbcDatabaseSetOption(database, "driver", "informix", error);
    if (code != ADBC_STATUS_OK) return code;
    code = AdbcDriverManagerDatabaseSetLoadFlags(database, ADBC_LOAD_FLAG_DEFAULT, error);
    if (code != ADBC_STATUS_OK) return code;
    code = AdbcDatabaseSetOption(database, "uri", std::getenv("INFORMIX_URI"), error);
    if (code != ADBC_STATUS_OK) return code;
    return AdbcDatabaseSetOption(database, "env.DELIMIDENT", "y", error);
  }
  AdbcStatusCode DropTable(struct AdbcConnection* c, const std::string& name, struct AdbcError* e) const override {
    return Run(c, "DROP TABLE IF EXISTS \"" + name + "\"", e);
  }
  AdbcStatusCode DropTable(struct AdbcConnection* c, const std::string& name, const std::string& schema,
                           struct AdbcError* e) const override {
    return Run(c, "DROP TABLE IF EXISTS \"" + schema + "\".\"" + name + "\"", e);
  }
  AdbcStatusCode DropTempTable(struct AdbcConnection* c, const std::string& name, struct AdbcError* e) const override {
    return Run(c, "DROP TABLE IF EXISTS \"" + name + "\"", e);
  }
  AdbcStatusCode DropView(struct AdbcConnection* c, const std::string& name, struct AdbcError* e) const override {
    return Run(c, "DROP VIEW IF EXISTS \"" + name + "\"", e);
  }
  AdbcStatusCode EnsureDbSchema(struct AdbcConnection*, const std::string&, struct AdbcError*) const override {
    return ADBC_STATUS_OK;  // an owner need not be created
  }
  std::string BindParameter(int) const override { return "?"; }
  std::string RewriteSql(std::string_view id, std::string sql) const override {
    if (id == "StatementTest::TestSqlBind::create-table-bindtest")
      return "CREATE TABLE bindtest (col1 INTEGER, col2 VARCHAR(100))";
    if (sql.rfind("SELECT", 0) == 0 && sql.find("FROM") == std::string::npos)
      return sql + " FROM systables WHERE tabid = 1";
    return sql;
  }
  ArrowType IngestSelectRoundTripType(ArrowType type) const override {
    switch (type) {
      case NANOARROW_TYPE_INT8:
      case NANOARROW_TYPE_UINT8:
        return NANOARROW_TYPE_INT16;
      case NANOARROW_TYPE_UINT16:
        return NANOARROW_TYPE_INT32;
      case NANOARROW_TYPE_UINT32:
        return NANOARROW_TYPE_INT64;
      case NANOARROW_TYPE_HALF_FLOAT:
        return NANOARROW_TYPE_FLOAT;
      case NANOARROW_TYPE_UINT64:
        return NANOARROW_TYPE_DECIMAL128;
      case NANOARROW_TYPE_LARGE_STRING:
      case NANOARROW_TYPE_STRING_VIEW:
        return NANOARROW_TYPE_STRING;
      case NANOARROW_TYPE_BINARY:
      case NANOARROW_TYPE_FIXED_SIZE_BINARY:
      case NANOARROW_TYPE_BINARY_VIEW:
        return NANOARROW_TYPE_LARGE_BINARY;
      case NANOARROW_TYPE_DATE64:
        return NANOARROW_TYPE_DATE32;
      default:
        return type;
    }
  }
  std::optional<std::string> PrimaryKeyTableDdl(std::string_view name) const override {
    return "CREATE TABLE " + std::string(name) + " (id BIGINT PRIMARY KEY)";
  }
  std::optional<std::string> PrimaryKeyIngestTableDdl(std::string_view name) const override {
    return "CREATE TABLE " + std::string(name) + " (id BIGSERIAL PRIMARY KEY, value BIGINT)";
  }
  std::optional<std::string> CompositePrimaryKeyTableDdl(std::string_view name) const override {
    return "CREATE TABLE " + std::string(name) +
           " (id_primary_col1 BIGINT, id_primary_col2 BIGINT, PRIMARY KEY (id_primary_col1, id_primary_col2))";
  }
  std::optional<std::string> ForeignKeyChildTableDdl(std::string_view child, std::string_view one,
                                                     std::string_view two) const override {
    return "CREATE TABLE " + std::string(child) +
           " (id_child_col1 BIGINT PRIMARY KEY, id_child_col2 BIGINT, id_child_col3 BIGINT,"
           " FOREIGN KEY (id_child_col3) REFERENCES " + std::string(one) + " (id),"
           " FOREIGN KEY (id_child_col1, id_child_col2) REFERENCES " + std::string(two) +
           " (id_primary_col1, id_primary_col2))";
  }
  bool supports_bulk_ingest(const char*) const override { return true; }
  bool supports_bulk_ingest_catalog() const override { return true; }
  bool supports_bulk_ingest_db_schema() const override { return true; }
  bool supports_bulk_ingest_temporary() const override { return true; }
  bool supports_cancel() const override { return true; }
  bool supports_concurrent_statements() const override { return true; }
  bool supports_execute_schema() const override { return true; }
  bool supports_partitioned_data() const override { return true; }
  bool supports_metadata_current_catalog() const override { return true; }
  bool supports_metadata_current_db_schema() const override { return false; }
  bool supports_statistics() const override { return true; }
  std::optional<adbc_validation::SqlInfoValue> supports_get_sql_info(uint32_t code) const override {
    switch (code) {
      case ADBC_INFO_DRIVER_ADBC_VERSION:
        return ADBC_VERSION_1_1_0;
      case ADBC_INFO_VENDOR_NAME:
        return "Informix";
      default:
        return std::nullopt;
    }
  }
  std::string catalog() const override { return std::getenv("INFORMIX_DATABASE"); }
  std::string db_schema() const override { return "informix"; }
};

#define FIXTURE(NAME, BASE)                                                  \
  class NAME : public ::testing::Test, public adbc_validation::BASE {        \
   public:                                                                   \
    const adbc_validation::DriverQuirks* quirks() const override { return &quirks_; } \
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(SetUpTest()); }          \
    void TearDown() override { ASSERT_NO_FATAL_FAILURE(TearDownTest()); }    \
                                                                             \
   protected:                                                                \
    InformixQuirks quirks_;                                                  \
  };

FIXTURE(InformixDatabaseTest, DatabaseTest)
ADBCV_TEST_DATABASE(InformixDatabaseTest)
FIXTURE(InformixConnectionTest, ConnectionTest)
ADBCV_TEST_CONNECTION(InformixConnectionTest)
// The statements that the suite writes out in SQL that Informix does not have, in Informix's.
extern "C" AdbcStatusCode __real_AdbcStatementSetSqlQuery(struct AdbcStatement*, const char*, struct AdbcError*);
extern "C" AdbcStatusCode __wrap_AdbcStatementSetSqlQuery(struct AdbcStatement* statement, const char* query,
                                                          struct AdbcError* error) {
  std::string sql = query;
  const std::string one = " FROM systables WHERE tabid = 1";
  const std::string several = "VALUES (1), (2), (3), (4), (5)";
  size_t at = sql.find(several);
  if (sql.rfind("SELECT ?, ?", 0) == 0) {
    sql = "SELECT CAST(? AS BIGINT), CAST(? AS LVARCHAR)" + one;
  } else if (sql == "SELECT current_date;;;") {
    sql = "SELECT TODAY" + one + ";;;";
  } else if (at != std::string::npos) {
    sql = sql.substr(0, at) + "SELECT tabid FROM systables WHERE tabid <= 5";
  }
  return __real_AdbcStatementSetSqlQuery(statement, sql.c_str(), error);
}

class InformixStatementTest : public ::testing::Test, public adbc_validation::StatementTest {
 public:
  const adbc_validation::DriverQuirks* quirks() const override { return &quirks_; }
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(SetUpTest()); }
  void TearDown() override { ASSERT_NO_FATAL_FAILURE(TearDownTest()); }

 protected:
  void ValidateIngestedTemporalData(struct ArrowArrayView* values, ArrowType type, enum ArrowTimeUnit unit,
                                    const char* timezone) override {
    // DATETIME comes back in the unit of its fraction, INTERVAL in microseconds.
    int64_t factor = 42;
    if (type == NANOARROW_TYPE_DURATION)
      factor *= unit == NANOARROW_TIME_UNIT_SECOND ? 1000000 : unit == NANOARROW_TIME_UNIT_MILLI ? 1000 : 1;
    std::vector<std::optional<int64_t>> expected = {std::nullopt, -factor, 0, factor};
    ASSERT_NO_FATAL_FAILURE(adbc_validation::CompareArray<std::int64_t>(values, expected));
  }
  InformixQuirks quirks_;
};
ADBCV_TEST_STATEMENT(InformixStatementTest)
