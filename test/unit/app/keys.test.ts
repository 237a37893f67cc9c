import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Point } from "@noble/ed25519";
import { afterAll, describe, expect, it } from "vitest";
import {
  enrolKey,
  generateKey,
  loadKey,
  newTrust,
  publicKeyText,
  readPublicKey,
  revokeKey,
} from "../../../src/app/keys.ts";
import { toBase64Url } from "../../../src/base/bytes.ts";
import { decryptKey, encryptKey, KEY_ROUNDS } from "../../../src/base/encrypted-key.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { privateKey, sign, verify } from "../../../src/base/sign.ts";
import { openTrust } from "../../../src/trust/trust-store.ts";
import { KEYS, ORIGIN } from "../../support/host.ts";
import { NOW, seeded, textOf } from "../../support/trust.ts";

const directory = mkdtempSync(path.join(tmpdir(), "rote-keys-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let count = 0;
const fresh = () => {
  count += 1;
  return path.join(directory, `key-${count}.pem`);
};

const PASSPHRASE = "correct horse battery";
/** Enough for a test; what is made by default is told by a test of its own. */
const few = { rounds: 1_000 };

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    const { code, data } = error as { code?: string; data?: { fault?: string } };
    return data?.fault === undefined ? String(code) : `${code}: ${data.fault}`;
  }
  return "not refused";
}

