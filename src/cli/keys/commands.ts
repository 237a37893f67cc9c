import { json, out, passphraseFd, passphraseFile } from "../options.ts";
import type { GroupSpec, OptionSpec } from "../spec.ts";

const trust = {
  name: "trust",
  kind: "file",
  required: true,
  summary: "file of the trust store",
} as const;

const signing: readonly OptionSpec[] = [
  {
    name: "root",
    value: { name: "file", kind: "file" },
    repeatable: true,
    summary: "key file of the root that signs the change; repeat it for a root of several keys",
  },
  passphraseFile,
  passphraseFd,
  {
    name: "expires-days",
    value: { name: "number", kind: "text" },
    summary: "days until the whole trust store expires; default: as before, 365 for a new one",
  },
  { ...out, summary: "write the new version here and leave the file as it is" },
  json,
];
const days: OptionSpec = {
  name: "days",
  value: { name: "number", kind: "text" },
  summary: "days that new keys are good for; default 365",
};

/** Key files, and the trust store that says what keys are good for. */
export const KEYS: GroupSpec = {
  name: "keys",
  summary: "make keys, and say in a signed trust store what they are good for",
  commands: [
    {
      name: "generate",
      summary: "make a key in a new file, encrypted with a passphrase",
      details: [
        "The file is PKCS#8 (PBES2, PBKDF2 with SHA-256, AES-256), which openssl and browsers open too. The passphrase is " +
          "asked for twice, or read from a file or descriptor; it is never taken from the command line.",
      ],
      arguments: [{ name: "file", kind: "file", required: true, summary: "the new key file" }],
      options: [passphraseFile, passphraseFd, json],
      examples: ["rote keys generate alice.key"],
      exits: ["problem"],
      load: () => import("./generate.ts"),
    },
    {
      name: "show",
      summary: "the public half of a key file, or what a trust store says",
      arguments: [
        { name: "file", kind: "file", required: true, summary: "key file or trust store" },
      ],
      options: [passphraseFile, passphraseFd, json],
      examples: ["rote keys show alice.key", "rote keys show trust.json"],
      exits: ["denied", "problem"],
      load: () => import("./show.ts"),
    },
    {
      name: "enrol",
      summary: "list keys in a trust store, each with its holder and its one role",
      details: [
        "A trust store that does not exist yet is made, for the host that --origin names, with the keys of --root as its " +
          "root. All keys of one call are in one version; a host takes over one version after the other.",
        "Roles: journal and receipt (the host's own), approver, tool_reviewer, warrant_issuer, reconciler, witness.",
      ],
      arguments: [trust],
      options: [
        {
          name: "add",
          value: { name: "role:name:public", kind: "text" },
          repeatable: true,
          summary: "a key to list, as rote keys generate printed it; repeat for more",
        },
        days,
        {
          name: "origin",
          value: { name: "name", kind: "text" },
          summary: "for a new trust store: name of the host's journal",
        },
        {
          name: "threshold",
          value: { name: "number", kind: "text" },
          summary: "for a new trust store: how many root keys must sign; default all",
        },
        ...signing,
      ],
      examples: [
        "rote keys enrol trust.json --origin accounts.example/payments --root root.key --add journal:journal:PUBLIC --add receipt:receipts:PUBLIC",
        "rote keys enrol trust.json --root root.key --add approver:alice:PUBLIC --days 90",
      ],
      exits: ["denied", "problem"],
      load: () => import("./enrol.ts"),
    },
    {
      name: "rotate",
      summary: "put a new key in the place of another, with the same holder and role",
      details: [
        "The old key ends now and stays listed, since what it signed must stay checkable. A root key is rotated in two " +
          "versions: the first call puts the new key beside the old one, the same call again takes the old one out.",
      ],
      arguments: [trust],
      options: [
        {
          name: "old",
          value: { name: "key", kind: "text" },
          summary: "the old key, as its public text or its id",
        },
        {
          name: "new",
          value: { name: "public", kind: "text" },
          summary: "the new one, as rote keys generate printed it",
        },
        days,
        ...signing,
      ],
      examples: ["rote keys rotate trust.json --old OLD_PUBLIC --new PUBLIC --root root.key"],
      exits: ["denied", "problem"],
      load: () => import("./rotate.ts"),
    },
    {
      name: "revoke",
      summary: "revoke a key for everything new",
      arguments: [trust],
      options: [
        {
          name: "key",
          value: { name: "key", kind: "text" },
          summary: "the key, as its public text or its id",
        },
        { name: "reason", value: { name: "text", kind: "text" }, summary: "why; kept for good" },
        {
          name: "since-seq",
          value: { name: "index", kind: "text" },
          summary: "log index from which on the key was not its holder's alone",
        },
        ...signing,
      ],
      examples: ["rote keys revoke trust.json --key PUBLIC --reason 'laptop lost' --root root.key"],
      exits: ["denied", "problem"],
      load: () => import("./revoke.ts"),
    },
  ],
};
