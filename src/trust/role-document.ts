import type * as z from "zod/mini";
import type { JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { PublicKey } from "../base/sign.ts";
import type { Role, TrustedKey } from "../model/trust.ts";
import { type DocumentFault, openDocumentByOne, type SignedDocument } from "./signed-document.ts";
import type { KeyFault, TrustStore } from "./trust-store.ts";

export interface RoleDocument<T> extends SignedDocument<T> {
  readonly key: PublicKey;
  /** Who the trust store says holds the key. */
  readonly holder: TrustedKey;
}

/** Opens a document that one key of `role` must have signed, usable at `now` (seconds). */
export function openByRole<T>(
  envelope: JsonValue,
  payloadType: string,
  schema: z.ZodMiniType<T>,
  trust: TrustStore,
  role: Role,
  now: number,
): Result<RoleDocument<T>, DocumentFault | KeyFault> {
  // The envelope's reader only learns that no key was found; why is known here.
  let fault: KeyFault = "unknown_key";
  const opened = openDocumentByOne(envelope, payloadType, schema, (id) => {
    const usable = trust.usable(id, role, now);
    if (usable.ok) return trust.key(id)?.key;
    fault = usable.error;
    return undefined;
  });
  if (!opened.ok) return err(opened.error === "unknown_key" ? fault : opened.error);
  const holder = trust.key(opened.value.key.id)?.entry;
  return holder === undefined ? err("unknown_key") : ok({ ...opened.value, holder });
}
