import { buildChildren } from "./children.ts";

let remove: (() => void) | undefined;

/** Before the tests that start processes. Several projects name this file. */
export async function setup(): Promise<void> {
  remove = await buildChildren();
}

export function teardown(): void {
  remove?.();
}
