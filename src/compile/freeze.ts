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
  if (Array.isArray(tree)) {
    const list: readonly unknown[] = tree;
    for (const one of list) if (typeof one === "object" && one !== null) freezeTree(one);
    return;
  }
  // Everything here is plain or without prototype, so nothing is inherited.
  for (const key in tree) {
    const one: unknown = (tree as { readonly [key: string]: unknown })[key];
    if (typeof one === "object" && one !== null) freezeTree(one);
  }
}
