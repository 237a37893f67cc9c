/**
 * Digests of everything a procedure was made for, besides its own text (bare lower-case 64-hex, as in the seed's
 * published schema). A procedure starts only where the host's own digests equal these.
 */
export interface Environment {
  readonly policy: string;
  readonly tools: string;
  readonly credentials: string;
  readonly evidence: string;
  readonly host_configuration: string | null;
}

export const ENVIRONMENT_FIELDS = [
  "policy",
  "tools",
  "credentials",
  "evidence",
  "host_configuration",
] as const;
