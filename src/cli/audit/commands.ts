import { force, host, json, out } from "../options.ts";
import type { CommandSpec, GroupSpec, OptionSpec } from "../spec.ts";

const trust: OptionSpec = {
  name: "trust",
  value: { name: "file", kind: "file" },
  summary:
    "your own copy of the host's trust store, from a place that you trust: one version, or a list of consecutive ones",
};

const NO_FINDING =
  "Ends with 0 only without any finding. Any finding ends with 3, a warning and a record without a run as well; a trust " +
  "store of yours that is none ends with 4, a file that cannot be read with 1.";

/** Judging a host's record, and taking it away to where somebody else judges it. */
export const AUDIT: readonly (CommandSpec | GroupSpec)[] = [
  {
    name: "audit",
    summary: "check the whole record of a host: a bundle, or the store itself",
    details: [
      "Needs no key, no network and none of the host's code, and writes nothing. Checks bytes, chains, the tree and its " +
        "signed heads, every signature where it stands, every approval against what it approved, receipts against " +
        "admissions, gaps and counts. Every finding is told with its place: file, positions in it (from 0), chain and " +
        "sequence numbers, as ranges.",
      "Only tree heads that were kept elsewhere show that the end was cut off together with its heads: give their file " +
        "with --heads. What lies beside a record, as a host leaves a copy beside its store, counts only when you name it: " +
        "whoever can change the record can change that too.",
      NO_FINDING,
    ],
    arguments: [
      {
        name: "record",
        kind: "directory",
        required: true,
        summary: "directory of a bundle, as `rote export` leaves it, or of a host's store",
      },
    ],
    options: [
      trust,
      {
        name: "heads",
        value: { name: "file", kind: "file" },
        summary: "tree heads that were kept outside of the record",
      },
      json,
    ],
    examples: [
      "rote audit ./bundle --trust trust.json",
      "rote audit ./bundle --trust trust.json --heads kept/heads.txt",
      "rote audit ./store --trust trust.json --json",
    ],
    exits: ["rejected", "denied", "problem"],
    load: () => import("./audit.ts"),
  },
  {
    name: "export",
    summary: "copy the record of a host into a bundle that anybody can audit",
    details: [
      "From the store alone no key is needed and nothing is written to it; entries behind the last tree head are copied " +
        "too, and an audit says that nobody has signed them yet. With --host the host signs what is there first.",
    ],
    arguments: [
      {
        name: "store",
        kind: "directory",
        required: false,
        summary: "directory of the host's store; left out with --host",
      },
    ],
    options: [
      {
        name: "out",
        value: { name: "directory", kind: "directory" },
        summary: "the bundle: a directory that is new or empty",
      },
      host,
      json,
    ],
    examples: [
      "rote export ./store --out ./bundle",
      "rote export --host host.mjs --out ./bundle --json",
    ],
    exits: ["problem", "denied"],
    load: () => import("./export.ts"),
  },
  {
    name: "receipt",
    summary: "take one receipt with its proof, and check it",
    commands: [
      {
        name: "export",
        summary: "one receipt with the proof that it is on record, as a file",
        details: [
          "The file has the signed receipt, the entry that it stands in, and the hashes from there to the root of a signed " +
            "tree head. It can be checked with `rote receipt verify`, or with openssl alone as docs/formats.md says.",
          "A run with several receipts lists them, to pick one.",
        ],
        arguments: [
          {
            name: "store",
            kind: "directory",
            required: true,
            summary: "directory of the host's store",
          },
          {
            name: "receipt",
            kind: "text",
            required: false,
            summary: "the receipt, as its run lists it; left out with --run",
          },
        ],
        options: [
          {
            name: "run",
            value: { name: "run", kind: "text" },
            summary: "the only receipt of this run",
          },
          {
            name: "node",
            value: { name: "node", kind: "text" },
            summary: "with --run: the only receipt of this step of the recipe",
          },
          out,
          force,
          json,
        ],
        examples: [
          "rote receipt export ./store sha256:.. --out receipt.json",
          "rote receipt export ./store --run run-.. --node pay --out receipt.json",
        ],
        exits: ["problem"],
        load: () => import("./receipt-export.ts"),
      },
      {
        name: "verify",
        summary: "check one receipt: its signature, its entry, and the proof that it is on record",
        details: [
          "Shows that the host's journal says so. What the journal says besides, such as the admission before it and the " +
            "approvals that it used, is for `rote audit`.",
          "A valid receipt may be about something else than you think: say with --run or --operation what it has to be about.",
          NO_FINDING,
        ],
        arguments: [
          {
            name: "file",
            kind: "file",
            required: true,
            summary: "the receipt file (- reads standard input)",
          },
        ],
        options: [
          trust,
          {
            name: "run",
            value: { name: "run", kind: "text" },
            summary: "the run that it has to be about",
          },
          {
            name: "operation",
            value: { name: "digest", kind: "text" },
            summary: "the operation that it has to be about",
          },
          json,
        ],
        examples: [
          "rote receipt verify receipt.json --trust trust.json",
          "rote receipt verify receipt.json --trust trust.json --run run-.. --json",
        ],
        exits: ["rejected", "denied", "problem"],
        load: () => import("./receipt-verify.ts"),
      },
    ],
  },
];
