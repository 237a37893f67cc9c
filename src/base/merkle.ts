/**
 * The append-only Merkle tree of RFC 6962 / RFC 9162 over SHA-256.
 *
 * Leaf and interior hashes differ by a prefix byte, so that a node can never be passed off as a leaf. Sizes and indexes
 * are big integers: logs may outgrow 2^53 and published vectors do. A proof proves nothing by itself; its root must
 * come from a signed tree head.
 */

import { hash } from "node:crypto";
import { sameBytes } from "./bytes.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([LEAF, entry]));
}

/** What the hash of a leaf is made of has this byte before the entry. */
export const LEAF_BYTE = 0;

/** `leafHash` of an entry that stands behind `LEAF_BYTE` already. */
export function leafHashBehind(leaf: Uint8Array): Uint8Array {
  if (leaf[0] !== LEAF_BYTE) throw new RangeError("not the bytes of a leaf");
  return sha256(leaf);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** Root of the tree without leaves. */
export function emptyRoot(): Uint8Array {
  return sha256(new Uint8Array());
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}

/**
 * The right edge of a tree: roots of its perfect subtrees, largest first. Appending needs nothing else, so a log of any
 * length is extended, or checked from the start, in O(log n) memory.
 */
export interface Frontier {
  readonly size: bigint;
  readonly roots: readonly Uint8Array[];
}

export const EMPTY_FRONTIER: Frontier = { size: 0n, roots: [] };

export function append(frontier: Frontier, leaf: Uint8Array): Frontier {
  const roots = frontier.roots.slice();
  let hash = leaf;
  // Each trailing one-bit of the size is a perfect subtree that the new leaf completes.
  for (let size = frontier.size; (size & 1n) === 1n; size >>= 1n) {
    const left = roots.pop();
    if (left === undefined) throw new RangeError("frontier does not fit its size");
    hash = nodeHash(left, hash);
  }
  roots.push(hash);
  return { size: frontier.size + 1n, roots };
}

export function rootOf(frontier: Frontier): Uint8Array {
  let root: Uint8Array | undefined;
  for (let at = frontier.roots.length - 1; at >= 0; at--) {
    const left = frontier.roots[at];
    if (left === undefined) continue;
    root = root === undefined ? left : nodeHash(left, root);
  }
  return root ?? emptyRoot();
}

/** Hashes of the leaves `from` (inclusive) to `to` (exclusive) of a log. */
export type LeafHashes = (from: number, to: number) => readonly Uint8Array[];

/** The path that shows that leaf `index` is in the tree of `size` leaves (RFC 6962, 2.1.1). */
export function inclusionProof(index: number, size: number, leaves: LeafHashes): Uint8Array[] {
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size)) {
    throw new RangeError(`leaf ${index} is not in a tree of ${size}`);
  }
  const path: Uint8Array[] = [];
  let from = 0;
  let to = size;
  while (to - from > 1) {
    const middle = from + split(to - from);
    if (index < middle) {
      path.push(rangeRoot(leaves(middle, to)));
      to = middle;
    } else {
      path.push(rangeRoot(leaves(from, middle)));
      from = middle;
    }
  }
  return path.reverse();
}

/** The path that shows that the tree of `older` leaves is a prefix of that of `newer` (RFC 6962, 2.1.2). */
export function consistencyProof(older: number, newer: number, leaves: LeafHashes): Uint8Array[] {
  if (!(Number.isSafeInteger(older) && older > 0 && older <= newer)) {
    throw new RangeError(`no consistency proof from ${older} to ${newer}`);
  }
  const path: Uint8Array[] = [];
  let from = 0;
  let to = newer;
  while (to !== older) {
    const middle = from + split(to - from);
    if (older <= middle) {
      path.push(rangeRoot(leaves(middle, to)));
      to = middle;
    } else {
      path.push(rangeRoot(leaves(from, middle)));
      from = middle;
    }
  }
  if (from !== 0) path.push(rangeRoot(leaves(from, to)));
  return path.reverse();
}

export function verifyInclusion(
  leaf: Uint8Array,
  index: bigint,
  size: bigint,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (index < 0n || index >= size || !wellFormed([leaf, root, ...proof])) return false;
  let node = index;
  let last = size - 1n;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0n) return false;
    if ((node & 1n) === 1n || node === last) {
      hash = nodeHash(sibling, hash);
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      hash = nodeHash(hash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && sameBytes(hash, root);
}

/** A proof from size 0 proves nothing and is refused. */
export function verifyConsistency(
  older: bigint,
  newer: bigint,
  olderRoot: Uint8Array,
  newerRoot: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (older <= 0n || newer < older) return false;
  if (older === newer) return proof.length === 0 && sameBytes(olderRoot, newerRoot);
  if (!wellFormed([olderRoot, newerRoot, ...proof])) return false;
  const path = isPowerOfTwo(older) ? [olderRoot, ...proof] : proof;
  const first = path[0];
  if (first === undefined || (proof.length === 0 && !isPowerOfTwo(older))) return false;
  let node = older - 1n;
  let last = newer - 1n;
  while ((node & 1n) === 1n) {
    node >>= 1n;
    last >>= 1n;
  }
  let fromOlder = first;
  let fromNewer = first;
  for (const sibling of path.slice(1)) {
    if (last === 0n) return false;
    if ((node & 1n) === 1n || node === last) {
      fromOlder = nodeHash(sibling, fromOlder);
      fromNewer = nodeHash(sibling, fromNewer);
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      fromNewer = nodeHash(fromNewer, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && sameBytes(fromOlder, olderRoot) && sameBytes(fromNewer, newerRoot);
}

function rangeRoot(leaves: readonly Uint8Array[]): Uint8Array {
  let frontier = EMPTY_FRONTIER;
  for (const leaf of leaves) frontier = append(frontier, leaf);
  return rootOf(frontier);
}

/** The largest power of two below `size` (at least 2). */
function split(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

function isPowerOfTwo(size: bigint): boolean {
  return (size & (size - 1n)) === 0n;
}

/** No proof of a tree of 64-bit size is longer than 64 hashes; the two roots or leaf and root come on top. */
function wellFormed(hashes: readonly Uint8Array[]): boolean {
  return hashes.length <= 66 && hashes.every((hash) => hash.byteLength === 32);
}
