import { describe, expect, it } from "vitest";
import { envelopeAhead, verifyAhead } from "../../../src/audit/ahead.ts";
import {
  envelopeToJson,
  openEnvelope,
  readEnvelope,
  signEnvelope,
} from "../../../src/base/dsse.ts";
import { sign, verifyAside } from "../../../src/base/sign.ts";
import { KEYS } from "../../support/host.ts";

const { alice, bob } = KEYS;
const message = Buffer.from("pay 50");
const signature = sign(alice, message);
const zeros = new Uint8Array(64);

describe("a verdict that was asked for ahead", () => {
  it("is that of the signature", async () => {
    const good = await verifyAhead(alice.publicKey, message, signature);
    expect(good(alice.publicKey, Buffer.from(message), Buffer.from(signature))).toBe(true);
    const bad = await verifyAhead(alice.publicKey, message, sign(bob, message));
    expect(bad(alice.publicKey, message, sign(bob, message))).toBe(false);
  });

  it("is given for nothing but that key, message and signature", async () => {
    const good = await verifyAhead(alice.publicKey, message, signature);
    expect(good(bob.publicKey, message, signature)).toBe(false);
    expect(good(alice.publicKey, Buffer.from("pay 51"), signature)).toBe(false);
    expect(good(alice.publicKey, message, zeros)).toBe(false);
    const bad = await verifyAhead(alice.publicKey, message, zeros);
    expect(bad(alice.publicKey, message, zeros)).toBe(false);
    expect(bad(alice.publicKey, message, signature)).toBe(true);
  });

  it("is no for whatever is no signature, as it is without asking ahead", async () => {
    for (const each of [new Uint8Array(0), new Uint8Array(63), zeros]) {
      expect(await verifyAside(alice.publicKey, message, each)).toBe(false);
    }
    expect(await verifyAside(alice.publicKey, message, signature)).toBe(true);
  });

  it("opens an envelope that it is of, and no other", async () => {
    const find = (id: string) => (id === alice.publicKey.id ? alice.publicKey : undefined);
    const open = async (about: string, given: string) => {
      const ahead = envelopeAhead(
        envelopeToJson(signEnvelope("t", Buffer.from(about), [alice])),
        find,
      );
      const honest = signEnvelope("t", Buffer.from(about), [alice]);
      const read = readEnvelope(envelopeToJson({ ...honest, payload: Buffer.from(given) }));
      return read.ok && openEnvelope(read.value, "t", find, await ahead).ok;
    };
    expect(await open("one", "one")).toBe(true);
    expect(await open("one", "two")).toBe(false);
  });

  it("is not asked for where there is no envelope, or none by a known key", () => {
    const signed = envelopeToJson(signEnvelope("t", message, [bob]));
    expect(envelopeAhead(signed, () => undefined)).toBeUndefined();
    expect(envelopeAhead({ payload: 1 }, () => bob.publicKey)).toBeUndefined();
  });
});
