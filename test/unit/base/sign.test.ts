import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import * as noble from "@noble/ed25519";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../src/base/bytes.ts";
import { enrolPublicKey } from "../../../src/base/enrol.ts";
import { privateKey, privateKeyOf, publicKey, sign, verify } from "../../../src/base/sign.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

function hex(text: string): Uint8Array {
  const bytes = fromHex(text);
  if (bytes === undefined) throw new Error(`bad hex in a test: ${text}`);
  return bytes;
}

function readVectors(path: string): unknown {
  return JSON.parse(readFileSync(sharedPath(path), "utf8"));
}

/** What a host does: the key must be enrolled before any signature by it is looked at. */
function acceptsEndToEnd(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(enrolPublicKey(key), message, signature);
  } catch {
    return false;
  }
}

describe.skipIf(!sharedPresent("vectors/ed25519-wycheproof"))(
  "Wycheproof Ed25519 (absent: shared vectors)",
  () => {
    it("agrees with all 151 verdicts", () => {
      const { testGroups } = readVectors("vectors/ed25519-wycheproof/ed25519_test.json") as {
        testGroups: {
          publicKey: { pk: string };
          tests: { tcId: number; msg: string; sig: string; result: string }[];
        }[];
      };
      let count = 0;
      for (const { publicKey: key, tests } of testGroups) {
        for (const { tcId, msg, sig, result } of tests) {
          count++;
          const accepted = acceptsEndToEnd(hex(key.pk), hex(msg), hex(sig));
          expect([tcId, accepted]).toEqual([tcId, result === "valid"]);
        }
      }
      expect(count).toBe(151);
    });
  },
);

describe.skipIf(!sharedPresent("vectors/ed25519-rfc8032"))(
  "RFC 8032 known answers (absent: shared vectors)",
  () => {
    it("derives, signs and verifies 4 published sets", () => {
      const sets = readVectors("vectors/ed25519-rfc8032/rfc8032-ed25519.json") as {
        priv: string;
        pub: string;
        msg: string;
        sig: string;
      }[];
      expect(sets).toHaveLength(4);
      for (const { priv, pub, msg, sig } of sets) {
        const key = privateKey(hex(priv));
        expect(toHex(key.publicKey.raw)).toBe(pub);
        expect(toHex(sign(key, hex(msg)))).toBe(sig);
        expect(verify(publicKey(hex(pub)), hex(msg), hex(sig))).toBe(true);
      }
    });

    it("derives, signs and verifies 256 sets of message lengths 0 to 255", () => {
      const lines = readFileSync(
        sharedPath("vectors/ed25519-rfc8032/sign-input-256.txt"),
        "utf8",
      ).trim();
      const sets = lines.split("\n").map((line) => line.split(":"));
      expect(sets).toHaveLength(256);
      for (const [secret = "", pub = "", msg = "", signed = ""] of sets) {
        const key = privateKey(hex(secret.slice(0, 64)));
        expect(toHex(key.publicKey.raw)).toBe(pub);
        expect(toHex(sign(key, hex(msg)))).toBe(signed.slice(0, 128));
        expect(acceptsEndToEnd(hex(pub), hex(msg), hex(signed.slice(0, 128)))).toBe(true);
      }
    });
  },
);

describe.skipIf(!sharedPresent("vectors/ed25519-zip215"))(
  "ZIP 215 combinations of small-order points (absent: shared vectors)",
  () => {
    it("refuses all 196", () => {
      const cases = readVectors("vectors/ed25519-zip215/zip215.json") as {
        vk_bytes: string;
        sig_bytes: string;
      }[];
      expect(cases).toHaveLength(196);
      for (const { vk_bytes, sig_bytes } of cases) {
        expect(acceptsEndToEnd(hex(vk_bytes), Buffer.from("Zcash"), hex(sig_bytes))).toBe(false);
      }
    });
  },
);

describe.skipIf(!sharedPresent("vectors/ed25519-cctv"))(
  "CCTV point edge cases (absent: shared vectors)",
  () => {
    it("accepts only the one case without any low-order or non-canonical part, of 914", () => {
      const cases = readVectors("vectors/ed25519-cctv/ed25519vectors.json") as {
        number: number;
        key: string;
        sig: string;
        msg: string;
        flags: string[] | null;
      }[];
      expect(cases).toHaveLength(914);
      const accepted = cases.filter(({ key, sig, msg }) =>
        acceptsEndToEnd(hex(key), Buffer.from(msg), hex(sig)),
      );
      expect(accepted.map(({ flags }) => flags ?? [])).toEqual([[]]);
    });
  },
);

