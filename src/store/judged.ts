/** Guards the one place where a caller's code runs inside a transaction. */
export function refusePromise<T>(judged: T): T {
  const then: unknown =
    typeof judged === "object" && judged !== null ? Reflect.get(judged, "then") : undefined;
  if (typeof then === "function") {
    throw new TypeError(
      "a judgement inside a transaction cannot be a promise; nothing was written",
    );
  }
  return judged;
}
