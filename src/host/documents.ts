/**
 * What operations are judged by, kept in the record: operations name these documents by digest, and an auditor who was
 * not there has to read them. Each is kept as the content that its digest is made of, so that name and digest are one.
 */
import { canonicalBytes } from "../base/canonical.ts";
import { sha256Hex, taggedBytes } from "../base/digest.ts";
import { envelopeToJson, readEnvelope } from "../base/dsse.ts";
import { admitJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { HostParts } from "./parts.ts";

/** Keeps what is not kept yet; after that every operation of this host names only what the record holds. */
export async function keepDocuments(parts: HostParts): Promise<void> {
  const { journal } = parts;
  const blobs = documentsOf(parts).filter((bytes) => journal.blob(sha256Hex(bytes)) === undefined);
  if (blobs.length > 0) await journal.append({ lease: null, entries: [], blobs });
}

function documentsOf(parts: HostParts): readonly Uint8Array[] {
  const { policy, budget, intent, warrant, tools } = parts;
  const asked =
    intent === null
      ? []
      : tagged(TAGS.intent, { statement: intent.statement, tools: intent.tools });
  return [
    ...tagged(TAGS.policy, policy.document),
    ...tagged(TAGS.budget, budget.document),
    ...asked,
    ...(warrant ?? []).flatMap(envelopeBlob),
    ...[...tools.values()].flatMap(({ tool, review }) => [
      ...tagged(TAGS.tool, tool.definition),
      ...envelopeBlob(review),
    ]),
  ];
}

/** Nothing for what has no canonical form: no operation can be judged by it. */
function tagged(tag: string, document: unknown): readonly Uint8Array[] {
  const admitted = admitJson(document, { numbers: "finite" });
  return admitted.ok ? [taggedBytes(tag, canonicalBytes(admitted.value))] : [];
}

/** In the one spelling that its digest is made of. */
function envelopeBlob(envelope: Parameters<typeof readEnvelope>[0]): readonly Uint8Array[] {
  const read = readEnvelope(envelope);
  return read.ok ? tagged(TAGS.envelope, envelopeToJson(read.value)) : [];
}
