import { generateKey, publicKeyText } from "../../app/keys.ts";
import { newPassphrase } from "../passphrase.ts";
import type { Call, Outcome } from "../spec.ts";

/** Makes a key and keeps it in a new file, encrypted; what may be handed around is printed. */
export async function run(call: Call): Promise<Outcome> {
  const [file = ""] = call.arguments;
  const key = generateKey(file, await newPassphrase(call, file));
  const text = publicKeyText(key);
  const { id } = key.publicKey;
  return {
    exit: "verified",
    json: { file, id, public: text },
    text: `ok ${file}\n   public  ${text}\n   id      ${id}\nhint: whoever owns the trust store enrols it: rote keys enrol trust.json --add ROLE:NAME:${text} --root ROOT_KEY`,
  };
}
