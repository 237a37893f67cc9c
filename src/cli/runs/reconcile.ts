import { reconcileRun, uncertainOperation } from "../../app/reconcile-run.ts";
import { fault, usageFault } from "../fault.ts";
import { withHost } from "../host.ts";
import { openKey } from "../passphrase.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";

/** Files what somebody found out about an uncertain operation, signed with the reconciler's own key. */
export async function run(call: Call): Promise<Outcome> {
  const { options, terminal } = call;
  const [name = ""] = call.arguments;
  const keyFile = textOption(options, "key");
  const evidence = textOption(options, "evidence");
  const found = textOption(options, "found");
  if (
    keyFile === undefined ||
    evidence === undefined ||
    (found !== "done" && found !== "not_done")
  ) {
    throw usageFault(
      "a reconciliation says what was found, how, and who signs it",
      "give --found done|not_done --evidence TEXT --key FILE",
    );
  }
  return await withHost(call, async ({ host }) => {
    const operation = textOption(options, "operation") ?? uncertainOperation(host, name);
    if (found === "not_done" && !switchOption(options, "yes")) await confirm(terminal, operation);
    const key = await openKey(call, keyFile);
    const statement = await reconcileRun(host, key, { run: name, operation, found, evidence });
    const freed =
      found === "not_done" ? "\nnote: its key is free: another run may do the same deed" : "";
    return {
      exit: "verified",
      json: { reconciliation: { ...statement } },
      text: `ok ${operation} is on record as ${found}, by ${statement.reconciler}; the run stays uncertain${freed}`,
    };
  });
}

/** Found `not_done`, the deed may be done again. */
async function confirm(terminal: Call["terminal"], operation: string): Promise<void> {
  if (terminal.ask === null) {
    throw usageFault(
      "not_done lets the same deed be done again, and nobody is at the terminal to confirm it",
      "add --yes when the target was looked at",
    );
  }
  const question = `${operation} was not done, and may be done again. Type yes to sign that: `;
  if ((await terminal.ask(question, false)).trim() === "yes") return;
  throw fault("user_cancelled", "not confirmed; nothing was signed");
}
