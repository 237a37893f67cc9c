/**
 * Freezes a tree of plain objects and lists. What is already frozen was frozen whole by whoever made it. Maps stay as
 * they are: their interface is read-only, and nothing that decides is kept in one.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
