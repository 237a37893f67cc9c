/**
 * The application's own module that describes its host: what a command or a server is started with.
 *
 * It is code of the application and runs with all rights of this process; nothing of a recipe, an input or an answer can
 * name it.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { RoteError } from "../base/error.ts";
import type { HostOptions } from "./create-host.ts";

export interface HostModule {
  readonly options: HostOptions;
  /** Gives back what the module opened, when it exports a `close`. */
  close(): Promise<void>;
}

/**
 * Loads the options of `createHost` from a module that exports them, or a function returning them, as `host` or as its
 * default.
 *
 * @throws RoteError `file_not_found` `host_not_loaded`, and as the module's own function
 */
export async function loadHostModule(file: string): Promise<HostModule> {
  const place = resolve(file);
  if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new RoteError("file_not_found", `host ${file} does not exist, or is no file`, { file });
  }
  const module = await imported(place, file);
  const { host, default: byDefault, close } = module;
  const given: unknown = host ?? byDefault;
  const options = isFunction(given) ? await called(given, file) : given;
  if (!isOptions(options)) throw notOptions(file, options);
  return {
    options,
    async close() {
      if (isFunction(close)) await called(close, file);
    },
  };
}

async function imported(
  place: string,
  file: string,
): Promise<{ readonly [name: string]: unknown }> {
  try {
    return (await import(pathToFileURL(place).href)) as { readonly [name: string]: unknown };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ERR_UNKNOWN_FILE_EXTENSION") {
      throw notLoaded(
        `host ${file} cannot be loaded: Node ${process.version} does not run this kind of file`,
        "compile it to JavaScript, use a Node that runs TypeScript (22.18 or later), or set NODE_OPTIONS='--import tsx'",
        error,
      );
    }
    throw told(file, error);
  }
}

function isFunction(value: unknown): value is () => unknown {
  return typeof value === "function";
}

async function called(given: () => unknown, file: string): Promise<unknown> {
  try {
    return await given();
  } catch (error) {
    throw told(file, error);
  }
}

/** What the module itself says of what is wrong is said on: it is the application's, as this command is. */
function told(file: string, error: unknown): RoteError {
  if (error instanceof RoteError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const hint = "that is what the module itself says; with ROTE_DEBUG=1 the place is told as well";
  return notLoaded(`host ${file} cannot be loaded: ${message}`, hint, error);
}

/** As far as a kind of file can be told from another; what the members say is `createHost`'s to judge. */
function isOptions(given: unknown): given is HostOptions {
  if (typeof given !== "object" || given === null) return false;
  const { directory, origin, keys, tools } = given as { readonly [name: string]: unknown };
  const stored = directory === null || typeof directory === "string";
  if (!stored || typeof origin !== "string" || !Array.isArray(tools)) return false;
  const { journal, receipt } = (keys ?? {}) as { readonly [name: string]: unknown };
  return isKey(journal) && isKey(receipt);
}

function isKey(given: unknown): boolean {
  return typeof given === "object" && given !== null && "publicKey" in given && "key" in given;
}

function notOptions(file: string, given: unknown): RoteError {
  const what =
    given === undefined
      ? "it exports neither `host` nor a default"
      : "what it exports has not the members directory, origin, keys and tools";
  return notLoaded(
    `host ${file} describes no host: ${what}`,
    "export the options of createHost, not the host: this command opens and closes it",
    undefined,
  );
}

function notLoaded(message: string, hint: string, cause: unknown): RoteError {
  return new RoteError("host_not_loaded", message, { hint }, cause);
}
