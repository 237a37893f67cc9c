import { describe, expect, it } from "vitest";
import { fromHex, toBase64Url } from "../../../src/base/bytes.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { PrivateKey } from "../../../src/base/sign.ts";
import { PAYLOAD_TYPES, ROLES, type TrustDocument } from "../../../src/model/trust.ts";
import { openTrust, signTrust } from "../../../src/trust/trust-store.ts";
import { KEYS } from "../../support/host.ts";
import {
  LISTED,
  listed,
  NOW,
  relisted,
  seeded,
  signRaw,
  store,
  textOf,
  trustOf,
} from "../../support/trust.ts";

/** The fault that a document is refused with, signed by `roots`. */
function fault(change: Partial<TrustDocument>, roots: readonly PrivateKey[] = [KEYS.root]) {
  const opened = openTrust(signTrust(trustOf(change), roots));
  return opened.ok ? "opened" : opened.error;
}

function next(change: Partial<TrustDocument>, roots: readonly PrivateKey[] = [KEYS.root]) {
  const opened = openTrust(signTrust(trustOf({ version: 2, ...change }), roots), store());
  return opened.ok ? "opened" : opened.error;
}

describe("a trust store", () => {
  it("lends each key to its one role, and to no other", () => {
    const trust = store();
    for (const entry of LISTED) {
      const id = [...Object.values(KEYS)].find((key) => textOf(key) === entry.public)?.publicKey.id;
      if (id === undefined) throw new Error("a listed key of nobody");
      for (const role of ROLES) {
        const usable = trust.usable(id, role, NOW);
        expect(usable.ok ? "usable" : usable.error).toBe(
          role === entry.role ? "usable" : "wrong_role",
        );
      }
    }
    const stranger = trust.usable(KEYS.stranger.publicKey.id, "approver", NOW);
    expect(stranger).toEqual({ ok: false, error: "unknown_key" });
    // A root key vouches for the store and is none of its keys.
    expect(trust.usable(KEYS.root.publicKey.id, "approver", NOW).ok).toBe(false);
  });

  it("lends a key from the first second of its validity to the last but one", () => {
    const trust = store({ keys: relisted(KEYS.alice, { valid_from: NOW, valid_to: NOW + 10 }) });
    const at = (now: number) => {
      const usable = trust.usable(KEYS.alice.publicKey.id, "approver", now);
      return usable.ok ? "usable" : usable.error;
    };
    expect([at(NOW - 1), at(NOW), at(NOW + 9), at(NOW + 10)]).toEqual([
      "not_yet_valid",
      "usable",
      "usable",
      "expired",
    ]);
  });

  it("lends a revoked key to nobody, whatever the date of the revocation", () => {
    for (const at of [NOW - 1000, NOW, NOW + 1000]) {
      const trust = store({ keys: relisted(KEYS.alice, { revoked: { at, reason: "lost" } }) });
      const usable = trust.usable(KEYS.alice.publicKey.id, "approver", NOW);
      expect(usable).toEqual({ ok: false, error: "revoked" });
      // It stays known, so that what it signed before can be judged.
      expect(trust.key(KEYS.alice.publicKey.id)?.entry.revoked?.at).toBe(at);
    }
  });

  it("is past its date from that second on", () => {
    const trust = store({ expires: NOW });
    expect([trust.expired(NOW - 1), trust.expired(NOW)]).toEqual([false, true]);
  });

  it("is refused when a key is listed twice, for whatever roles", () => {
    expect(fault({ keys: [...LISTED, listed(KEYS.alice, "alice", "approver")] })).toBe(
      "repeated_key",
    );
    expect(fault({ keys: [...LISTED, listed(KEYS.alice, "rita", "tool_reviewer")] })).toBe(
      "repeated_key",
    );
    const twice = { threshold: 1, keys: [textOf(KEYS.root), textOf(KEYS.root)] };
    expect(fault({ root: twice })).toBe("repeated_key");
  });

  it("is refused when a root key has another role as well", () => {
    expect(fault({ keys: [...LISTED, listed(KEYS.root, "root", "approver")] })).toBe(
      "repeated_key",
    );
  });

  it("is refused when one key is of small order, not canonical, or of another length", () => {
    const bad = [
      `01${"00".repeat(31)}`,
      `${"00".repeat(31)}80`,
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      `ed${"ff".repeat(30)}7f`,
      "ff".repeat(32),
    ];
    for (const hex of bad) {
      const entry = {
        ...listed(KEYS.stranger, "eve", "approver"),
        public: toBase64Url(bytes(hex)),
      };
      expect(fault({ keys: [...LISTED, entry] })).toBe("bad_key");
    }
    // 43 characters whose last one carries bits that belong to no byte: another spelling of a key is no key.
    const spelling = `${textOf(KEYS.stranger).slice(0, -1)}${otherTail(textOf(KEYS.stranger))}`;
    const entry = { ...listed(KEYS.stranger, "eve", "approver"), public: spelling };
    expect(fault({ keys: [...LISTED, entry] })).toBe("bad_key");
  });

  it("is refused without the signatures of its root's threshold, by distinct keys of the root", () => {
    const root = { threshold: 2, keys: [textOf(KEYS.root), textOf(seeded(30))] };
    expect(fault({ root }, [KEYS.root])).toBe("threshold_not_met");
    expect(fault({ root }, [KEYS.root, seeded(30)])).toBe("opened");
    expect(fault({ root }, [KEYS.root, KEYS.root])).toBe("signature_count");
    expect(fault({ root }, [KEYS.root, seeded(31)])).toBe("unknown_key");
    // A key that the store lists, but not as its root, vouches for nothing.
    expect(fault({}, [KEYS.alice])).toBe("unknown_key");
  });

  it("is refused with a key inside that nobody of the root vouched for (B077)", () => {
    const forged = signTrust(
      trustOf({ root: { threshold: 1, keys: [textOf(KEYS.stranger)] }, version: 2 }),
      [KEYS.stranger],
    );
    // By itself it vouches for itself, which is what a first file does; as a successor it is nothing.
    expect(openTrust(forged).ok).toBe(true);
    expect(openTrust(forged, store())).toEqual({ ok: false, error: "threshold_not_met" });
  });
});

