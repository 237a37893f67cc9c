import { describe, expect, it } from "vitest";
import { envelopeToJson, signEnvelope } from "../../../src/base/dsse.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Approval, PAYLOAD_TYPES } from "../../../src/model/trust.ts";
import {
  type ApprovalRequest,
  CLOCK_SLACK_SECONDS,
  checkApproval,
  MAX_APPROVAL_SECONDS,
  signApproval,
} from "../../../src/trust/approval.ts";
import { KEYS } from "../../support/host.ts";
import {
  approvalOf,
  NOW,
  REQUEST,
  relisted,
  signRaw,
  someDigest,
  someNonce,
  store,
} from "../../support/trust.ts";

const TRUST = store();

function verdict(
  change: Partial<Approval>,
  { request = REQUEST, now = NOW, trust = TRUST, key = KEYS.alice } = {},
) {
  const checked = checkApproval(signApproval(approvalOf(change), key), request, trust, now);
  return checked.ok ? "good" : checked.error;
}

describe("an approval", () => {
  it("is good for exactly the request that it answers", () => {
    const checked = checkApproval(signApproval(approvalOf(), KEYS.alice), REQUEST, TRUST, NOW);
    if (!checked.ok) throw new Error(checked.error);
    expect(checked.value.approval).toEqual(approvalOf());
    expect(checked.value.key).toBe(KEYS.alice.publicKey.id);
    expect(checked.value.until).toBe(NOW + 600);
  });

  it("may say no, and is checked as strictly", () => {
    expect(verdict({ decision: "reject" })).toBe("good");
    expect(verdict({ decision: "reject", nonce: someNonce(2) })).toBe("wrong_nonce");
  });

  it("is refused for another host, run, request or text", () => {
    expect(verdict({ audience: "other.example/journal" })).toBe("wrong_audience");
    expect(verdict({ run: "run-2" })).toBe("wrong_run");
    expect(verdict({ nonce: someNonce(2) })).toBe("wrong_nonce");
    expect(verdict({ display: someDigest("e") })).toBe("wrong_display");
  });

  it("covers all operations of the request, in the order shown, and no other (B011, B079)", () => {
    const [one, two] = REQUEST.operations;
    if (one === undefined || two === undefined) throw new Error("the request has two operations");
    const three = someDigest("3");
    for (const operations of [
      [one],
      [two],
      [two, one],
      [one, three],
      [one, two, three],
      [one, one],
    ]) {
      expect(verdict({ operations })).toBe("wrong_operations");
    }
    // The other way round: a signature over two, shown to a request of one of them.
    const request: ApprovalRequest = { ...REQUEST, operations: [one] };
    expect(verdict({}, { request })).toBe("wrong_operations");
  });

  it("is signed by the approver that it names (B014)", () => {
    expect(verdict({ approver: "bob" })).toBe("wrong_approver");
    expect(verdict({ approver: "bob" }, { key: KEYS.bob })).toBe("good");
  });

  it("is signed by a key that is an approver's, known and usable now (B014, B077)", () => {
    expect(verdict({}, { key: KEYS.stranger })).toBe("unknown_key");
    expect(verdict({ approver: "rita" }, { key: KEYS.reviewer })).toBe("wrong_role");
    expect(verdict({ approver: "ida" }, { key: KEYS.issuer })).toBe("wrong_role");
    const revoked = { at: NOW + 5, reason: "left" };
    expect(verdict({}, { trust: store({ keys: relisted(KEYS.alice, { revoked }) }) })).toBe(
      "revoked",
    );
    const old = store({ keys: relisted(KEYS.alice, { valid_to: NOW }) });
    expect(verdict({}, { trust: old })).toBe("expired");
    const young = store({ keys: relisted(KEYS.alice, { valid_from: NOW + 1 }) });
    expect(verdict({}, { trust: young })).toBe("not_yet_valid");
  });

  it("ends at its own time, with no slack", () => {
    expect(verdict({ expires: NOW + 1 })).toBe("good");
    expect(verdict({ expires: NOW })).toBe("approval_expired");
  });

  it("may begin a minute ahead of the host's clock, and no more", () => {
    const ahead = (seconds: number) => verdict({ not_before: NOW + seconds, expires: NOW + 600 });
    expect(ahead(CLOCK_SLACK_SECONDS)).toBe("good");
    expect(ahead(CLOCK_SLACK_SECONDS + 1)).toBe("approval_not_yet_valid");
  });

  it("lasts 15 minutes at most", () => {
    const lasting = (seconds: number) =>
      verdict({ not_before: NOW - 10, expires: NOW - 10 + seconds });
    expect(MAX_APPROVAL_SECONDS).toBe(900);
    expect(lasting(900)).toBe("good");
    expect(lasting(901)).toBe("approval_too_long");
  });

  it("holds until it or its key ends, whichever is first", () => {
    const trust = store({ keys: relisted(KEYS.alice, { valid_to: NOW + 5 }) });
    const checked = checkApproval(signApproval(approvalOf(), KEYS.alice), REQUEST, trust, NOW);
    expect(checked.ok && checked.value.until).toBe(NOW + 5);
  });
});

