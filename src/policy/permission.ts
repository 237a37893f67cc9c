/** Permissions `category:action:scope` and how one covers another. */

export interface Permission {
  readonly category: string;
  readonly action: string;
  readonly scope: string;
}

/** Undefined for anything that is not exactly three parts, none of them empty. */
export function parsePermission(text: string): Permission | undefined {
  const first = text.indexOf(":");
  const second = text.indexOf(":", first + 1);
  if (first < 1 || second < first + 2 || second === text.length - 1) return undefined;
  return {
    category: text.slice(0, first),
    action: text.slice(first + 1, second),
    scope: text.slice(second + 1),
  };
}

/** True when everything that `wanted` names is covered by `given`. A wanted wildcard is covered by a wildcard only. */
export function covers(given: Permission, wanted: Permission): boolean {
  return (
    coversName(given.category, wanted.category) &&
    coversName(given.action, wanted.action) &&
    coversScope(given.scope, wanted.scope)
  );
}

function coversName(given: string, wanted: string): boolean {
  return given === "*" || given === wanted;
}

function coversScope(given: string, wanted: string): boolean {
  if (given === "*" || given === wanted) return true;
  if (!given.endsWith("/**")) return false;
  const base = given.slice(0, -2);
  // `..` would step out of what the prefix says; nothing that holds one is below anything.
  return wanted.startsWith(base) && !wanted.split("/").includes("..") && wanted !== "*";
}

/** True when some operation may be named by both: what a deny rule must be judged by. */
export function overlaps(left: Permission, right: Permission): boolean {
  return (
    overlapsName(left.category, right.category) &&
    overlapsName(left.action, right.action) &&
    (coversScope(left.scope, right.scope) || coversScope(right.scope, left.scope))
  );
}

function overlapsName(left: string, right: string): boolean {
  return left === "*" || right === "*" || left === right;
}
