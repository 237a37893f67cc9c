/** Codes of errors about hosts, their journals, keys and tools; part of `ERROR_CODES`. */
import type { Explanation } from "./stop.ts";

export const HOST_CODES = {
  approval_refused: {
    meaning:
      "A decision does not count: it does not verify, or does not answer an open request. Nothing was used up by it.",
    todo: "`data.fault` says what is wrong; sign what the open request shows.",
  },
  bad_heads: {
    meaning: "A file that was named for tree heads has none in it.",
    todo: "Name the copy of `heads.txt` that was kept elsewhere than the store.",
  },
  bad_json: {
    meaning: "A file is not the JSON it should be.",
    todo: "Correct what the message names.",
  },
  bad_key: {
    meaning: "A key is not an Ed25519 key that can be trusted, or a text is not a key.",
    todo: "Use a key that `rote keys generate` made.",
  },
  bad_key_file: {
    meaning: "A file of a private key is not an encrypted key of ours, or others may read it.",
    todo: "Check the path, and make the file readable by its owner only.",
  },
  bad_note: {
    meaning: "A text cannot be signed as a note.",
    todo: "A note ends in a line feed and has no control characters.",
  },
  bad_passphrase: {
    meaning: "A passphrase is missing, too short, or not the one that the file was made with.",
    todo: "Give the passphrase that the key was stored under.",
  },
  bad_source: {
    meaning:
      "A file cannot be registered as evidence: not a plain file, too large, or not what was declared.",
    todo: "Correct the file or its registration.",
  },
  bad_tool: {
    meaning: "A tool is declared in a way that cannot be offered, or its server does not offer it.",
    todo: "Correct what the message names.",
  },
  entry_too_large: {
    meaning: "Something was to be written that an entry of the journal cannot hold.",
    todo: "Report it: what is large belongs into a blob.",
  },
  host_invalid: {
    meaning: "What a host was to be made of is not valid.",
    todo: "Correct what the message names.",
  },
  journal_closed: {
    meaning: "The journal was closed.",
    todo: "Open the host again.",
  },
  journal_damaged: {
    meaning: "The journal does not read back as what was written.",
    todo: "Restore it, reconcile with the targets, and find out who changed it.",
  },
  journal_failed: {
    meaning: "The journal failed while writing; what was being written is uncertain.",
    todo: "Start the process again.",
  },
  lease_lost: {
    meaning: "Another process has taken the run over; this one writes nothing more of it.",
    todo: "Resume the run where it is to go on.",
  },
  not_a_host: {
    meaning: "Something that `createHost` did not make was offered as a host.",
    todo: "Pass the host that `createHost` returned.",
  },
  other_host: {
    meaning: "A run is advanced elsewhere than where it was begun.",
    todo: "Advance it at its host, or without one if it began so.",
  },
  other_procedure: {
    meaning: "The run was started with another recipe or verifier; it stays as it is.",
    todo: "Resume it with the procedure that started it.",
  },
  receipt_uncovered: {
    meaning: "No signed tree head covers the receipt yet, so nothing proves that it is on record.",
    todo: "Export it again when its run has ended, or when the host has come to rest.",
  },
  reconciliation_refused: {
    meaning:
      "A reconciliation was not filed: it does not verify, or is not about an uncertain operation.",
    todo: "`data.fault` says what is wrong.",
  },
  restored_backup: {
    meaning: "The journal is older than a tree head that was kept outside of it.",
    todo: "Find out what was done since; reconcile with the targets before a new journal is begun.",
  },
  tool_missing: {
    meaning: "A run needs a tool that the host does not have; it stays as it is.",
    todo: "Register the tool, then resume the run.",
  },
  tool_server_unavailable: {
    meaning:
      "A server of tools could not be reached or did not introduce itself; nothing was called.",
    todo: "Start it, or correct how the host names it.",
  },
  trust_refused: {
    meaning:
      "A trust store is not valid, or does not follow from the one that the journal records.",
    todo: "`data.fault` says what is wrong.",
  },
  unknown_receipt: {
    meaning: "There is no such receipt in the journal.",
    todo: "Look at the run's receipts.",
  },
  unknown_run: {
    meaning: "There is no such run in the journal.",
    todo: "Look at `rote runs list`.",
  },
} as const satisfies Readonly<Record<string, Explanation>>;
