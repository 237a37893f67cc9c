/** Permissions `category:action:scope` and how one covers another. */
import { PERMISSION } from "../model/policy.ts";

export interface Permission {
  readonly category: string;
  readonly action: string;
  readonly scope: string;
}

/** Undefined for anything that is not written exactly so; a scope that names its place in a roundabout way included. */
export function parsePermission(text: string): Permission | undefined {
  const [, category, action, scope] = PERMISSION.exec(text) ?? [];
  if (category === undefined || action === undefined || scope === undefined) return undefined;
  return { category, action, scope };
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
  return given.endsWith("/**") && wanted.startsWith(given.slice(0, -2));
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
