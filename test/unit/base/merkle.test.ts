import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../src/base/bytes.ts";
import {
  append,
  consistencyProof,
  EMPTY_FRONTIER,
  inclusionProof,
  LEAF_BYTE,
  leafHash,
  leafHashBehind,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from "../../../src/base/merkle.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

/** Two published files hold integers above 2^53; they are read as text. */
function readVector(path: string): { readonly [name: string]: unknown } {
  const text = readFileSync(path, "utf8");
  return JSON.parse(text.replace(/("(?:leafIdx|treeSize|size1|size2)":\s*)(\d+)/gu, '$1"$2"'));
}

function jsonFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => join(entry.parentPath, entry.name));
}

function bytes(base64: unknown): Uint8Array {
  return typeof base64 === "string" ? Buffer.from(base64, "base64") : new Uint8Array();
}

function proofOf(value: unknown): Uint8Array[] {
  return Array.isArray(value) ? value.map(bytes) : [];
}

describe.skipIf(!sharedPresent("vectors/merkle-rfc6962"))(
  "published Merkle vectors (absent: shared vectors)",
  () => {
    it("gives the stated verdict on all 98 inclusion proofs", () => {
      const files = jsonFiles(sharedPath("vectors/merkle-rfc6962/inclusion"));
      expect(files).toHaveLength(98);
      for (const file of files) {
        const v = readVector(file);
        const accepted = verifyInclusion(
          bytes(v["leafHash"]),
          BigInt(String(v["leafIdx"])),
          BigInt(String(v["treeSize"])),
          proofOf(v["proof"]),
          bytes(v["root"]),
        );
        expect([v["desc"], accepted]).toEqual([v["desc"], v["wantErr"] !== true]);
      }
    });

    it("gives the stated verdict on all 98 consistency proofs", () => {
      const files = jsonFiles(sharedPath("vectors/merkle-rfc6962/consistency"));
      expect(files).toHaveLength(98);
      for (const file of files) {
        const v = readVector(file);
        const accepted = verifyConsistency(
          BigInt(String(v["size1"])),
          BigInt(String(v["size2"])),
          bytes(v["root1"]),
          bytes(v["root2"]),
          proofOf(v["proof"]),
        );
        expect([v["desc"], accepted]).toEqual([v["desc"], v["wantErr"] !== true]);
      }
    });

    it("gives the 9 reference roots and the interior nodes of the reference tree", () => {
      const tree = readVector(sharedPath("vectors/merkle-rfc6962/reference-tree.json")) as {
        leaves: string[];
        levels: string[][];
        roots: string[];
      };
      let frontier = EMPTY_FRONTIER;
      const roots = [toHex(rootOf(frontier))];
      for (const leaf of tree.leaves) {
        frontier = append(frontier, leafHash(fromHex(leaf) ?? new Uint8Array()));
        roots.push(toHex(rootOf(frontier)));
      }
      expect(tree.roots).toHaveLength(9);
      expect(roots).toEqual(tree.roots);
    });
  },
);

describe("the Merkle tree", () => {
  const hashes = Array.from({ length: 70 }, (_, n) => leafHash(Buffer.from(`entry ${n}`)));
  const leaves = (from: number, to: number) => hashes.slice(from, to);

  /** The definition of RFC 6962, 2.1, written down as it stands. */
  function rootByDefinition(entries: readonly Uint8Array[]): Uint8Array {
    const [only] = entries;
    if (entries.length === 1 && only !== undefined) return only;
    let k = 1;
    while (k * 2 < entries.length) k *= 2;
    return nodeHash(rootByDefinition(entries.slice(0, k)), rootByDefinition(entries.slice(k)));
  }

  const rootAt = (size: number) => rootByDefinition(hashes.slice(0, size));

  it("has the root of the recursive definition at every size", () => {
    let frontier = EMPTY_FRONTIER;
    for (let size = 1; size <= hashes.length; size++) {
      frontier = append(frontier, hashes[size - 1] ?? new Uint8Array());
      expect(toHex(rootOf(frontier))).toBe(toHex(rootAt(size)));
    }
  });

  it("proves every leaf in every size, and in no other place", () => {
    for (let size = 1; size <= 20; size++) {
      for (let index = 0; index < size; index++) {
        const proof = inclusionProof(index, size, leaves);
        const leaf = hashes[index] ?? new Uint8Array();
        for (let claimed = 0; claimed < size; claimed++) {
          const accepted = verifyInclusion(
            leaf,
            BigInt(claimed),
            BigInt(size),
            proof,
            rootAt(size),
          );
          expect(accepted).toBe(claimed === index);
        }
      }
    }
  });

  it("proves every size a prefix of every later size", () => {
    for (let newer = 1; newer <= 20; newer++) {
      for (let older = 1; older <= newer; older++) {
        const proof = consistencyProof(older, newer, leaves);
        const check = (root: Uint8Array) =>
          verifyConsistency(BigInt(older), BigInt(newer), root, rootAt(newer), proof);
        expect(check(rootAt(older))).toBe(true);
        expect(check(leafHash(Buffer.from("forged")))).toBe(false);
      }
    }
  });

  it("refuses a proof that lost, gained, swapped or altered an element", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 70 }), fc.nat(), fc.nat(), (size, at, where) => {
        const index = at % size;
        const proof = inclusionProof(index, size, leaves);
        const leaf = hashes[index] ?? new Uint8Array();
        const root = rootAt(size);
        const accepts = (path: readonly Uint8Array[]) =>
          verifyInclusion(leaf, BigInt(index), BigInt(size), path, root);
        const place = where % proof.length;
        const altered = proof.map((hash, n) => (n === place ? hash.map((b) => b ^ 1) : hash));
        expect(accepts(proof)).toBe(true);
        expect(accepts(proof.toSpliced(place, 1))).toBe(false);
        expect(accepts(proof.toSpliced(place, 0, root))).toBe(false);
        expect(accepts(altered)).toBe(false);
      }),
    );
  });

  it("hashes an entry that stands behind the byte of leaves as the entry itself", () => {
    const entry = Buffer.from("an entry");
    expect(leafHashBehind(Buffer.concat([Buffer.of(LEAF_BYTE), entry]))).toEqual(leafHash(entry));
    expect(() => leafHashBehind(Buffer.concat([Buffer.of(1), entry]))).toThrow(RangeError);
    expect(() => leafHashBehind(new Uint8Array())).toThrow(RangeError);
  });

  it("does not let an interior node pass as a leaf", () => {
    const [a, b] = hashes;
    if (a === undefined || b === undefined) throw new Error("no leaves");
    const inner = nodeHash(a, b);
    expect(toHex(leafHash(Buffer.concat([a, b])))).not.toBe(toHex(inner));
  });
});
