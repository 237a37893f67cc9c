/**
 * Freezes a tree of plain objects and lists. What is already frozen was frozen whole by whoever made it. Maps stay as
 * they are: their interface is read-only, and nothing that decides is kept in one.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) freezeTree(value);
  return value;
}

/**
 * True for a tree of frozen objects and lists that hold plain values only: nothing in it can be another the next time
 * it is read. Deeper than 64 levels counts as no.
 */
export function isDeepFrozen(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === null || prototype === Object.prototype || Array.isArray(value);
  if (!plain || depth > 64 || !Object.isFrozen(value)) return false;
  return Reflect.ownKeys(value).every((key) => {
    const member = Object.getOwnPropertyDescriptor(value, key);
    return member !== undefined && "value" in member && isDeepFrozen(member.value, depth + 1);
  });
}

function freezeTree(tree: object): void {
  if (tree instanceof Map || Object.isFrozen(tree)) return;
  Object.freeze(tree);
  const parts: readonly unknown[] = Array.isArray(tree) ? tree : Object.values(tree);
  for (const one of parts) if (typeof one === "object" && one !== null) freezeTree(one);
}
