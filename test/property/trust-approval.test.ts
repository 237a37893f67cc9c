import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalText } from "../../src/base/canonical.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { hasLoneSurrogate } from "../../src/base/text.ts";
import { type Approval, PAYLOAD_TYPES } from "../../src/model/trust.ts";
import { checkApproval, signApproval } from "../../src/trust/approval.ts";
import { checkToolReview, signToolReview } from "../../src/trust/tool-review.ts";
import { checkWarrant, signWarrant } from "../../src/trust/warrant.ts";
import { KEYS, ORIGIN } from "../support/host.ts";
import {
  approvalOf,
  NOW,
  REQUEST,
  reviewOf,
  signRaw,
  someDigest,
  someNonce,
  store,
  warrantOf,
} from "../support/trust.ts";

const TRUST = store();

const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => JSON.stringify(value) !== undefined);

/** Another value for one member of a document, or a member that it does not have, or one member less. */
function altered(document: object) {
  const members = document as { readonly [member: string]: JsonValue };
  const names = Object.keys(members);
  const other = fc
    .tuple(fc.constantFrom(...names), json)
    .filter(([name, value]) => canonicalText(members[name] ?? null) !== canonicalText(plain(value)))
    .map(([name, value]) => ({ ...members, [name]: plain(value) }));
  const more = fc
    .tuple(fc.stringMatching(/^[a-z]{1,8}$/), json)
    .filter(([name]) => !names.includes(name))
    .map(([name, value]) => ({ ...members, [name]: plain(value) }));
  const less = fc.constantFrom(...names).map((name) => {
    const { [name]: _, ...rest } = members;
    return rest;
  });
  return fc.oneof(other, more, less);
}

function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

/** Puts other bytes under a signature that was made for the first ones. */
function forge(envelope: JsonValue, document: unknown): JsonValue {
  const payload = Buffer.from(canonicalText(document as JsonValue)).toString("base64");
  return { ...(envelope as { readonly [member: string]: JsonValue }), payload };
}

it("any member of a signed approval, warrant or review that is changed, added or left out breaks it (B076)", () => {
  const documents = [
    {
      document: approvalOf(),
      signed: signApproval(approvalOf(), KEYS.alice),
      ok: (envelope: JsonValue) => checkApproval(envelope, REQUEST, TRUST, NOW).ok,
    },
    {
      document: warrantOf(),
      signed: signWarrant(warrantOf(), KEYS.issuer),
      ok: (envelope: JsonValue) => checkWarrant([envelope], ORIGIN, TRUST, NOW).ok,
    },
    {
      document: reviewOf(),
      signed: signToolReview(reviewOf(), KEYS.reviewer),
      ok: (envelope: JsonValue) => checkToolReview(envelope, ORIGIN, TRUST, NOW).ok,
    },
  ];
  for (const { document, signed, ok } of documents) {
    expect(ok(signed)).toBe(true);
    fc.assert(
      fc.property(altered(document), (other) => {
        expect(ok(forge(signed, other))).toBe(false);
      }),
      { numRuns: 150 },
    );
  }
});

/** For each member what another valid value of it would be: signed properly, by who may sign. */
const OTHERS: { readonly [member in keyof Approval]-?: fc.Arbitrary<Approval[member]> } = {
  type: fc.constant("rote-approval/v1"),
  decision: fc.constant("reject"),
  operations: fc
    .array(fc.stringMatching(/^[0-9a-f]$/).map(someDigest), { minLength: 1, maxLength: 4 })
    .map((list): string[] => list),
  run: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/),
  audience: fc.string({ minLength: 1, maxLength: 30 }).filter((text) => !hasLoneSurrogate(text)),
  nonce: fc.integer({ min: 2, max: 255 }).map(someNonce),
  display: fc.stringMatching(/^[0-9a-f]$/).map(someDigest),
  approver: fc.constantFrom("bob", "rita", "eve"),
  role: fc.constant("approver"),
  not_before: fc.integer({ min: NOW + 61, max: NOW + 500 }),
  expires: fc.integer({ min: 0, max: NOW }),
};

it("an approval that its approver signed with any other value does not answer the request", () => {
  const good = approvalOf();
  for (const [member, values] of Object.entries(OTHERS)) {
    // One value only, or, for the decision, a value that answers otherwise.
    if (["type", "role", "decision"].includes(member)) continue;
    fc.assert(
      fc.property(values as fc.Arbitrary<JsonValue>, (value) => {
        fc.pre(canonicalText(value) !== canonicalText(good[member as keyof Approval]));
        const envelope = signRaw(PAYLOAD_TYPES.approval, { ...good, [member]: value }, KEYS.alice);
        expect(checkApproval(envelope, REQUEST, TRUST, NOW).ok).toBe(false);
      }),
      { numRuns: 25 },
    );
  }
});

it("no envelope that is not signed by an approver is an approval, whatever is in it", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(checkApproval(plain(value), REQUEST, TRUST, NOW).ok).toBe(false);
    }),
    { numRuns: 300 },
  );
});
