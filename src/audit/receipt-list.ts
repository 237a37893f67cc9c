/** The receipts of a run as the record names them, for whoever has to pick one. Nothing is verified here. */
import { sha256Hex } from "../base/digest.ts";
import { isJsonObject, type JsonObject, type JsonValue, readJson } from "../base/json.ts";
import type { RecordView } from "../ports/bundle.ts";
import { rawIn } from "./journal-source.ts";

export interface ListedReceipt {
  /** As a run lists it: `sha256:` and the hash of its entry. */
  readonly receipt: string;
  readonly outcome: string;
  readonly operation: string;
  /** Name of the tool and place in the recipe, where the statement can be read. */
  readonly tool: string;
  readonly node: string;
  readonly index: number | null;
}

export function receiptsIn(record: RecordView, run: string): readonly ListedReceipt[] {
  const found: ListedReceipt[] = [];
  const mark = `"type":"receipt"`;
  for (const bytes of rawIn(record, Number(record.head().size))) {
    // Most entries are not read for this.
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(mark)) continue;
    const read = readJson(bytes, { numbers: "finite", maxDepth: 600 });
    const entry = read.ok && isJsonObject(read.value) ? read.value : undefined;
    if (entry?.["chain"] !== run || entry["type"] !== "receipt") continue;
    const body = isJsonObject(entry["body"]) ? entry["body"] : undefined;
    const predicate = predicateIn(body);
    const index = predicate?.["index"];
    found.push({
      receipt: `sha256:${sha256Hex(bytes)}`,
      outcome: textOf(member(body, "outcome")),
      operation: textOf(member(body, "operation")),
      tool: textOf(member(predicate?.["target"], "name")),
      node: textOf(predicate?.["node"]),
      index: typeof index === "number" ? index : null,
    });
  }
  return found;
}

function predicateIn(body: JsonValue | undefined): JsonObject | undefined {
  const payload = member(member(body, "envelope"), "payload");
  if (typeof payload !== "string") return undefined;
  const read = readJson(Buffer.from(payload, "base64"));
  const predicate = read.ok ? member(read.value, "predicate") : undefined;
  return isJsonObject(predicate) ? predicate : undefined;
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