describe("a later version", () => {
  it("counts one up, for the same host", () => {
    expect(next({})).toBe("opened");
    expect(next({ version: 1 })).toBe("wrong_version");
    expect(next({ version: 3 })).toBe("wrong_version");
    expect(next({ audience: "other.example/journal" })).toBe("wrong_audience");
  });

  it("needs the threshold of the old root and of the new one", () => {
    const root = { threshold: 1, keys: [textOf(seeded(30))] };
    expect(next({ root }, [seeded(30)])).toBe("threshold_not_met");
    expect(next({ root }, [KEYS.root])).toBe("threshold_not_met");
    expect(next({ root }, [KEYS.root, seeded(30)])).toBe("opened");
  });

  it("goes on from a root of two of three, in which any two of the old ones serve", () => {
    const three = [KEYS.root, seeded(30), seeded(31)] as const;
    const root = { threshold: 2, keys: three.map(textOf) };
    const first = openTrust(signTrust(trustOf({ root }), [three[0], three[1]]));
    if (!first.ok) throw new Error(first.error);
    const after = (roots: readonly PrivateKey[]) =>
      openTrust(signTrust(trustOf({ root, version: 2 }), roots), first.value).ok;
    expect([after([three[1], three[2]]), after([three[2]])]).toEqual([true, false]);
  });

  it("keeps every key, under its name and in its role", () => {
    expect(next({ keys: LISTED.slice(1) })).toBe("key_removed");
    expect(next({ keys: relisted(KEYS.alice, { name: "alicia" }) })).toBe("key_changed");
    expect(next({ keys: relisted(KEYS.alice, { role: "reconciler" }) })).toBe("key_changed");
    expect(next({ keys: relisted(KEYS.alice, { valid_to: NOW }) })).toBe("opened");
    expect(next({ keys: [...LISTED, listed(KEYS.stranger, "eve", "approver")] })).toBe("opened");
  });

  it("takes no revocation back, and dates none later", () => {
    const revoked = { at: NOW, reason: "lost" };
    const before = store({ keys: relisted(KEYS.alice, { revoked }) });
    const after = (keys: ReturnType<typeof relisted>) => {
      const opened = openTrust(signTrust(trustOf({ version: 2, keys }), [KEYS.root]), before);
      return opened.ok ? "opened" : opened.error;
    };
    expect(after([...LISTED])).toBe("key_changed");
    expect(after(relisted(KEYS.alice, { revoked: { ...revoked, at: NOW + 1 } }))).toBe(
      "key_changed",
    );
    expect(after(relisted(KEYS.alice, { revoked: { ...revoked, at: NOW - 9 } }))).toBe("opened");
  });

  it("gives no old root key another role", () => {
    const root = { threshold: 1, keys: [textOf(seeded(30))] };
    const keys = [...LISTED, listed(KEYS.root, "root", "approver")];
    expect(next({ root, keys }, [KEYS.root, seeded(30)])).toBe("repeated_key");
  });
});

describe("the envelope of a trust store", () => {
  it("is refused when a byte, a member or a signature of it is another", () => {
    const envelope = signTrust(trustOf(), [KEYS.root]) as { [member: string]: JsonValue };
    const changes: { readonly [what: string]: JsonValue } = {
      type: { ...envelope, payloadType: "application/vnd.rote.warrant.v1+json" },
      unsigned: { ...envelope, signatures: [] },
      member: { ...envelope, root: "mine" },
      payload: { ...envelope, payload: Buffer.from('{"type":"rote-trust/v1"}').toString("base64") },
      nothing: null,
    };
    for (const [what, changed] of Object.entries(changes)) {
      expect(openTrust(changed).ok, what).toBe(false);
    }
  });

  it("is refused when the document in it has a member that is not known, or lacks one", () => {
    const { issued: _, ...less } = trustOf();
    for (const document of [{ ...trustOf(), note: "believe me" }, less]) {
      const opened = openTrust(signRaw(PAYLOAD_TYPES.trust, document, KEYS.root));
      expect(opened).toEqual({ ok: false, error: "malformed_document" });
    }
  });
});

function bytes(hex: string): Uint8Array {
  const read = fromHex(hex);
  if (read === undefined) throw new Error("no hex");
  return read;
}

/** Another last character for the same bytes. */
function otherTail(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const at = alphabet.indexOf(text.slice(-1));
  return alphabet[(at & ~3) | ((at + 1) & 3)] ?? "";
}
