import { createPublicKey, verify as verifyWith } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toBase64, toBase64Url, toHex } from "../../../src/base/bytes.ts";
import {
  envelopeToJson,
  openEnvelope,
  openEnvelopeByAll,
  preAuthEncoding,
  readEnvelope,
  signEnvelope,
} from "../../../src/base/dsse.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { privateKey } from "../../../src/base/sign.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

describe.skipIf(!sharedPresent("vectors/dsse"))(
  "published DSSE values (absent: shared vectors)",
  () => {
    const vectors = () =>
      JSON.parse(readFileSync(sharedPath("vectors/dsse/dsse.json"), "utf8")) as {
        pae: { name: string; payload_type: string; payload_hex: string; pae_hex: string }[];
        signed: {
          public_key: { x_hex: string; y_hex: string };
          envelope: { payload: string; payloadType: string; signatures: { sig: string }[] };
        }[];
      };

    it("encodes all 6 before signing as published", () => {
      const { pae } = vectors();
      expect(pae).toHaveLength(6);
      for (const { name, payload_type, payload_hex, pae_hex } of pae) {
        const encoded = preAuthEncoding(payload_type, Buffer.from(payload_hex, "hex"));
        expect([name, toHex(encoded)]).toEqual([name, pae_hex]);
      }
    });

    it("encodes what the published signature covers, and nothing else under another type", () => {
      const [signed] = vectors().signed;
      if (signed === undefined) throw new Error("no signed example");
      const point = (text: string) => Buffer.from(text, "hex").toString("base64url");
      const key = createPublicKey({
        format: "jwk",
        key: {
          kty: "EC",
          crv: "P-256",
          x: point(signed.public_key.x_hex),
          y: point(signed.public_key.y_hex),
        },
      });
      const payload = Buffer.from(signed.envelope.payload, "base64");
      const signature = Buffer.from(signed.envelope.signatures[0]?.sig ?? "", "base64");
      const accepts = (type: string) =>
        verifyWith(
          "sha256",
          preAuthEncoding(type, payload),
          { key, dsaEncoding: "ieee-p1363" },
          signature,
        );
      expect(accepts(signed.envelope.payloadType)).toBe(true);
      expect(accepts("http://example.com/Other")).toBe(false);
    });
  },
);

describe("an envelope", () => {
  const TYPE = "application/vnd.example.v1+json";
  const alice = privateKey(new Uint8Array(32).fill(1));
  const bob = privateKey(new Uint8Array(32).fill(2));
  const find = (id: string) =>
    [alice.publicKey, bob.publicKey].find((candidate) => candidate.id === id);
  const payload = Buffer.from('{"amount":"1200"}');
  const envelope = signEnvelope(TYPE, payload, [alice]);
  const json = envelopeToJson(envelope) as { readonly [key: string]: JsonValue };
  const signature = (json["signatures"] as readonly { keyid: string; sig: string }[])[0];

  function outcome(value: JsonValue, type = TYPE): string {
    const read = readEnvelope(value);
    if (!read.ok) return read.error;
    const opened = openEnvelope(read.value, type, find);
    return opened.ok ? `opened ${Buffer.from(opened.value.payload).toString()}` : opened.error;
  }

  it("opens to exactly the signed bytes", () => {
    expect(outcome(json)).toBe('opened {"amount":"1200"}');
  });

  it("opens when its base64 is in the URL-safe alphabet, since the bytes are the same", () => {
    const bytes = Buffer.from([0xfb, 0xff, 0xfe, 0x3e]);
    const signed = signEnvelope(TYPE, bytes, [alice]);
    const standard = envelopeToJson(signed) as { readonly [key: string]: JsonValue };
    const read = readEnvelope({ ...standard, payload: toBase64Url(bytes) });
    expect(toBase64(bytes)).not.toBe(toBase64Url(bytes));
    expect(read.ok && openEnvelope(read.value, TYPE, find).ok).toBe(true);
  });

  it.each<[string, JsonValue, string]>([
    ["another payload type", { ...json, payloadType: "application/other" }, "wrong_payload_type"],
    [
      "two signatures by one key",
      { ...json, signatures: [signature, signature] as never },
      "signature_count",
    ],
    ["no signature", { ...json, signatures: [] }, "malformed_envelope"],
    [
      "the key id of another key",
      { ...json, signatures: [{ ...signature, keyid: bob.publicKey.id }] as never },
      "bad_signature",
    ],
    [
      "a key id that nobody knows",
      { ...json, signatures: [{ ...signature, keyid: "sha256:00" }] as never },
      "unknown_key",
    ],
    ["an unsigned member beside the signature", { ...json, approved: true }, "malformed_envelope"],
    [
      "a payload whose bytes are reordered",
      { ...json, payload: toBase64(Buffer.from('{"amount":"2100"}')) },
      "bad_signature",
    ],
    ["base64 with stray bits", { ...json, payload: "eyJ=" }, "malformed_envelope"],
    ["base64 with white space", { ...json, payload: `${json["payload"]}\n` }, "malformed_envelope"],
    [
      "17 signatures",
      { ...json, signatures: Array.from({ length: 17 }, () => signature) as never },
      "malformed_envelope",
    ],
    ["not an object", [json], "malformed_envelope"],
    ["null", null, "malformed_envelope"],
  ])("is refused with %s", (_, value, expected) => {
    expect(outcome(value)).toBe(expected);
  });

  it("is refused by a reader that expects another type", () => {
    expect(outcome(json, "application/other")).toBe("wrong_payload_type");
  });

  it("by several signers counts distinct keys, and each must verify", () => {
    const both = signEnvelope(TYPE, payload, [alice, bob]);
    const opened = openEnvelopeByAll(both, TYPE, find);
    expect(opened.ok && opened.value.keys.map((key) => key.id)).toEqual([
      alice.publicKey.id,
      bob.publicKey.id,
    ]);
    const twice = signEnvelope(TYPE, payload, [alice, alice]);
    expect(openEnvelopeByAll(twice, TYPE, find)).toEqual({ ok: false, error: "signature_count" });
  });
});
