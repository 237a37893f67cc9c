/**
 * How things in recipes may be called. Both kinds start with a letter or digit, so `__proto__` is no name at all;
 * `constructor` is one, and harmless, since names are only ever keys of Maps and of objects without prototype.
 */

/** Ids of recipes, verifiers and nodes: `line-total`, `order.lines`. */
export const ID_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Names of inputs, types and items: what expressions write in front of a pointer. */
export const NAME_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

/** Names of tools as a host registers them, and the codes of their refusals. */
export const TOOL_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/;

/** Role of a model node that names none. */
export const DEFAULT_ROLE = "default";

/** Name of the element where `each` or a list operator names none. */
export const DEFAULT_ITEM = "item";
