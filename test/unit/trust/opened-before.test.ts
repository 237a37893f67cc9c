import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../src/base/freeze.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { checkToolReview, signToolReview } from "../../../src/trust/tool-review.ts";
import { openTrust, signTrust, type TrustStore } from "../../../src/trust/trust-store.ts";
import { KEYS, nowSeconds, ORIGIN, trustDocument, trustedKey } from "../../support/host.ts";

const NOW = nowSeconds();

function review(): JsonValue {
  return signToolReview(
    {
      type: "rote-tool-review/v1",
      audience: ORIGIN,
      name: "bank.pay",
      definition: `sha256:${"0".repeat(64)}`,
      category: "read",
      repeatable: false,
      fenced: false,
      reviewer: "rita",
      not_before: NOW - 60,
      expires: NOW + 600,
    },
    KEYS.reviewer,
  );
}

function store(change: Parameters<typeof trustDocument>[0] = {}): TrustStore {
  const opened = openTrust(signTrust(trustDocument(change), [KEYS.root]));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

const check = (envelope: JsonValue, trust: TrustStore, now = NOW) =>
  checkToolReview(envelope, ORIGIN, trust, now);

describe("a frozen envelope that was opened before", () => {
  it("gives the same document again, which nobody can change", () => {
    const envelope = deepFreeze(review());
    const trust = store();
    const first = check(envelope, trust);
    const again = check(envelope, trust);
    if (!first.ok || !again.ok) throw new Error("refused");
    expect(again.value).toEqual(first.value);
    expect(Object.isFrozen(again.value.review)).toBe(true);
  });

  it("is refused once its time is over, or its key's", () => {
    const envelope = deepFreeze(review());
    const keys = (change: object) =>
      trustDocument().keys.map((key) =>
        key.role === "tool_reviewer" ? trustedKey(KEYS.reviewer, "rita", key.role, change) : key,
      );
    expect(check(envelope, store()).ok).toBe(true);
    expect(check(envelope, store(), NOW + 600)).toEqual({ ok: false, error: "review_expired" });
    const short = store({ keys: keys({ valid_to: NOW + 10 }) });
    expect(check(envelope, short).ok).toBe(true);
    expect(check(envelope, short, NOW + 10)).toEqual({ ok: false, error: "expired" });
    const revoked = store({ keys: keys({ revoked: { at: NOW, reason: "lost" } }) });
    expect(check(envelope, revoked)).toEqual({ ok: false, error: "revoked" });
    const gone = store({ keys: keys({}).filter(({ role }) => role !== "tool_reviewer") });
    expect(check(envelope, gone)).toEqual({ ok: false, error: "unknown_key" });
    expect(check(envelope, store()).ok).toBe(true);
  });

  it("is not taken for a document of another kind", () => {
    const envelope = deepFreeze(review());
    expect(check(envelope, store()).ok).toBe(true);
    expect(openTrust(envelope).ok).toBe(false);
  });
});

describe("an envelope that can change", () => {
  it("is verified anew every time", () => {
    const envelope = review() as { payload: string };
    const trust = store();
    expect(check(envelope, trust).ok).toBe(true);
    const text = Buffer.from(envelope.payload, "base64").toString();
    envelope.payload = Buffer.from(text.replace('"fenced":false', '"fenced":true ')).toString(
      "base64",
    );
    expect(check(envelope, trust)).toEqual({ ok: false, error: "bad_signature" });
  });

  it("is verified anew also when it only looks frozen: its signatures are not, or it answers for itself", () => {
    const trust = store();
    const shallow = Object.freeze(review()) as { signatures: { sig: string }[] };
    expect(check(shallow, trust).ok).toBe(true);
    const other = signToolReview({ ...reviewOf(shallow), fenced: true }, KEYS.reviewer);
    (shallow.signatures[0] as { sig: string }).sig = (
      other as { signatures: [{ sig: string }] }
    ).signatures[0].sig;
    expect(check(shallow, trust)).toEqual({ ok: false, error: "bad_signature" });

    let payload = (review() as { payload: string }).payload;
    const { payloadType, signatures } = review() as { payloadType: string; signatures: JsonValue };
    const answering = Object.freeze({
      get payload() {
        return payload;
      },
      payloadType,
      signatures: deepFreeze(signatures),
    });
    expect(check(answering, trust).ok).toBe(true);
    payload = Buffer.from("{}").toString("base64");
    expect(check(answering, trust)).toEqual({ ok: false, error: "bad_signature" });
  });
});

function reviewOf(envelope: object): Parameters<typeof signToolReview>[0] {
  const { payload } = envelope as { payload: string };
  return JSON.parse(Buffer.from(payload, "base64").toString());
}
