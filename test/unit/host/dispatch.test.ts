import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { HOST_WORDS } from "../../../src/model/operation.ts";
import type { ToolCall } from "../../../src/ports/tool.ts";
import { answered, type Told } from "./answered.ts";

const word = async (answer: (call: ToolCall) => unknown, told: Told) => {
  const { outcome, refusal } = await answered(answer, told);
  return refusal === null ? outcome : `${outcome}: ${refusal.code}`;
};

/** Ends only when it is told to stop. */
const never = ({ signal }: ToolCall) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")));
  });
const deaf = () => new Promise(() => {});

describe("an effect", () => {
  const told = { category: "effect" } as const;

  it("is done when the tool says so, with a result that is JSON", async () => {
    expect(await word(async () => ({ kind: "done", result: { id: 1 } }), told)).toBe("done");
    expect(await word(() => ({ kind: "done", result: null }), told)).toBe("done");
  });

  it("did not happen only where the tool says so itself", async () => {
    for (const kind of ["not_applied", "refused"]) {
      expect(await word(async () => ({ kind, code: "closed", message: "" }), told)).toBe(
        "failed_before_effect: closed",
      );
    }
  });

  it("is uncertain after an exception, whatever its kind: a status of 500 among them (B008)", async () => {
    const broken: readonly ((call: ToolCall) => unknown)[] = [
      () => Promise.reject(new Error("HTTP 500 after the change was made")),
      () => {
        throw new Error("at once");
      },
      () => Promise.reject(undefined),
      () => Promise.reject("a text"),
      () => Promise.reject(Object.create(null)),
      () =>
        Promise.reject(
          Object.defineProperty(new Error("x"), "message", {
            get() {
              throw new Error("not even this");
            },
          }),
        ),
    ];
    for (const one of broken) expect(await word(one, told)).toBe("uncertain: tool_threw");
  });

  it("is uncertain after an answer that says nothing known", async () => {
    const odd: readonly unknown[] = [
      undefined,
      null,
      "done",
      true,
      [],
      {},
      { kind: "ok" },
      { kind: "DONE", result: 1 },
      { result: 1 },
      new Proxy({}, {}),
    ];
    for (const answer of odd) {
      expect(await word(async () => answer, told)).toBe("uncertain: answer_malformed");
    }
    const throwing = {
      get kind() {
        throw new Error("no");
      },
    };
    expect(await word(async () => throwing, told)).toBe("uncertain: tool_threw");
  });

  it("is uncertain when its result is no JSON, since it was done and nobody knows what it gave (B083)", async () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    let deep: unknown = 1;
    for (let level = 0; level < 65; level += 1) deep = [deep];
    for (const result of [
      undefined,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      () => 1,
      Symbol("x"),
      new Date(0),
      new Map(),
      "\ud800",
      cyclic,
      deep,
      { a: undefined },
    ]) {
      expect(await word(async () => ({ kind: "done", result }), told)).toBe(
        "uncertain: result_malformed",
      );
    }
  });

  it("is uncertain when its time is over, and the tool is told", async () => {
    let signalled = false;
    const slow = ({ signal }: ToolCall) => {
      signal.addEventListener("abort", () => {
        signalled = true;
      });
      return deaf();
    };
    expect(await word(slow, { ...told, callMs: 5 })).toBe("uncertain: timeout");
    expect(signalled).toBe(true);
    expect(await word(never, { ...told, callMs: 5 })).toBe("uncertain: timeout");
  });

  it("is uncertain when it was cancelled in flight, whether the tool listens or not (B009)", async () => {
    for (const answer of [never, deaf]) {
      const cancel = new AbortController();
      const done = answered(
        (call) => {
          queueMicrotask(() => cancel.abort());
          return answer(call);
        },
        { ...told, cancel },
      );
      const { outcome, refusal } = await done;
      expect([outcome, refusal?.code]).toEqual(["uncertain", "cancelled"]);
    }
  });

  it("did not happen when it was cancelled in flight and the tool knows that nothing was sent", async () => {
    const cancel = new AbortController();
    const polite = ({ signal }: ToolCall) =>
      new Promise((resolve) => {
        const answer = { kind: "not_applied", code: "stopped", message: "nothing sent" };
        signal.addEventListener("abort", () => resolve(answer));
        queueMicrotask(() => cancel.abort());
      });
    expect(await word(polite, { ...told, cancel })).toBe("failed_before_effect: cancelled");
  });

  it("is not begun when it was cancelled before (B009)", async () => {
    const cancel = new AbortController();
    cancel.abort();
    let called = false;
    const done = await answered(
      () => {
        called = true;
        return { kind: "done", result: 1 };
      },
      { ...told, cancel },
    );
    expect([called, done.outcome, done.refusal?.code, done.started]).toEqual([
      false,
      "failed_before_effect",
      "cancelled",
      null,
    ]);
  });

  it.each(HOST_WORDS)("cannot say in the host's words that it is %s", async (code) => {
    const own = async () => ({ kind: "not_applied", code, message: "" });
    expect(await word(own, told)).toBe(`failed_before_effect: tool_${code}`);
  });
});

describe("a read", () => {
  const told = { category: "read" } as const;

  it("that breaks, answers nonsense, or takes too long has no answer, and changed nothing", async () => {
    expect(await word(() => Promise.reject(new Error("x")), told)).toBe("refused: tool_threw");
    expect(await word(deaf, { ...told, callMs: 5 })).toBe("refused: timeout");
    expect(await word(() => undefined, told)).toBe("refused: answer_malformed");
    expect(await word(() => ({ kind: "done" }), told)).toBe("refused: result_malformed");
    expect(await word(() => ({ kind: "refused", code: "not_found", message: "" }), told)).toBe(
      "refused: not_found",
    );
  });

  it("that was not made is told from one that was answered with no", async () => {
    const not = (kind: string) => word(() => ({ kind, code: "closed", message: "" }), told);
    expect(await not("refused")).toBe("refused: closed");
    expect(await not("not_applied")).toBe("failed_before_effect: closed");
  });

  it("may be tried again only where it broke without the tool's word", async () => {
    const broken = async (answer: (call: ToolCall) => unknown) =>
      (await answered(answer, told)).broken;
    expect(await broken(() => Promise.reject(new Error("x")))).toBe(true);
    expect(await broken(() => ({ kind: "refused", code: "no", message: "" }))).toBe(false);
    expect(await broken(() => ({ kind: "not_applied", code: "no", message: "" }))).toBe(false);
    expect(await broken(() => ({ kind: "done", result: undefined }))).toBe(false);
    expect(await broken(() => ({ kind: "done", result: 1 }))).toBe(false);
  });
});

describe("many calls of one run", () => {
  it("that are under way at once leave no listener on the signal that cancels them all", async () => {
    const cancel = new AbortController();
    const before = getEventListeners(cancel.signal, "abort").length;
    let most = 0;
    const calls = Array.from({ length: 50 }, () =>
      answered(
        async () => {
          await new Promise((resolve) => setImmediate(resolve));
          most = Math.max(most, getEventListeners(cancel.signal, "abort").length);
          return { kind: "done", result: 1 };
        },
        { category: "read", cancel },
      ),
    );
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(["done"]));
    expect(most).toBe(before);
  });
});
