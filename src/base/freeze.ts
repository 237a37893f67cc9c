/**
 * Freezes a tree of plain objects and lists. What is already frozen was frozen whole by whoever made it. Maps stay as
 * they are: their interface is read-only, and nothing that decides is kept in one.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) freezeTree(value);
  return value;
}

function freezeTree(tree: object): void {
  if (tree instanceof Map || Object.isFrozen(tree)) return;
  Object.freeze(tree);
  const parts: readonly unknown[] = Array.isArray(tree) ? tree : Object.values(tree);
  for (const one of parts) if (typeof one === "object" && one !== null) freezeTree(one);
}