describe("the envelope of an approval", () => {
  const good = signApproval(approvalOf(), KEYS.alice) as {
    readonly payload: string;
    readonly payloadType: string;
    readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
  };
  const [signature] = good.signatures;
  if (signature === undefined) throw new Error("unsigned");
  const check = (envelope: unknown) => {
    const checked = checkApproval(envelope as JsonValue, REQUEST, TRUST, NOW);
    return checked.ok ? "good" : checked.error;
  };

  it("holds one signature: neither none nor two, of whomever", () => {
    expect(check({ ...good, signatures: [] })).toBe("malformed_envelope");
    const { signatures, ...unsigned } = good;
    expect(check(unsigned)).toBe("malformed_envelope");
    expect(check({ ...good, signatures: [signature, signature] })).toBe("signature_count");
    const both = signRaw(PAYLOAD_TYPES.approval, approvalOf(), KEYS.alice, KEYS.bob);
    expect(check(both)).toBe("signature_count");
  });

  it("is of the type for approvals: no signature of another kind passes for one", () => {
    for (const type of Object.values(PAYLOAD_TYPES)) {
      const verdict = check(signRaw(type, approvalOf(), KEYS.alice));
      expect(verdict).toBe(type === PAYLOAD_TYPES.approval ? "good" : "wrong_payload_type");
    }
  });

  it("is found out by its key id, which is only a hint", () => {
    const keyid = KEYS.bob.publicKey.id;
    expect(check({ ...good, signatures: [{ ...signature, keyid }] })).toBe("bad_signature");
    expect(check({ ...good, signatures: [{ ...signature, keyid: "" }] })).toBe("unknown_key");
  });

  it("may be in either alphabet of base64, and is the same approval then", () => {
    const url = (text: string) => Buffer.from(text, "base64").toString("base64url");
    const other = {
      ...good,
      payload: url(good.payload),
      signatures: [{ ...signature, sig: url(signature.sig) }],
    };
    const [left, right] = [good, other].map((envelope) =>
      checkApproval(envelope as unknown as JsonValue, REQUEST, TRUST, NOW),
    );
    expect(left?.ok && right?.ok && left.value.digest === right.value.digest).toBe(true);
  });

  it("holds the canonical bytes of a closed document, nothing that means the same (B086)", () => {
    const text = Buffer.from(good.payload, "base64").toString();
    const resign = (payload: string) => check(signText(payload));
    expect(resign(text)).toBe("good");
    expect(resign(`${text} `)).toBe("malformed_document");
    expect(resign(text.replace('"role":"approver"', '"role": "approver"'))).toBe(
      "malformed_document",
    );
    expect(resign(text.replace("{", '{"operation":"","operation":"",'))).toBe("malformed_document");
    expect(resign(text.replace('"run":"run-1"', '"run":"\\u0072un-1"'))).toBe("malformed_document");
    expect(
      check(signRaw(PAYLOAD_TYPES.approval, { ...approvalOf(), amount: "5" }, KEYS.alice)),
    ).toBe("malformed_document");
    const { display: _, ...less } = approvalOf();
    expect(check(signRaw(PAYLOAD_TYPES.approval, less, KEYS.alice))).toBe("malformed_document");
  });

  it("is refused with the second signature that Ed25519 without a bound on S would allow (B078)", () => {
    const sig = Buffer.from(signature.sig, "base64");
    const raised = Buffer.concat([sig.subarray(0, 32), plusOrder(sig.subarray(32))]);
    const envelope = { ...good, signatures: [{ ...signature, sig: raised.toString("base64") }] };
    expect(check(envelope)).toBe("bad_signature");
  });

  it("is not opened when it is larger than any approval", () => {
    const payload = Buffer.alloc(1_048_577, 0x20).toString("base64");
    expect(check({ ...good, payload })).toBe("document_too_large");
  });
});

function signText(text: string): JsonValue {
  return envelopeToJson(signEnvelope(PAYLOAD_TYPES.approval, Buffer.from(text), [KEYS.alice]));
}

/** S + L, little-endian. */
function plusOrder(scalar: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  let sum = order + BigInt(`0x${Buffer.from(scalar).reverse().toString("hex")}`);
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(sum & 255n);
    sum >>= 8n;
    return byte;
  });
}