function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a key file", () => {
  it("holds a key that signs, for who knows the passphrase", () => {
    const file = fresh();
    const made = generateKey(file, PASSPHRASE, few);
    const loaded = loadKey(file, PASSPHRASE);
    const message = new TextEncoder().encode("hello");
    expect(verify(made.publicKey, message, sign(loaded, message))).toBe(true);
    expect(codeOf(() => loadKey(file, `${PASSPHRASE}.`))).toBe("bad_passphrase");
    expect(codeOf(() => loadKey(file, ""))).toBe("bad_passphrase");
  });

  it("is another one each time, key and encryption both", () => {
    const [one, two] = [fresh(), fresh()];
    const keys = [one, two].map((file) => publicKeyText(generateKey(file, PASSPHRASE, few)));
    expect(keys[0]).not.toBe(keys[1]);
    expect(readFileSync(one, "utf8")).not.toBe(readFileSync(two, "utf8"));
  });

  it("is its owner's alone from the first moment, whatever the mask, and is never written over", () => {
    const before = process.umask(0);
    try {
      const file = fresh();
      generateKey(file, PASSPHRASE, few);
      expect(lstatSync(file).mode & 0o777).toBe(0o600);
      const text = readFileSync(file, "utf8");
      expect(codeOf(() => generateKey(file, PASSPHRASE, few))).toBe("file_exists");
      expect(readFileSync(file, "utf8")).toBe(text);
    } finally {
      process.umask(before);
    }
  });

  it("is refused when others may use it, in whatever way", () => {
    const file = fresh();
    generateKey(file, PASSPHRASE, few);
    for (const mode of [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o777]) {
      chmodSync(file, mode);
      expect(
        codeOf(() => loadKey(file, PASSPHRASE)),
        mode.toString(8),
      ).toBe("bad_key_file");
    }
    for (const mode of [0o400, 0o600]) {
      chmodSync(file, mode);
      expect(
        codeOf(() => loadKey(file, PASSPHRASE)),
        mode.toString(8),
      ).toBe("not refused");
    }
  });

  it("is neither a link, nor a directory, nor anything else, nor missing", () => {
    const file = fresh();
    generateKey(file, PASSPHRASE, few);
    const link = fresh();
    symlinkSync(file, link);
    expect(codeOf(() => loadKey(link, PASSPHRASE))).toBe("bad_key_file");
    expect(codeOf(() => generateKey(link, PASSPHRASE, few))).toBe("file_exists");
    const dangling = fresh();
    symlinkSync(fresh(), dangling);
    expect(codeOf(() => generateKey(dangling, PASSPHRASE, few))).toBe("file_exists");
    const folder = fresh();
    mkdirSync(folder, { mode: 0o700 });
    expect(codeOf(() => loadKey(folder, PASSPHRASE))).toBe("bad_key_file");
    expect(codeOf(() => loadKey(fresh(), PASSPHRASE))).toBe("file_not_found");
    expect(codeOf(() => generateKey(path.join(fresh(), "x.pem"), PASSPHRASE, few))).toBe(
      "file_not_found",
    );
    const large = fresh();
    writeFileSync(large, "x".repeat(20_000), { mode: 0o600 });
    expect(codeOf(() => loadKey(large, PASSPHRASE))).toBe("bad_key_file");
  });

  it("is refused with a key in the open, of another kind, or with anything beside it", () => {
    const key = KEYS.stranger.key;
    const open = key.export({ format: "pem", type: "pkcs8" }) as string;
    const good = encrypted();
    const texts: readonly (readonly [string, string])[] = [
      [open, "bad_key_file"],
      [`${good}${open}`, "bad_key_file"],
      [`${open}${good}`, "bad_key_file"],
      [good + good, "bad_key_file"],
      ["", "bad_key_file"],
      ["hello", "bad_key_file"],
      [good.replace("BEGIN", "BEGUN"), "bad_key_file"],
      [good.replace(/[A-Z]/g, "A").replace(/-----[^-]+-----/g, (line) => line), "bad_key_file"],
    ];
    for (const [text, code] of texts) {
      const file = fresh();
      writeFileSync(file, text, { mode: 0o600 });
      expect(
        codeOf(() => loadKey(file, PASSPHRASE)),
        text.slice(0, 40),
      ).toBe(code);
    }
    const rsa = createRsa();
    const file = fresh();
    writeFileSync(file, rsa, { mode: 0o600 });
    expect(codeOf(() => loadKey(file, PASSPHRASE))).toBe("bad_key");
  });

  it("needs a passphrase that is not guessed at once", () => {
    for (const passphrase of ["", "short", "elevenchars"]) {
      const file = fresh();
      expect(codeOf(() => generateKey(file, passphrase, few))).toBe("bad_passphrase");
      expect(codeOf(() => loadKey(file, passphrase))).toBe("file_not_found");
    }
  });

  it("derives its secret by the rounds that it says, 600,000 by default", () => {
    expect(KEY_ROUNDS).toBe(600_000);
    const made = privateKey(new Uint8Array(32).fill(7));
    const secrets = { passphrase: PASSPHRASE, salt: new Uint8Array(16), iv: new Uint8Array(16) };
    expect(roundsIn(encryptKey(made, secrets))).toBe(600_000);
    for (const rounds of [1, 127, 128, 255, 256, 32_767, 32_768, 65_536]) {
      const pem = encryptKey(made, { ...secrets, rounds });
      expect(roundsIn(pem)).toBe(rounds);
      expect(decryptKey(pem, PASSPHRASE).publicKey.id).toBe(made.publicKey.id);
    }
  });

  it.skipIf(!hasOpenssl())(
    "is read and written by OpenSSL as well (absent where it is not installed)",
    () => {
      const file = fresh();
      const made = generateKey(file, PASSPHRASE, few);
      const described = execFileSync("openssl", ["asn1parse", "-in", file]).toString();
      for (const word of ["PBES2", "PBKDF2", "hmacWithSHA256", "aes-256-cbc"])
        expect(described).toContain(word);
      const pass = ["-passin", `pass:${PASSPHRASE}`];
      const spki = execFileSync("openssl", ["pkey", "-in", file, ...pass, "-pubout"]).toString();
      const der = createPublicKey(spki).export({ format: "der", type: "spki" });
      expect(toBase64Url(der.subarray(12))).toBe(publicKeyText(made));
      const theirs = fresh();
      const out = ["-aes-256-cbc", "-pass", `pass:${PASSPHRASE}`, "-out", theirs];
      execFileSync("openssl", ["genpkey", "-algorithm", "ed25519", ...out], { stdio: "ignore" });
      chmodSync(theirs, 0o600);
      expect(loadKey(theirs, PASSPHRASE).key.asymmetricKeyType).toBe("ed25519");
    },
  );
});

