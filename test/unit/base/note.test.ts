import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toBase64 } from "../../../src/base/bytes.ts";
import { leafHash } from "../../../src/base/merkle.ts";
import {
  formatNoteKey,
  formatTreeHead,
  openNote,
  parseNoteKey,
  parseTreeHead,
  signNote,
} from "../../../src/base/note.ts";
import { privateKey } from "../../../src/base/sign.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(sharedPath(`vectors/signed-note/${name}`), "utf8"));
}

describe.skipIf(!sharedPresent("vectors/signed-note"))(
  "published signed notes (absent: shared vectors)",
  () => {
    const vectors = () =>
      readVectors("notes.json") as {
        keys: { [name: string]: string };
        bad_vkeys: string[];
        cases: {
          name: string;
          note_b64: string;
          verifiers: string[];
          expect: { ok: boolean; verified?: string[]; text?: string; strict_note?: string };
        }[];
      };

    it("gives the stated verdict on all 16, refusing repeated lines where both readings are allowed", () => {
      const { cases } = vectors();
      expect(cases).toHaveLength(16);
      for (const { name, note_b64, verifiers, expect: expected } of cases) {
        const opened = openNote(Buffer.from(note_b64, "base64"), verifiers.map(parseNoteKey));
        if (expected.ok && expected.strict_note === undefined) {
          expect([name, opened]).toEqual([
            name,
            { ok: true, value: { text: expected.text, names: expected.verified } },
          ]);
        } else {
          expect([name, opened.ok]).toEqual([name, false]);
        }
      }
    });

    it("refuses verifier keys whose hash or type is wrong", () => {
      const { bad_vkeys } = vectors();
      expect(bad_vkeys).toHaveLength(2);
      for (const text of bad_vkeys) {
        expect(() => parseNoteKey(text)).toThrow(expect.objectContaining({ code: "bad_key" }));
      }
    });

    it("signs with the published test key as its own library does, byte for byte", () => {
      const { keys, cases } = vectors();
      const secret = keys["peter_private_skey"] ?? "";
      const body = secret.split("+").slice(4).join("+");
      const seed = Buffer.from(body, "base64").subarray(1);
      const peter = privateKey(seed);
      const known = parseNoteKey(keys["peter"] ?? "");
      expect(known.key.id).toBe(peter.publicKey.id);
      expect(formatNoteKey(known)).toBe(keys["peter"]);
      const whole = Buffer.from(cases[1]?.note_b64 ?? "", "base64").toString();
      const text = whole.slice(0, whole.indexOf("\n\n") + 1);
      const ours = signNote(text, "PeterNeumann", peter);
      expect(whole.startsWith(ours)).toBe(true);
    });

    it("gives the stated verdict on all 18 tree head bodies", () => {
      const { cases } = readVectors("checkpoint-bodies.json") as {
        cases: {
          name: string;
          body: string;
          c2sp_ok: boolean;
          size?: string;
          origin?: string;
          root_is_leaf_hash_of?: string;
        }[];
      };
      expect(cases).toHaveLength(18);
      for (const { name, body, c2sp_ok, size, origin, root_is_leaf_hash_of } of cases) {
        const head = parseTreeHead(body);
        expect([name, head !== undefined]).toEqual([name, c2sp_ok]);
        if (size !== undefined) expect(head?.size).toBe(BigInt(size));
        if (origin !== undefined) expect(head?.origin).toBe(origin);
        if (root_is_leaf_hash_of !== undefined && head !== undefined) {
          expect(toBase64(head.root)).toBe(toBase64(leafHash(Buffer.from(root_is_leaf_hash_of))));
        }
      }
    });
  },
);

describe("a signed tree head", () => {
  const key = privateKey(new Uint8Array(32).fill(5));
  const name = "host.example/journal";
  const known = { name, key: key.publicKey };
  const head = { origin: name, size: 66n, root: leafHash(Buffer.from("x")) };
  const note = signNote(formatTreeHead(head), name, key);

  it("comes back as it was signed", () => {
    const opened = openNote(note, [known]);
    expect(opened.ok && parseTreeHead(opened.value.text)).toEqual({
      ...head,
      root: Buffer.from(head.root),
    });
    expect(parseNoteKey(formatNoteKey(known)).key.id).toBe(key.publicKey.id);
  });

  it("is refused when any one byte of it is changed", () => {
    const bytes = Buffer.from(note);
    for (let at = 0; at < bytes.byteLength; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect([at, openNote(changed, [known]).ok]).toEqual([at, false]);
    }
  });

  it("is refused when cut anywhere, and when a line is added", () => {
    for (let length = 0; length < note.length; length++) {
      expect(openNote(note.slice(0, length), [known]).ok).toBe(false);
    }
    expect(openNote(`${note}junk\n`, [known]).ok).toBe(false);
    expect(openNote(note.replace("\n66\n", "\n66\n\n"), [known]).ok).toBe(false);
  });

  it("is refused when one name and hash stand for two keys in the verifier's list", () => {
    expect(openNote(note, [known, known])).toEqual({ ok: false, error: "ambiguous_key" });
  });

  it("may carry signatures of keys that the verifier does not know", () => {
    const witness = privateKey(new Uint8Array(32).fill(6));
    const cosigned =
      note + signNote(formatTreeHead(head), "witness.example", witness).split("\n\n")[1];
    expect(openNote(cosigned, [known]).ok).toBe(true);
  });
});
