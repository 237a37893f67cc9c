/** A process of its own that appends to a journal: `journal-writer.ts DIRECTORY NAME COUNT`. */
import { signNote } from "../../src/base/note.ts";
import { privateKey } from "../../src/base/sign.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../src/model/memory.ts";
import { systemClock } from "../../src/os/clock.ts";
import { isOwnerDead, processOwner } from "../../src/os/owner.ts";
import { systemTimers } from "../../src/os/timers.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const [directory = "", name = "", count = "0"] = process.argv.slice(2);
const origin = "tests.example/journal";
const key = privateKey(new Uint8Array(32).fill(11));

const { journal } = openSqliteStore(directory, {
  // Writers of one store take no turns: where a commit takes long, one may be passed over again and again.
  busyTimeoutMs: 60_000,
  limits: DEFAULT_MEMORY_LIMITS,
  journal: {
    origin,
    clock: systemClock,
    timers: systemTimers,
    owner: processOwner(),
    isDead: isOwnerDead,
    sign: (text) => signNote(text, origin, key),
  },
});
const lease = await journal.claim(`run-${name}`);
if (!lease.ok) throw new Error("the chain is held");
let appended = 0;
for (let n = 0; n < Number(count); n++) {
  const entries = [{ chain: `run-${name}`, type: "model_answered", body: n }] as const;
  const result = await journal.append({ lease: lease.value, entries });
  if (result.ok) appended++;
}
await journal.close();
process.send?.({ appended });
process.disconnect?.();
