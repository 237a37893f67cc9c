import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { PAYLOAD_TYPES, reconciliationSchema, type ToolReview } from "../../../src/model/trust.ts";
import { openByRole } from "../../../src/trust/role-document.ts";
import {
  checkToolReview,
  definitionDigest,
  signToolReview,
} from "../../../src/trust/tool-review.ts";
import { KEYS, ORIGIN } from "../../support/host.ts";
import { NOW, reconciliationOf, relisted, reviewOf, signRaw, store } from "../../support/trust.ts";

const TRUST = store();

function verdict(
  change: Partial<ToolReview>,
  { now = NOW, key = KEYS.reviewer, trust = TRUST } = {},
) {
  const checked = checkToolReview(signToolReview(reviewOf(change), key), ORIGIN, trust, now);
  return checked.ok ? "good" : checked.error;
}

describe("a review of a tool", () => {
  it("is signed by the reviewer that it names, for this host, and is in force", () => {
    expect(verdict({})).toBe("good");
    expect(verdict({ reviewer: "alice" })).toBe("wrong_reviewer");
    expect(verdict({ reviewer: "alice" }, { key: KEYS.alice })).toBe("wrong_role");
    expect(verdict({}, { key: KEYS.stranger })).toBe("unknown_key");
    expect(verdict({ audience: "other.example/journal" })).toBe("wrong_audience");
    expect(verdict({ not_before: NOW + 1 })).toBe("review_not_yet_valid");
    expect(verdict({ expires: NOW })).toBe("review_expired");
    const revoked = { at: NOW, reason: "left" };
    const trust = store({ keys: relisted(KEYS.reviewer, { revoked }) });
    expect(verdict({}, { trust })).toBe("revoked");
  });

  it("says which kind of tool it is in one of two words, and nothing besides what it may say", () => {
    for (const change of [
      { category: "READ" },
      { category: "none" },
      { amount: {} },
      { hint: true },
    ]) {
      const envelope = signRaw(
        PAYLOAD_TYPES.toolReview,
        { ...reviewOf(), ...change },
        KEYS.reviewer,
      );
      const checked = checkToolReview(envelope, ORIGIN, TRUST, NOW);
      expect(checked).toEqual({ ok: false, error: "malformed_document" });
    }
  });

  it("is of one definition: every word, schema and hint of it is in the digest (B031)", () => {
    const definition = {
      server: "function",
      name: "bank.pay",
      title: null,
      description: "pays",
      input_schema: { type: "object", properties: { amount: { type: "string" } } },
      output_schema: {},
      annotations: { readOnlyHint: false },
      implementation: null,
    };
    const changes: readonly object[] = [
      { server: "other" },
      { name: "bank.pay2" },
      { title: "Pay" },
      { description: "pays." },
      { input_schema: { ...definition.input_schema, additionalProperties: true } },
      { output_schema: { type: "string" } },
      { annotations: { readOnlyHint: true } },
      { implementation: "sha256:1" },
      { more: null },
    ];
    const all = [{}, ...changes].map((change) =>
      definitionDigest({ ...definition, ...change } as JsonValue),
    );
    expect(new Set(all).size).toBe(all.length);
  });
});

describe("a reconciliation", () => {
  const open = (document: unknown, key = KEYS.reconciler) => {
    const opened = openByRole(
      signRaw(PAYLOAD_TYPES.reconciliation, document, key),
      PAYLOAD_TYPES.reconciliation,
      reconciliationSchema,
      TRUST,
      "reconciler",
      NOW,
    );
    return opened.ok ? "good" : opened.error;
  };

  it("is signed by a reconciler, with all that it has to say (B081)", () => {
    expect(open(reconciliationOf())).toBe("good");
    expect(open(reconciliationOf(), KEYS.alice)).toBe("wrong_role");
    expect(open(reconciliationOf(), KEYS.stranger)).toBe("unknown_key");
    for (const member of Object.keys(reconciliationOf())) {
      const { [member as "run"]: _, ...less } = reconciliationOf();
      expect(open(less), member).toBe("malformed_document");
    }
    expect(open({ ...reconciliationOf(), found: "maybe" })).toBe("malformed_document");
    expect(open({ ...reconciliationOf(), evidence: "" })).toBe("malformed_document");
    expect(open({ ...reconciliationOf(), retry: true })).toBe("malformed_document");
  });
});
