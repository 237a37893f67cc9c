/**
 * How observations, signals and learned answers are written as text and read back, the same in every store, so that
 * their sizes and what survives a round trip are the same too. Texts are canonical JSON.
 */
import { canonicalText } from "../base/canonical.ts";
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { ENVIRONMENT_FIELDS, type Environment } from "../model/environment.ts";
import type { Mismatch, Observation, Phase, Signal, StoredExchange } from "../model/memory.ts";
import type { LearnedAnswer, ModelIdentity } from "../model/run.ts";
import type { NewObservation } from "../ports/procedures.ts";
import {
  orNull,
  storedBoolean,
  storedDigest,
  storedJson,
  storedList,
  storedNumber,
  storedObject,
  storedText,
  storedWord,
} from "./decode.ts";

/** The part of an observation that only makes sense as a whole. */
type ObservationBody = Pick<Observation, "result" | "receipts" | "models" | "mismatches">;
export type ObservationHead = Omit<Observation, keyof ObservationBody>;

export function writeBody(observation: ObservationBody): string {
  const { result, receipts, models, mismatches } = observation;
  return canonicalText({
    result,
    receipts,
    models: models.map(exchangeJson),
    mismatches: mismatches.map(({ node, index, kind }) => ({ node, index, kind })),
  });
}

function readBody(text: string): ObservationBody {
  const body = storedObject(storedJson(text, "an observation"), "an observation");
  return {
    result: orNull(body["result"], storedDigest, "a result"),
    receipts: storedList(body["receipts"], "receipts").map((one) => storedDigest(one, "a receipt")),
    models: storedList(body["models"], "models").map(readExchange),
    mismatches: storedList(body["mismatches"], "mismatches").map(readMismatch),
  };
}

/**
 * An observation as it is stored. Its body is read when it is first asked for: most judgements need only what stands
 * beside it, and a procedure may have a thousand. (A class, since getters on every object cost forty times as much.)
 */
export class StoredObservation implements Observation {
  readonly seq: bigint;
  readonly run: string;
  readonly phase: Phase;
  readonly clean: boolean;
  readonly inputs: Digest;
  readonly observed_ms: number;
  readonly #text: string;
  #body: ObservationBody | undefined;

  constructor(head: ObservationHead, text: string) {
    this.seq = head.seq;
    this.run = head.run;
    this.phase = head.phase;
    this.clean = head.clean;
    this.inputs = head.inputs;
    this.observed_ms = head.observed_ms;
    this.#text = text;
  }

  get result(): ObservationBody["result"] {
    return this.#read().result;
  }

  get receipts(): ObservationBody["receipts"] {
    return this.#read().receipts;
  }

  get models(): ObservationBody["models"] {
    return this.#read().models;
  }

  get mismatches(): ObservationBody["mismatches"] {
    return this.#read().mismatches;
  }

  #read(): ObservationBody {
    this.#body ??= readBody(this.#text);
    return this.#body;
  }
}

export function writeExchanges(models: readonly StoredExchange[]): string {
  return canonicalText(models.map(exchangeJson));
}

export function readExchanges(text: string): readonly StoredExchange[] {
  return storedList(storedJson(text, "a signal"), "a signal").map(readExchange);
}

export function writeLearned(learned: readonly LearnedAnswer[]): string {
  return canonicalText(
    learned.map(({ node, answer, prompts, varied, model }) => ({
      node,
      answer,
      prompts,
      varied,
      model: modelJson(model),
    })),
  );
}

export function readLearned(text: string): readonly LearnedAnswer[] {
  return storedList(storedJson(text, "learned answers"), "learned answers").map((one) => {
    const fields = storedObject(one, "a learned answer");
    return {
      node: storedText(fields["node"], "a node"),
      answer: fields["answer"] ?? null,
      prompts: storedList(fields["prompts"], "prompts").map((each) =>
        storedDigest(each, "a prompt"),
      ),
      varied: storedBoolean(fields["varied"], "varied"),
      model: readModel(fields["model"]),
    };
  });
}

export function writeEnvironment(environment: Environment): string {
  return canonicalText(
    Object.fromEntries(ENVIRONMENT_FIELDS.map((field) => [field, environment[field]])),
  );
}

/** Procedures share few environments, so the last ones read are kept. */
export function environmentReader(): (text: string) => Environment {
  const known = new Map<string, Environment>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const environment = Object.freeze(readEnvironment(text));
    if (known.size >= KNOWN_ENVIRONMENTS) known.clear();
    known.set(text, environment);
    return environment;
  };
}

const KNOWN_ENVIRONMENTS = 16;

function readEnvironment(text: string): Environment {
  const parts = storedObject(storedJson(text, "an environment"), "an environment");
  return {
    policy: storedText(parts["policy"], "policy"),
    tools: storedText(parts["tools"], "tools"),
    credentials: storedText(parts["credentials"], "credentials"),
    evidence: storedText(parts["evidence"], "evidence"),
    host_configuration: orNull(parts["host_configuration"], storedText, "host_configuration"),
  };
}

/** What an observation counts for in the limits: the bytes of its texts. */
export function observationBytes(observation: NewObservation, body: string): number {
  return utf8(observation.run) + utf8(observation.inputs) + utf8(body);
}

export function signalBytes(signal: Signal, models: string): number {
  return utf8(signal.run ?? "") + utf8(signal.reason) + utf8(models);
}

function utf8(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

function exchangeJson({ node, index, prompt, answer, model }: StoredExchange): JsonValue {
  return { node, index, prompt, answer, model: modelJson(model) };
}

function readExchange(value: JsonValue): StoredExchange {
  const fields = storedObject(value, "an exchange");
  return {
    node: storedText(fields["node"], "a node"),
    index: orNull(fields["index"], storedNumber, "an index"),
    prompt: storedDigest(fields["prompt"], "a prompt"),
    answer: fields["answer"] ?? null,
    model: readModel(fields["model"]),
  };
}

function readMismatch(value: JsonValue): Mismatch {
  const fields = storedObject(value, "a mismatch");
  return {
    node: storedText(fields["node"], "a node"),
    index: orNull(fields["index"], storedNumber, "an index"),
    kind: storedWord(fields["kind"], ["model", "twin"] as const, "a mismatch"),
  };
}

function modelJson({ provider, name }: ModelIdentity): JsonValue {
  return { provider, name };
}

function readModel(value: JsonValue | undefined): ModelIdentity {
  const fields = storedObject(value, "a model");
  return {
    provider: storedText(fields["provider"], "a provider"),
    name: storedText(fields["name"], "a model's name"),
  };
}
