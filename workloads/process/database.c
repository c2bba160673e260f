/* SQLite on a file, with a rollback journal and with a write-ahead log, for syscall emulation (tests/test_programs.py):
 * prints the same natively and simulated, and leaves a database that any SQLite reads. Needs Debian's libsqlite3-dev. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static sqlite3 *db;

static int row(void *none, int columns, char **values, char **names)
{
	(void)none, (void)names;
	for (int n = 0; n < columns; n++)
		printf("%s%c", values[n] ? values[n] : "NULL", n + 1 < columns ? '|' : '\n');
	return 0;
}

static void run(const char *sql)
{
	char *error = NULL;
	if (sqlite3_exec(db, sql, row, NULL, &error) != SQLITE_OK)
		printf("%s: %s\n", sql, error);
	sqlite3_free(error);
}

static void filled(const char *file, const char *mode)
{
	char text[200];
	if (sqlite3_open(file, &db) != SQLITE_OK)
		exit(1);
	snprintf(text, sizeof text, "PRAGMA journal_mode = %s", mode);
	run(text);
	run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL)");
	run("BEGIN");
	for (int n = 1; n <= 300; n++) {
		snprintf(text, sizeof text, "INSERT INTO t VALUES (%d, 'name %d', %d / 7.0)", n, n * 37 % 101, n);
		run(text);
	}
	run("COMMIT");
	run("CREATE INDEX i ON t (b)");
	run("BEGIN; DELETE FROM t WHERE a < 100; ROLLBACK");
	run("UPDATE t SET c = -c WHERE a % 2");
	run("SELECT b, count(*), round(sum(c), 6) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 4");
	/* A second connection, beside the first: locks. */
	sqlite3 *first = db;
	run("BEGIN IMMEDIATE");
	if (sqlite3_open(file, &db) != SQLITE_OK)
		exit(1);
	run("BEGIN IMMEDIATE");
	run("SELECT count(*) FROM t");
	sqlite3_close(db);
	db = first;
	run("COMMIT; PRAGMA integrity_check; VACUUM");
	sqlite3_close(db);
}

int main(void)
{
	filled("delete.db", "DELETE");
	filled("wal.db", "WAL");
	return 0;
}
