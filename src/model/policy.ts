import * as z from "zod/mini";

/**
 * The host's policy document. Permissions are `category:action:scope`; a segment is a name or `*`; a scope may end in
 * `/**`, which covers everything below. A rule that cannot be read denies.
 */
export const PROFILES = ["readonly", "standard", "privileged"] as const;
export type Profile = (typeof PROFILES)[number];

const segment = "(?:\\*|[A-Za-z0-9_.-]+)";
/** Part of a scope between slashes: never empty, `.` or `..`, under which one place would have two names. */
const part = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.:@-]+";
const scope = `(?:\\*|/?${part}(?:/${part})*(?:/\\*\\*)?|/\\*\\*)`;
export const PERMISSION = new RegExp(`^(${segment}):(${segment}):(${scope})$`);
export const permissionSchema = z.string().check(z.maxLength(300), z.regex(PERMISSION));

export const policySchema = z.strictObject({
  version: z.literal(1),
  id: z.string().check(z.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/)),
  profile: z.enum(PROFILES),
  /** Allowed without asking. */
  grants: z.array(permissionSchema).check(z.maxLength(1000)),
  /** Allowed when approved. */
  approvable: z.array(permissionSchema).check(z.maxLength(1000)),
  /** Never allowed, whatever else says. */
  deny: z.array(permissionSchema).check(z.maxLength(1000)),
  approvals: z.strictObject({
    /** Distinct approvers, each with a key of their own. */
    required: z.int().check(z.minimum(1), z.maximum(16)),
    /** Whether who asked for a run may also approve its operations. */
    requester_may_approve: z.boolean(),
  }),
  /** What an operation must come with, although the host could work without. Absent: nothing. */
  requires: z.exactOptional(z.array(z.enum(["intent", "warrant"])).check(z.maxLength(2))),
});
export type PolicyDocument = z.infer<typeof policySchema>;

/** What a profile grants before the document's own lists. */
export const PROFILE_PERMISSIONS: {
  readonly [profile in Profile]: {
    readonly grants: readonly string[];
    readonly approvable: readonly string[];
    readonly deny: readonly string[];
  };
} = {
  readonly: { grants: ["*:read:*"], approvable: [], deny: ["*:effect:*"] },
  standard: { grants: ["*:read:*"], approvable: ["*:effect:*"], deny: [] },
  privileged: { grants: ["*:read:*", "*:effect:*"], approvable: [], deny: [] },
};

/** Limits of what may be done in one scope (a run, or the host over its whole journal). Absent means not limited. */
const count = z.int().check(z.minimum(0));
export const limitsSchema = z.strictObject({
  operations: z.exactOptional(count),
  effects: z.exactOptional(count),
  /** Minor units per currency, canonical decimal text. */
  amounts: z.exactOptional(
    z.record(
      z.string().check(z.regex(/^[A-Z]{3}$/)),
      z.string().check(z.regex(/^(0|[1-9][0-9]*)$/)),
    ),
  ),
});
export type BudgetLimits = z.infer<typeof limitsSchema>;

export const budgetSchema = z.strictObject({ run: limitsSchema, host: limitsSchema });
export type Budget = z.infer<typeof budgetSchema>;
