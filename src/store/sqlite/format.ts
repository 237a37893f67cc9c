/** What one kind of database file consists of. */
export interface Format {
  /** What it is called in messages. */
  readonly name: string;
  /** Written into the file's header; tells our files from everybody else's. 31 bits. */
  readonly applicationId: number;
  /**
   * SQL that leads from version n to n + 1, by position. Never edited once released: a change is one more entry. The
   * file's version is the number of those it has been through.
   */
  readonly migrations: readonly string[];
  /**
   * SHA-256 of `schemaOf` behind each migration, by position: a file whose tables are those need not be compared with
   * tables made anew, which is what is done where none is stated.
   */
  readonly schemas?: readonly string[];
}

/** How a database is opened. Here, where no type of the driver is, since tools that keep one show this to everybody. */
export interface OpenOptions {
  /** How long one attempt waits for another process, in milliseconds. Default 5,000: commits take a few. */
  readonly busyTimeoutMs?: number;
}
