/**
 * Makes the folder of a host for the workflows: fresh keys, the trust store, signed reviews of the tools, registered
 * documents and an empty workpaper. What it makes is what an owner and a tool reviewer would make by hand; the keys of
 * those who approve stay with them, and only their public keys are needed here.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toBase64Url } from "../../base/bytes.ts";
import { sha256Hex } from "../../base/digest.ts";
import { RoteError } from "../../base/error.ts";
import type { JsonValue } from "../../base/json.ts";
import type { PrivateKey } from "../../base/sign.ts";
import type { PolicyDocument } from "../../model/policy.ts";
import type { Role } from "../../model/trust.ts";
import { WORKFLOWS, type Workflow } from "../../model/workflows.ts";
import { systemRandom } from "../../os/random.ts";
import { openWorkpaper } from "../../tools/workpaper.ts";
import { definitionDigest, signToolReview } from "../../trust/index.ts";
import { checkPassphrase, generateKey } from "../key-file.ts";
import { newTrust, publicKeyText, readPublicKey } from "../keys.ts";
import { secondsNow } from "../time.ts";
import {
  OPEN_ENGAGEMENT,
  PLACES,
  RECIPES,
  type SourceList,
  shippedDocuments,
  toolsOver,
} from "./folder.ts";
import { moduleText } from "./module-text.ts";

export interface PrepareOptions {
  /** Name of the journal: the audience of everything that is signed for this host. */
  readonly origin: string;
  /** Encrypts the keys of owner and tool reviewer, which the running host does not need. At least 12 characters. */
  readonly passphrase: string;
  /** Who may approve, by the public keys that they hand out. */
  readonly approvers: readonly { readonly name: string; readonly public: string }[];
  /** Workflows whose shipped documents are registered. Default: all. */
  readonly documents?: readonly Workflow[];
  /** Days that keys and reviews are good for. Default 365. */
  readonly days?: number;
  /** Rounds of key derivation for the keys that have this passphrase. Default: those of `generateKey`. */
  readonly rounds?: number;
}

const DAY = 24 * 3600;

/** The passphrase of the host's keys is random: nobody guesses it, and every command would wait for more. */
const HOST_ROUNDS = 1_000;
const TOOL_REVIEWER = "tool-reviewer";

/** What owners of such a host would write; it is theirs to change. */
const POLICY: PolicyDocument = {
  version: 1,
  id: "workflows",
  profile: "standard",
  grants: [],
  approvable: [OPEN_ENGAGEMENT],
  deny: [],
  approvals: { required: 1, requester_may_approve: false },
};

/**
 * Fills a directory that does not exist yet, or is empty.
 *
 * @throws RoteError `file_exists` when something is in it, `bad_key` `bad_passphrase` `bad_source`, and as
 * `openWorkpaper`
 */
export function prepareWorkflows(directory: string, options: PrepareOptions): void {
  const { origin, passphrase, approvers, documents = WORKFLOWS, days = 365, rounds } = options;
  // What can be told to be wrong before anything is made.
  for (const { public: text } of approvers) readPublicKey(text);
  checkPassphrase(passphrase);
  makePrivate(directory);
  const now = secondsNow();
  const window = { valid_from: now, valid_to: now + days * DAY };
  const derived = rounds === undefined ? {} : { rounds };
  const hostPassphrase = toBase64Url(systemRandom.bytes(24));
  mkdirSync(join(directory, PLACES.keys), { mode: 0o700 });
  const keyOf = (name: string, secret: string, options: { readonly rounds?: number }): PrivateKey =>
    generateKey(join(directory, PLACES.keys, `${name}.key`), secret, options);
  const root = keyOf("root", passphrase, derived);
  const reviewer = keyOf(TOOL_REVIEWER, passphrase, derived);
  const journal = keyOf("journal", hostPassphrase, { rounds: HOST_ROUNDS });
  const receipt = keyOf("receipt", hostPassphrase, { rounds: HOST_ROUNDS });
  writePrivate(join(directory, PLACES.passphrase), `${hostPassphrase}\n`);

  const listed = (name: string, role: Role, text: string) => ({
    public: text,
    name,
    role,
    ...window,
  });
  const trust = newTrust(
    {
      audience: origin,
      root: { threshold: 1, keys: [publicKeyText(root)] },
      issued: now,
      expires: window.valid_to,
      add: [
        listed("journal", "journal", publicKeyText(journal)),
        listed("host", "receipt", publicKeyText(receipt)),
        listed(TOOL_REVIEWER, "tool_reviewer", publicKeyText(reviewer)),
        ...approvers.map(({ name, public: text }) => listed(name, "approver", text)),
      ],
    },
    [root],
  );
  const write = (place: string, value: unknown): void =>
    writePrivate(join(directory, place), `${JSON.stringify(value, null, 2)}\n`);
  write(PLACES.trust, trust);
  write(PLACES.policy, POLICY);
  write(PLACES.sources, copiedDocuments(directory, documents));
  write(PLACES.reviews, reviews(directory, { origin, reviewer, now, until: window.valid_to }));
  writePrivate(join(directory, PLACES.module), moduleText(directory, origin));
}

function makePrivate(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isDirectory() || readdirSync(directory).length > 0)) {
    const message = `The folder ${directory} is not empty, or is no directory.`;
    throw new RoteError("file_exists", message, { file: directory });
  }
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o700);
}

function writePrivate(file: string, content: string | Uint8Array): void {
  writeFileSync(file, content, { flag: "wx", mode: 0o600 });
}

function copiedDocuments(directory: string, workflows: readonly Workflow[]): SourceList {
  mkdirSync(join(directory, PLACES.documents), { mode: 0o700 });
  const copied = workflows.flatMap((workflow) =>
    shippedDocuments(workflow).map((name) => {
      const file = `${PLACES.documents}/${name}`;
      const bytes = readFileSync(join(RECIPES, workflow, "documents", name));
      writePrivate(join(directory, file), bytes);
      return { source: name.replace(/\.jsonl?$/, ""), file, sha256: sha256Hex(bytes) };
    }),
  );
  return {
    engagements: copied.filter(({ file }) => file.endsWith(".json")),
    evidence: copied
      .filter(({ file }) => file.endsWith(".jsonl"))
      .map((one) => ({ ...one, id: "id" })),
  };
}

interface Reviewing {
  readonly origin: string;
  readonly reviewer: PrivateKey;
  /** Seconds. */
  readonly now: number;
  readonly until: number;
}

function reviews(directory: string, { origin, reviewer, now, until }: Reviewing): JsonValue {
  const workpaper = openWorkpaper(join(directory, PLACES.workpaper), { mode: "create" });
  try {
    return toolsOver(workpaper).map(({ tool, category, fenced }) =>
      signToolReview(
        {
          type: "rote-tool-review/v1",
          audience: origin,
          name: tool.definition.name,
          definition: definitionDigest(tool.definition),
          category,
          repeatable: category === "read",
          fenced,
          reviewer: TOOL_REVIEWER,
          not_before: now,
          expires: until,
        },
        reviewer,
      ),
    );
  } finally {
    workpaper.close();
  }
}
