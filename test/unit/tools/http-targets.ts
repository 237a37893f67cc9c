import type { ServerResponse } from "node:http";
import { type HttpToolOptions, httpTool } from "../../../src/tools/http.ts";
import { type LocalTarget, localTarget, type Received, reply } from "../../support/tool-calls.ts";

export interface LocalTargets {
  /** One that answers as it is told to. */
  target(...given: Parameters<typeof localTarget>): Promise<LocalTarget>;
  /** How to close one of another make. */
  closing(close: () => Promise<void>): void;
  closeTargets(): Promise<void>;
}

/** Targets of a test, closed together. */
export function localTargets(): LocalTargets {
  const open: (() => Promise<void>)[] = [];
  return {
    async target(...given) {
      const made = await localTarget(...given);
      open.push(made.close);
      return made;
    },
    closing: (close) => void open.push(close),
    async closeTargets() {
      for (const close of open.splice(0)) await close();
    },
  };
}

export function toolFor(origin: string, change: Partial<HttpToolOptions> = {}) {
  return httpTool({
    name: "pay",
    description: "Pays",
    allow: [{ origin, methods: ["GET", "HEAD", "POST"], paths: ["/"], privateAddresses: true }],
    ...change,
  });
}

export const post = (origin: string) => ({
  method: "POST",
  url: `${origin}/pay`,
  body: { z: 1, a: "é" },
});
export const get = (origin: string) => ({ method: "GET", url: `${origin}/pay` });

export const ok = (_: Received, response: ServerResponse) => reply(response, 200, { paid: true });
