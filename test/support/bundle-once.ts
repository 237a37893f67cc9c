import { bundle } from "./kills/bundle.ts";

/** Before the tests that kill processes. */
export async function setup(): Promise<void> {
  await bundle();
}
