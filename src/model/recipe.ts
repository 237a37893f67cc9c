/**
 * The documents that people and programs write: recipe v1 and verifier v1, as zod schemas.
 *
 * Owns which members a document has, which may be left out, and how names look. What an expression or a type says is
 * left to their own parsers (any JSON passes here), and how nodes hang together to compile/. `schema/*.json` is
 * generated from here; whatever only compile/ can judge is not in it, so a document that fits the schema may still be
 * refused.
 */
import * as z from "zod/mini";
import type { JsonValue } from "../base/json.ts";
import { ID_PATTERN, NAME_PATTERN, TOOL_PATTERN } from "./names.ts";
import { RECIPE_LIMITS } from "./recipe-limits.ts";

const present = (value: unknown): boolean => value !== undefined;
const expression = z.custom<JsonValue>(present).check(z.meta({ id: "expression" }));
const type = z.custom<JsonValue>(present).check(z.meta({ id: "type" }));

const id = z.string().check(z.regex(ID_PATTERN));
const name = z.string().check(z.regex(NAME_PATTERN));
const tool = z.string().check(z.regex(TOOL_PATTERN));
const message = z.string().check(z.maxLength(RECIPE_LIMITS.message));
const hexDigest = z.string().check(z.regex(/^[0-9a-f]{64}$/));

const environmentSchema = z.strictObject({
  policy: hexDigest,
  tools: hexDigest,
  credentials: hexDigest,
  evidence: hexDigest,
  host_configuration: z.nullable(hexDigest),
});

const positive = z.int().check(z.minimum(1));
const limitsSchema = z.strictObject({
  max_steps: z.exactOptional(positive),
  max_runtime_ms: z.exactOptional(positive),
  max_tokens: z.exactOptional(positive),
  max_tokens_per_answer: z.exactOptional(positive),
});

/** One schema per kind of step; the keys are `STEP_KINDS`. */
export const STEP_SCHEMAS = {
  pure: z.strictObject({ kind: z.literal("pure"), value: expression }),
  read: z.strictObject({
    kind: z.literal("read"),
    tool,
    arguments: expression,
    absent_on: z.exactOptional(z.array(tool).check(z.maxLength(RECIPE_LIMITS.absent_on))),
  }),
  model: z.strictObject({
    kind: z.literal("model"),
    role: z.exactOptional(name),
    prompt: expression,
    instructions: z.exactOptional(z.string().check(z.maxLength(RECIPE_LIMITS.instructions))),
  }),
  verify: z.strictObject({
    kind: z.literal("verify"),
    condition: expression,
    value: expression,
    message: z.exactOptional(message),
  }),
  policy: z.strictObject({
    kind: z.literal("policy"),
    condition: expression,
    message: z.exactOptional(message),
  }),
  approval: z.strictObject({
    kind: z.literal("approval"),
    effects: z.array(id).check(z.minLength(1)),
  }),
  effect: z.strictObject({
    kind: z.literal("effect"),
    tool,
    arguments: expression,
    key: z.exactOptional(expression),
  }),
  checkpoint: z.strictObject({ kind: z.literal("checkpoint"), value: z.exactOptional(expression) }),
} as const;

const stepSchema = z
  .discriminatedUnion("kind", [
    STEP_SCHEMAS.pure,
    STEP_SCHEMAS.read,
    STEP_SCHEMAS.model,
    STEP_SCHEMAS.verify,
    STEP_SCHEMAS.policy,
    STEP_SCHEMAS.approval,
    STEP_SCHEMAS.effect,
    STEP_SCHEMAS.checkpoint,
  ])
  .check(z.meta({ id: "step" }));

const eachSchema = z.strictObject({
  list: expression,
  as: z.exactOptional(name),
  limit: z.int().check(z.minimum(1), z.maximum(RECIPE_LIMITS.each)),
});

export const nodeSchema = z
  .strictObject({
    id,
    after: z.exactOptional(z.array(id)),
    output: z.exactOptional(type),
    when: z.exactOptional(expression),
    each: z.exactOptional(eachSchema),
    step: stepSchema,
  })
  .check(z.meta({ id: "node" }));

const header = {
  version: z.literal(1),
  id,
  title: z.exactOptional(z.string().check(z.maxLength(RECIPE_LIMITS.title))),
  description: z.exactOptional(z.string().check(z.maxLength(RECIPE_LIMITS.description))),
  types: z.exactOptional(z.record(name, type)),
  environment: z.exactOptional(environmentSchema),
  inputs: z.record(name, type),
  limits: z.exactOptional(limitsSchema),
  terminal: id,
} as const;

export const recipeSchema = z.strictObject({
  ...header,
  nodes: z.array(nodeSchema).check(z.minLength(1), z.maxLength(RECIPE_LIMITS.nodes)),
});

/** The recipe with its nodes unread: they are read one by one, so that one broken node hides no other problem. */
export const recipeHeaderSchema = z.strictObject({
  ...header,
  nodes: z
    .array(z.custom<JsonValue>(present))
    .check(z.minLength(1), z.maxLength(RECIPE_LIMITS.nodes)),
});

/** A verifier with a name. A bare expression is the short form of one that has only `result`. */
export const verifierSchema = z.strictObject({
  version: z.literal(1),
  id,
  types: z.exactOptional(z.record(name, type)),
  before_effect: z.exactOptional(expression),
  result: expression,
});

export type NodeDocument = z.infer<typeof nodeSchema>;
export type StepDocument = z.infer<typeof stepSchema>;