describe.skipIf(!sharedPresent("vectors/ed25519-speccheck"))(
  "speccheck cases (absent: shared vectors)",
  () => {
    it("refuses all 12: each has a key or an R that an honest signer never makes", () => {
      const cases = readVectors("vectors/ed25519-speccheck/cases.json") as {
        message: string;
        pub_key: string;
        signature: string;
      }[];
      expect(cases).toHaveLength(12);
      const verdicts = cases.map(({ message, pub_key, signature }) =>
        acceptsEndToEnd(hex(pub_key), hex(message), hex(signature)),
      );
      expect(verdicts).toEqual(Array.from({ length: 12 }, () => false));
    });
  },
);

describe("public keys", () => {
  const SMALL_ORDER = [
    `01${"00".repeat(31)}`,
    `01${"00".repeat(30)}80`,
    `ec${"ff".repeat(30)}7f`,
    `ec${"ff".repeat(31)}`,
    "00".repeat(32),
    `${"00".repeat(31)}80`,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    `ed${"ff".repeat(30)}7f`,
    `ed${"ff".repeat(31)}`,
    `ee${"ff".repeat(30)}7f`,
    `ee${"ff".repeat(31)}`,
  ];

  it.each(SMALL_ORDER)("refuses the low-order encoding %s on loading and at enrolment", (text) => {
    expect(() => publicKey(hex(text))).toThrow(expect.objectContaining({ code: "bad_key" }));
    expect(() => enrolPublicKey(hex(text))).toThrow(expect.objectContaining({ code: "bad_key" }));
  });

  it("refuses 31 and 33 bytes, and y at or above the field prime", () => {
    for (const text of ["11".repeat(31), "11".repeat(33), `f0${"ff".repeat(30)}7f`]) {
      expect(() => publicKey(hex(text))).toThrow(expect.objectContaining({ code: "bad_key" }));
    }
  });

  it("refuses at enrolment bytes that are no point, which the platform would import", () => {
    const raw = hex(`02${"00".repeat(31)}`);
    expect(toHex(publicKey(raw).raw)).toBe(toHex(raw));
    expect(() => enrolPublicKey(raw)).toThrow(/not a point/);
  });

  it("refuses at enrolment a point of mixed order", () => {
    const torsion = noble.Point.fromBytes(hex(SMALL_ORDER[6] ?? ""), false);
    const mixed = noble.Point.BASE.add(torsion).toBytes();
    expect(() => enrolPublicKey(mixed)).toThrow(/prime-order/);
  });

  it.each(["ec", "rsa", "ed448", "x25519"] as const)("refuses a private key of type %s", (type) => {
    const { privateKey: key } =
      type === "ec"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" })
        : type === "rsa"
          ? generateKeyPairSync("rsa", { modulusLength: 2048 })
          : generateKeyPairSync(type as "ed448");
    expect(() => privateKeyOf(key)).toThrow(expect.objectContaining({ code: "bad_key" }));
  });

  it("has as id the hash that openssl prints for its DER", () => {
    const key = privateKeyOf(
      createPrivateKey({
        key: Buffer.concat([
          Buffer.from("302e020100300506032b657004220420", "hex"),
          Buffer.alloc(32, 7),
        ]),
        format: "der",
        type: "pkcs8",
      }),
    );
    expect(key.publicKey.id).toBe(
      "sha256:324be2dea8bc44461b0233e51fa48902ed6b1cc671e7739af2551e0bfe68f54e",
    );
  });
});

describe("verify", () => {
  const key = privateKey(new Uint8Array(32).fill(3));
  const message = Buffer.from("pay 1200 to account 7");
  const signature = sign(key, message);

  it("is false when any single bit of signature or message is changed", () => {
    expect(verify(key.publicKey, message, signature)).toBe(true);
    for (let bit = 0; bit < signature.byteLength * 8; bit++) {
      expect(verify(key.publicKey, message, flip(signature, bit))).toBe(false);
    }
    for (let bit = 0; bit < message.byteLength * 8; bit++) {
      expect(verify(key.publicKey, flip(message, bit), signature)).toBe(false);
    }
  });

  it("is false, not an exception, for signatures of every wrong length", () => {
    for (let length = 0; length < 130; length++) {
      if (length === 64) continue;
      expect(verify(key.publicKey, message, new Uint8Array(length))).toBe(false);
    }
  });

  it("agrees with an independent implementation in both directions", async () => {
    for (let n = 0; n < 20; n++) {
      const seed = new Uint8Array(32).fill(n + 1);
      const text = Buffer.from(`message ${n}`);
      const ours = privateKey(seed);
      expect(toHex(ours.publicKey.raw)).toBe(toHex(noble.getPublicKey(seed)));
      expect(toHex(sign(ours, text))).toBe(toHex(noble.sign(text, seed)));
      expect(noble.verify(sign(ours, text), text, ours.publicKey.raw, { zip215: false })).toBe(
        true,
      );
    }
  });
});

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
