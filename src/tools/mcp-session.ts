/**
 * One connection to an MCP server at a time, and what the server lists over it.
 *
 * - M1 The list is read again when the server says that it changed, and before every call: what was true when the tool
 *   was judged must be true when it is called.
 * - M2 A connection that broke is opened anew before a call, never after one was sent; a call is sent once.
 */
import type { Client } from "@modelcontextprotocol/client";
import { canonicalText } from "../base/canonical.ts";
import { implementationDigest } from "./definition.ts";
import { type Listed, listed, type McpReading } from "./mcp-definition.ts";
import type { Packages, Way } from "./mcp-transport.ts";

export interface SessionOptions {
  readonly id: string;
  readonly protocol: "auto" | "legacy";
  readonly timeoutMs: number;
  readonly reading: (name: string, structured: boolean) => McpReading;
}

interface Connected {
  readonly client: Client;
  /** Who uses it now: nobody closes under them. */
  users: number;
}

export interface Used {
  readonly client: Client;
  /** To be called once, when the use is over. */
  release(this: void): void;
}

export interface Session {
  /** What the server lists now, as far as is known; a name that it lists twice is none. */
  live(this: void): ReadonlyMap<string, Listed>;
  /** A connection over which the list was read just now; it stays open until it is released. */
  current(this: void, signal: AbortSignal): Promise<Used>;
  close(this: void): Promise<void>;
}

export function sessionOf(packages: Packages, way: Way, options: SessionOptions): Session {
  const implementation = implementationDigest(way.place);
  let list: ReadonlyMap<string, Listed> = new Map();
  let open: Connected | undefined;
  let opening: Promise<Connected> | undefined;

  /** Told changes that are not read yet; one reading at a time, however often the server tells of some. */
  let changes = 0;

  async function follow(): Promise<void> {
    while (changes > 0) {
      const told = changes;
      if (open !== undefined) await read(open, undefined).catch(lost);
      changes = changes > told ? 1 : 0;
    }
  }

  async function connect(): Promise<Connected> {
    const client: Client = new packages.client.Client(
      { name: "rote", version: "1" },
      {
        versionNegotiation: { mode: options.protocol },
        // An answer that asks for more input would send the call again.
        inputRequired: { autoFulfill: false },
        listChanged: {
          tools: {
            autoRefresh: false,
            debounceMs: 0,
            onChanged: () => {
              changes += 1;
              if (changes === 1) void follow();
            },
          },
        },
      },
    );
    const connected: Connected = { client, users: 0 };
    client.onclose = () => {
      if (open === connected) open = undefined;
    };
    try {
      await client.connect(way.transport(), { timeout: options.timeoutMs });
      await read(connected, undefined);
    } catch (error) {
      await client.close();
      throw error;
    }
    open = connected;
    return connected;
  }

  async function read(connected: Connected, signal: AbortSignal | undefined): Promise<void> {
    const { client } = connected;
    const { tools } = await client.listTools(undefined, {
      cacheMode: "refresh",
      timeout: options.timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    const about = client.getServerVersion();
    const server = canonicalText([options.id, about?.name ?? null, about?.version ?? null]);
    const found = new Map<string, Listed>();
    const twice = new Set<string>();
    for (const wire of tools) {
      const one = listed(options.id, server, implementation, wire, (structured) =>
        options.reading(wire.name, structured),
      );
      if (found.has(wire.name)) twice.add(wire.name);
      else if (one !== undefined) found.set(wire.name, one);
    }
    for (const name of twice) found.delete(name);
    list = found;
  }

  function using(connected: Connected): Used {
    connected.users += 1;
    return {
      client: connected.client,
      release: () => {
        connected.users -= 1;
      },
    };
  }

  /** The next call reads the list itself. */
  function lost(): void {}

  return {
    live: () => list,
    async current(signal) {
      const before = open;
      if (before !== undefined) {
        try {
          await read(before, signal);
          return using(before);
        } catch (error) {
          if (signal.aborted || before.users > 0) throw error;
          if (open === before) open = undefined;
          await before.client.close();
        }
      }
      opening ??= connect().finally(() => {
        opening = undefined;
      });
      return using(await opening);
    },
    async close() {
      const last = open ?? (await opening?.catch(lost));
      open = undefined;
      await last?.client.close();
    },
  };
}