/** The values in DER that hold no others, in order: tag and content. */
function* primitives(bytes: Uint8Array): Generator<readonly [number, Uint8Array]> {
  for (let at = 0; at < bytes.byteLength; ) {
    const tag = bytes[at] ?? 0;
    const short = bytes[at + 1] ?? 0;
    const more = short < 0x80 ? 0 : short - 0x80;
    const long = Buffer.from(bytes.subarray(at + 2, at + 2 + more)).toString("hex");
    const length = more === 0 ? short : Number.parseInt(long, 16);
    const content = bytes.subarray(at + 2 + more, at + 2 + more + length);
    if ((tag & 0x20) !== 0) yield* primitives(content);
    else yield [tag, content];
    at += 2 + more + length;
  }
}

it("a key file is opened by WebCrypto alone, as a browser has it, which then signs", async () => {
  const file = fresh();
  const made = generateKey(file, PASSPHRASE, few);
  const base64 = readFileSync(file, "utf8").replace(/-----[^-]+-----|\s/gu, "");
  const values = [...primitives(Buffer.from(base64, "base64"))];
  // Salt, initial vector and what is encrypted are octets, in this order; the first number is the rounds.
  const [salt, iv, encrypted] = values.flatMap(([tag, content]) =>
    tag === 0x04 ? [Uint8Array.from(content)] : [],
  );
  const [, rounds] = values.find(([tag]) => tag === 0x02) ?? [];
  const { subtle } = globalThis.crypto;
  const text = new TextEncoder();
  const secret = await subtle.importKey("raw", text.encode(PASSPHRASE), "PBKDF2", false, [
    "deriveKey",
  ]);
  const derived = await subtle.deriveKey(
    {
      name: "PBKDF2",
      hash: "SHA-256",
      salt: salt ?? new Uint8Array(0),
      iterations: Number.parseInt(Buffer.from(rounds ?? []).toString("hex"), 16),
    },
    secret,
    { name: "AES-CBC", length: 256 },
    false,
    ["decrypt"],
  );
  const plain = await subtle.decrypt(
    { name: "AES-CBC", iv: iv ?? new Uint8Array(0) },
    derived,
    encrypted ?? new Uint8Array(0),
  );
  const key = await subtle.importKey("pkcs8", plain, "Ed25519", false, ["sign"]);
  const message = text.encode("hello");
  const signature = new Uint8Array(await subtle.sign("Ed25519", key, message));
  expect(verify(made.publicKey, message, signature)).toBe(true);
});

