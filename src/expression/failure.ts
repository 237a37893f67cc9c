/**
 * How an evaluation fails. Every operator has a `Site`, made when it is compiled: it knows the operator's place and
 * the lists around it, so that a failure can say which elements were being looked at without any cost while all goes
 * well.
 */
import type { EvaluationCode } from "../model/operators.ts";

/** What an evaluation throws, and all that it throws. */
export class EvaluationFailure extends Error {
  override readonly name = "EvaluationFailure";
  readonly code: EvaluationCode;
  /** JSON Pointer of the operator in the document as written. */
  readonly pointer: string;
  /** The list elements on the way, outermost first: `line[3]`. */
  readonly positions: readonly string[];

  constructor(
    code: EvaluationCode,
    pointer: string,
    positions: readonly string[],
    message: string,
  ) {
    super(message);
    this.code = code;
    this.pointer = pointer;
    this.positions = positions;
  }
}

/** A list around an operator: the name of its element, and where its position is kept. */
export interface Around {
  readonly name: string;
  readonly slot: number;
}

export interface Site {
  readonly op: string;
  readonly at: string;
  readonly around: readonly Around[];
}

const MAX_WHAT = 300;

/** The failure of the operator at a site, to be thrown. */
export function failure(
  site: Site,
  positions: readonly number[],
  code: EvaluationCode,
  what: string,
): EvaluationFailure {
  const places = site.around.map(({ name, slot }) => `${name}[${positions[slot] ?? 0}]`);
  const where = places.length === 0 ? "" : `, at ${places.join(", ")}`;
  const said = what.length <= MAX_WHAT ? what : `${what.slice(0, MAX_WHAT)}..`;
  return new EvaluationFailure(code, site.at, places, `${site.op}: ${said}${where}`);
}
