import type { Decision } from "../../app/review-request.ts";
import { force, host, json, out, passphraseFd, passphraseFile } from "../options.ts";
import type { CommandSpec, GroupSpec, OptionSpec } from "../spec.ts";

const request = {
  name: "request",
  kind: "text",
  required: true,
  summary: "the request, as rote approvals list names it",
} as const;

const store: readonly OptionSpec[] = [
  {
    name: "store",
    value: { name: "directory", kind: "directory" },
    summary: "directory of the host's store; goes with --trust",
  },
  {
    name: "trust",
    value: { name: "file", kind: "file" },
    summary: "the host's trust store, from a place that you trust",
  },
  {
    name: "reviews",
    value: { name: "file", kind: "file" },
    summary: "signed tool reviews (one, or a list), which say where amounts stand; for totals",
  },
  {
    ...host,
    summary:
      "the module of the host instead of --store and --trust; it is loaded, and none of its keys is used",
  },
];

const key: OptionSpec = {
  name: "key",
  value: { name: "file", kind: "file" },
  summary: "your own key file, as rote keys generate made it",
};

function deciding(decision: Decision): CommandSpec {
  const approving = decision === "approve";
  return {
    name: decision,
    summary: approving
      ? "approve exactly the operations of a request, with your own key"
      : "reject a request, with your own key; its run ends",
    details: [
      "Shows what is signed, with invisible characters escaped and totals where reviewed tools name amounts, asks for " +
        "confirmation and for the passphrase, signs and files the decision. A process that waits goes on by itself. The " +
        "first decision stands, and whoever comes later is told who decided and when; but what is approved can be " +
        "rejected until the run uses the approval.",
      "The signature is good for 15 minutes at most: the run has to be gone on with in that time.",
    ],
    arguments: [request],
    options: [
      ...store,
      key,
      {
        name: "as",
        value: { name: "name", kind: "text" },
        summary: "your name in the trust store",
      },
      passphraseFile,
      passphraseFd,
      {
        name: "display",
        value: { name: "digest", kind: "text" },
        summary: "sign only if this is the digest of what is shown, as you read it before",
      },
      {
        name: "seconds",
        value: { name: "number", kind: "text" },
        summary: "how long the signature is good for; 1 to 900, default 900",
      },
      { ...out, summary: "write the signed decision to a file instead of filing it" },
      force,
      { name: "yes", summary: "do not ask for confirmation: it was read before" },
      json,
    ],
    examples: [
      `rote approvals ${decision} REQUEST --store ./store --trust trust.json --key alice.key --as alice`,
      `rote approvals ${decision} REQUEST --host host.mjs --key alice.key --as alice --out decision.json`,
    ],
    exits: ["denied", "problem"],
    load: () => (approving ? import("./approve.ts") : import("./reject.ts")),
  };
}

/** The reviewer's side: a role of its own, with a key of its own. */
export const APPROVALS: GroupSpec = {
  name: "approvals",
  summary: "look at what waits for approval, and decide about it",
  commands: [
    {
      name: "list",
      summary: "requests that wait for a decision",
      options: [...store, json],
      examples: [
        "rote approvals list --store ./store --trust trust.json",
        "rote approvals list --host host.mjs",
      ],
      exits: ["denied", "problem"],
      load: () => import("./list.ts"),
    },
    {
      name: "show",
      summary: "one request with the exact text that a signature covers",
      details: ["A request that was decided says by whom and when. Looking changes nothing."],
      arguments: [request],
      options: [...store, json],
      examples: ["rote approvals show REQUEST --store ./store --trust trust.json"],
      exits: ["denied", "problem"],
      load: () => import("./show.ts"),
    },
    deciding("approve"),
    deciding("reject"),
  ],
};
