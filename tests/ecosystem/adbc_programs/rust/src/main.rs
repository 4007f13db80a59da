//! A program in Rust that uses the driver through crates.io's driver manager, by its manifest: `adbc-program URI ROWS`.
//!
//! The table `numbers` (n INT, s VARCHAR) with ROWS rows is there. Each case prints its name; the first fault ends the
//! program.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use adbc_core::error::Status;
use adbc_core::options::{AdbcVersion, IngestMode, OptionConnection, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection, Database, Driver, Optionable, Statement, LOAD_FLAG_DEFAULT};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver};
use arrow_array::{Int64Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{DataType, Field, Schema};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn count(reader: Box<dyn RecordBatchReader + Send + 'static>) -> Outcome<usize> {
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

fn query(connection: &mut ManagedConnection, sql: &str) -> Outcome<usize> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    count(statement.execute()?)
}

fn rows() -> Outcome<RecordBatch> {
    let schema = Schema::new(vec![Field::new("n", DataType::Int64, true), Field::new("s", DataType::Utf8, true)]);
    let n = Int64Array::from(vec![Some(7), None, Some(-42)]);
    let s = StringArray::from(vec![Some("é"), Some(""), None]);
    Ok(RecordBatch::try_new(Arc::new(schema), vec![Arc::new(n), Arc::new(s)])?)
}

fn parameters_and_ingestion(connection: &mut ManagedConnection) -> Outcome<()> {
    let mut statement = connection.new_statement()?;
    statement.set_option(OptionStatement::TargetTable, OptionValue::String("from_rust".into()))?;
    statement.set_option(OptionStatement::IngestMode, IngestMode::Replace.into())?;
    statement.bind(rows()?)?;
    assert_eq!(statement.execute_update()?, Some(3));
    statement.set_sql_query("INSERT INTO from_rust VALUES (?, ?)")?;
    statement.prepare()?;
    assert_eq!(statement.get_parameter_schema()?.fields().len(), 2);
    statement.bind(rows()?)?;
    assert_eq!(statement.execute_update()?, Some(3));
    statement.set_sql_query("SELECT n, s FROM from_rust WHERE n = ?")?;
    statement.bind(rows()?.slice(0, 1).project(&[0])?)?;
    let found = statement.execute()?.next().ok_or("no rows")??;
    assert_eq!(found.num_rows(), 2);
    let text = found.column(1).as_any().downcast_ref::<StringArray>().ok_or("no text")?;
    assert_eq!(text.value(0), "é");
    statement.set_sql_query("DROP TABLE from_rust")?;
    statement.execute_update()?;
    Ok(())
}

fn errors(connection: &mut ManagedConnection) -> Outcome<()> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query("SELECT * FROM nowhere")?;
    let error = statement.execute_update().err().ok_or("no error")?;
    assert_eq!(error.status, Status::NotFound);
    assert!(error.message.contains("nowhere"), "{}", error.message);
    let details = error.details.ok_or("no details")?;
    assert!(details.iter().any(|(key, value)| key == "sqlcode" && value == b"-206"));
    let option = OptionStatement::Other("no.such.option".into());
    let error = statement.set_option(option, OptionValue::Int(7)).err().ok_or("no error")?;
    assert_eq!(error.status, Status::NotImplemented);
    Ok(())
}

fn cancellation(connection: &mut ManagedConnection) -> Outcome<()> {
    let mut other = connection.clone();
    let stopping = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stop = stopping.clone();
    let thread = thread::spawn(move || {
        while !stop.load(std::sync::atomic::Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(50));
            let _ = other.cancel();
        }
    });
    let result = query(connection, "SELECT COUNT(*) FROM numbers a, numbers b, numbers c");
    stopping.store(true, std::sync::atomic::Ordering::SeqCst);
    thread.join().map_err(|_| "the thread panicked")?;
    let error = result.err().ok_or("the statement was not cancelled")?;
    assert!(error.to_string().to_lowercase().contains("cancel"), "{error}");
    assert_eq!(query(connection, "SELECT tabid FROM systables WHERE tabid = 1")?, 1);
    Ok(())
}

fn eight_threads(database: &ManagedDatabase, expected: usize) -> Outcome<()> {
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let database = database.clone();
            thread::spawn(move || -> Outcome<usize> {
                let mut connection = database.new_connection()?;
                let mut statement = connection.new_statement()?;
                statement.set_sql_query("SELECT n, s FROM numbers")?;
                drop(statement.execute()?); // released early
                query(&mut connection, "SELECT n, s FROM numbers WHERE n < 20000")
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().map_err(|_| "a thread panicked")??, expected.min(20000));
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().collect();
    let expected: usize = words[2].parse()?;
    let mut driver = ManagedDriver::load_from_name("informix", None, AdbcVersion::V110, LOAD_FLAG_DEFAULT, None)?;
    let database = driver.new_database_with_opts([(OptionDatabase::Uri, OptionValue::String(words[1].clone()))])?;
    let mut connection = database.new_connection()?;
    query(&mut connection, "SELECT n, s FROM numbers")?;
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        assert_eq!(query(&mut connection, "SELECT n, s FROM numbers")?, expected);
        best = best.min(began.elapsed());
    }
    println!("query {:.4} s", best.as_secs_f64());
    parameters_and_ingestion(&mut connection)?;
    println!("parameters, ingestion");
    errors(&mut connection)?;
    println!("errors");
    cancellation(&mut connection)?;
    println!("cancel");
    eight_threads(&database, expected)?;
    println!("threads");
    connection.set_option(OptionConnection::AutoCommit, OptionValue::String("false".into()))?;
    assert_eq!(connection.get_option_string(OptionConnection::AutoCommit)?, "false");
    connection.rollback()?;
    println!("transactions");
    Ok(())
}
