import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import { schemaOf } from "../../../src/store/sqlite/migrate.ts";
import { createProcedures, openProcedures } from "../../../src/store/sqlite/procedures.ts";
import { FILE, PROCEDURES } from "../../../src/store/sqlite/schema.ts";

describe("the tables of the memory's own file", () => {
  it("are stated for each version as its migrations make them", () => {
    const made = new Sqlite(":memory:");
    const schemas = PROCEDURES.migrations.map((sql) => {
      made.exec(sql);
      return sha256Hex(Buffer.from(schemaOf(made)));
    });
    made.close();
    expect(PROCEDURES.schemas).toEqual(schemas);
  });

  it("are refused with one index more than their version has", () => {
    const root = mkdtempSync(join(tmpdir(), "rote-schemas-"));
    try {
      const place = join(root, "memory");
      createProcedures(place, DEFAULT_MEMORY_LIMITS).close();
      const changed = new Sqlite(join(place, FILE));
      changed.exec("CREATE INDEX another ON observations (run)");
      changed.close();
      expect(() => openProcedures(place, DEFAULT_MEMORY_LIMITS)).toThrow(
        expect.objectContaining({
          code: "store_damaged",
          message: expect.stringContaining("its tables are not those of version 2"),
        }),
      );
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
