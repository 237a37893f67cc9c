/** Marks the arm of a switch that a closed list says cannot be reached. */
export function assertNever(value: never, what: string): never {
  throw new TypeError(`unhandled ${what}: ${String(value)}`);
}

/** Stops on a broken invariant of our own; never used to judge data from outside. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TypeError(`invariant broken: ${message}`);
}
