/** The host of a command: the application's module, opened for as long as the command works with it. */
import type { HostModule } from "../app/host-module.ts";
import { quoted } from "../base/quoted.ts";
import type { Host } from "../host/index.ts";
import { usageFault } from "./fault.ts";
import { type Call, textOption } from "./spec.ts";

export interface OpenHost {
  readonly host: Host;
  /** As a shell takes it: what further command lines name it by. */
  readonly file: string;
  /** False for a host whose journal ends with this process. */
  readonly stored: boolean;
}

/** The host that --host names. @throws RoteError `bad_usage` when it names none, and as `createHost` */
export async function withHost<T>(call: Call, work: (open: OpenHost) => Promise<T>): Promise<T> {
  const file = textOption(call.options, "host");
  if (file === undefined) {
    throw usageFault(`rote ${call.command} works at a host`, "name its module with --host FILE");
  }
  // Loaded only where a host is named: most of what it is made of is needed nowhere else.
  const [{ createHost }, { loadHostModule }] = await Promise.all([
    import("../app/create-host.ts"),
    import("../app/host-module.ts"),
  ]);
  const module = await loadHostModule(file);
  return await closing(module, async () => {
    const host = await createHost(module.options);
    const stored = module.options.directory !== null;
    return await closing(host, () => work({ host, file: quoted(file), stored }));
  });
}

/** What went wrong first is what is told: a failure to close says little beside it. */
export async function closing<T>(
  what: Pick<HostModule, "close">,
  work: () => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await what.close().catch(() => undefined);
    throw error;
  }
  await what.close();
  return result;
}
