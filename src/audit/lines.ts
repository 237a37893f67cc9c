/** Pieces of a file between separators, from portions of any size, without ever holding more than one piece. */

export interface Piece {
  /** Without the separator; empty when it is too long to be kept. */
  readonly bytes: Uint8Array;
  /** True when the file ended in the middle of it. */
  readonly unfinished: boolean;
  readonly tooLong: boolean;
}

const EMPTY = new Uint8Array(0);

/** Lines that end in a line feed; whatever is behind the last one is unfinished. */
export async function* linesOf(
  portions: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Piece> {
  let rest: Uint8Array[] = [];
  let length = 0;
  const keep = (bytes: Uint8Array) => {
    length += bytes.byteLength;
    if (length <= maxBytes) rest.push(bytes);
    else rest = [];
  };
  const take = (unfinished: boolean): Piece => {
    const tooLong = length > maxBytes;
    const bytes = tooLong ? EMPTY : joined(rest);
    rest = [];
    length = 0;
    return { bytes, unfinished, tooLong };
  };
  for await (const portion of portions) {
    let from = 0;
    for (let end = portion.indexOf(LF); end >= 0; end = portion.indexOf(LF, from)) {
      keep(portion.subarray(from, end));
      yield take(false);
      from = end + 1;
    }
    // A copy: the source may use its buffer again.
    if (from < portion.byteLength) keep(new Uint8Array(portion.subarray(from)));
  }
  if (length > 0) yield take(true);
}

const LF = 0x0a;

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return Buffer.concat(parts);
}

/** All bytes of a file, or undefined when there are more than `maxBytes`. */
export async function wholeOf(
  portions: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const portion of portions) {
    length += portion.byteLength;
    if (length > maxBytes) return undefined;
    parts.push(new Uint8Array(portion));
  }
  return joined(parts);
}