describe("the trust store of an owner", () => {
  const root = { threshold: 1, keys: [textOf(KEYS.root)] };
  const first = () =>
    newTrust({ audience: ORIGIN, root, issued: NOW, expires: NOW + 1000 }, [KEYS.root]);
  const entry = (key = KEYS.alice, name = "alice") => ({
    public: textOf(key),
    name,
    role: "approver" as const,
    valid_from: NOW,
    valid_to: NOW + 500,
  });
  const documentOf = (envelope: JsonValue) => {
    const opened = openTrust(envelope);
    if (!opened.ok) throw new Error(opened.error);
    return opened.value.document;
  };

  it("begins with its root alone, and goes on key by key, each version signed for the next", () => {
    const one = first();
    expect(documentOf(one)).toMatchObject({ version: 1, keys: [], audience: ORIGIN });
    const two = enrolKey(one, entry(), { issued: NOW + 1 }, [KEYS.root]);
    const three = enrolKey(two, entry(KEYS.bob, "bob"), { issued: NOW + 2, expires: NOW + 5 }, [
      KEYS.root,
    ]);
    expect(documentOf(three).keys.map(({ name }) => name)).toEqual(["alice", "bob"]);
    expect(documentOf(three)).toMatchObject({ version: 3, issued: NOW + 2, expires: NOW + 5 });
    const before = openTrust(one);
    if (!before.ok) throw new Error(before.error);
    expect(openTrust(two, before.value).ok).toBe(true);
    expect(openTrust(three, before.value).ok).toBe(false);
  });

  it("revokes a key and keeps it listed", () => {
    const two = enrolKey(first(), entry(), { issued: NOW }, [KEYS.root]);
    const revoked = { at: NOW + 3, reason: "lost" };
    const three = revokeKey(two, textOf(KEYS.alice), revoked, { issued: NOW + 3 }, [KEYS.root]);
    expect(documentOf(three).keys).toEqual([{ ...entry(), revoked }]);
    const gone = () => revokeKey(two, textOf(KEYS.bob), revoked, { issued: NOW }, [KEYS.root]);
    expect(codeOf(gone)).toBe("unknown_key");
  });

  it("enrols no key that is not a point of the prime-order group, and none twice", () => {
    const enrol = (text: string) => () =>
      enrolKey(first(), { ...entry(), public: text }, { issued: NOW }, [KEYS.root]);
    const hex = (text: string) => toBase64Url(Buffer.from(text, "hex"));
    const bad = [
      hex(`01${"00".repeat(31)}`),
      hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
      // y = 2 is no point of the curve.
      hex(`02${"00".repeat(31)}`),
      // A point of mixed order: its form is fine, and a full check alone tells.
      hex(mixedOrder()),
      hex("ff".repeat(32)),
      hex("00".repeat(31)),
      "",
      "not a key",
      `${textOf(KEYS.alice)}=`,
    ];
    for (const text of bad) expect(codeOf(enrol(text)), text).toBe("bad_key");
    expect(codeOf(() => readPublicKey(hex(mixedOrder())))).toBe("bad_key");
    expect(codeOf(enrol(textOf(KEYS.root)))).toBe("trust_refused: repeated_key");
    const two = enrolKey(first(), entry(), { issued: NOW }, [KEYS.root]);
    const again = () => enrolKey(two, entry(KEYS.alice, "al"), { issued: NOW }, [KEYS.root]);
    expect(codeOf(again)).toBe("trust_refused: repeated_key");
  });

  it("gives nothing away that no host would take", () => {
    const enrol =
      (change: object, roots = [KEYS.root]) =>
      () =>
        enrolKey(first(), { ...entry(), ...change }, { issued: NOW }, roots);
    expect(codeOf(enrol({}, []))).toBe("trust_refused: malformed_envelope");
    expect(codeOf(enrol({}, [KEYS.stranger]))).toBe("trust_refused: unknown_key");
    expect(codeOf(enrol({ role: "admin" }))).toBe("trust_refused: malformed_document");
    expect(codeOf(enrol({ name: "Alice Smith" }))).toBe("trust_refused: malformed_document");
    expect(codeOf(() => enrolKey({ a: 1 }, entry(), { issued: NOW }, [KEYS.root]))).toBe(
      "trust_refused: malformed_envelope",
    );
    const two = { threshold: 2, keys: [textOf(KEYS.root), textOf(seeded(30))] };
    const made = { audience: ORIGIN, root: two, issued: NOW, expires: NOW + 1 };
    expect(codeOf(() => newTrust(made, [KEYS.root]))).toBe("trust_refused: threshold_not_met");
    expect(codeOf(() => newTrust(made, [KEYS.root, seeded(30)]))).toBe("not refused");
  });
});

function encrypted(): string {
  const secrets = {
    passphrase: PASSPHRASE,
    salt: new Uint8Array(16),
    iv: new Uint8Array(16),
    rounds: 1_000,
  };
  return encryptKey(KEYS.stranger, secrets);
}

function createRsa(): string {
  const { privateKey: key } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  return key.export({
    format: "pem",
    type: "pkcs8",
    cipher: "aes-256-cbc",
    passphrase: PASSPHRASE,
  }) as string;
}

/** The count behind the salt, as the key's own text says it. */
function roundsIn(pem: string): number {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64");
  const salt = der.indexOf(Buffer.from("0410", "hex"));
  const at = salt + 18;
  return Number(`0x${der.subarray(at + 2, at + 2 + (der[at + 1] ?? 0)).toString("hex")}`);
}

/** A point of the group plus one of order eight. */
function mixedOrder(): string {
  const small = Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
  return Point.BASE.add(small).toHex();
}
