import { type Exported, exportRecord, exportStore } from "../../app/audit.ts";
import { quoted } from "../../base/quoted.ts";
import { usageFault } from "../fault.ts";
import { withHost } from "../host.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { count } from "../table.ts";

/** Copies a record into a bundle. Changes nothing in the store, but for a tree head with --host. */
export async function run(call: Call): Promise<Outcome> {
  const [store] = call.arguments;
  const out = textOption(call.options, "out");
  const host = textOption(call.options, "host");
  if (out === undefined) {
    throw usageFault("a bundle is a directory of its own", "name a new one with --out DIRECTORY");
  }
  if ((store === undefined) === (host === undefined)) {
    throw usageFault(
      "a record is that of one host",
      "name its store, or its module with --host FILE, and not both",
    );
  }
  const exported =
    store === undefined
      ? await withHost(call, (at) => exportRecord(at.host, out))
      : await exportStore(store, out);
  return { exit: "verified", json: { out, ...exported }, text: told(out, exported) };
}

function told(out: string, { entries, heads, blobs, uncovered }: Exported): string {
  const what = [
    count(entries, "entry", "entries"),
    count(heads, "tree head"),
    count(blobs, "document"),
  ];
  return [
    `ok ${out} has ${what.join(", ")}`,
    ...(uncovered > 0
      ? [
          `note: ${count(uncovered, "entry", "entries")} behind the last tree head nobody has signed yet; --host has them signed`,
        ]
      : []),
    `hint: check it with  rote audit ${quoted(out)} --trust TRUST`,
  ].join("\n");
}
