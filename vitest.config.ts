import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** One project per kind of promise, so that `vitest --project property` runs just that kind. */
function project(name: string, more: TestProjectInlineConfiguration["test"] = {}) {
  return {
    extends: true as const,
    test: { name, include: [`test/${name}/**/*.test.ts`], ...more },
  };
}

export default defineConfig({
  test: {
    passWithNoTests: false,
    // A test that leaves something behind must not decide what the next one sees.
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      project("unit"),
      project("property", { testTimeout: 60_000 }),
      project("golden", { testTimeout: 30_000 }),
      project("contract", { testTimeout: 30_000 }),
      project("pins", {
        testTimeout: 60_000,
        hookTimeout: 120_000,
        globalSetup: ["test/support/build-once.ts"],
      }),
      project("types", {
        include: [],
        typecheck: {
          enabled: true,
          only: true,
          include: ["test/types/**/*.test-d.ts"],
          tsconfig: "test/types/tsconfig.json",
          spawnTimeout: 120_000,
        },
      }),
      // Child processes that start Node each time: slow machines need the room.
      project("e2e", {
        testTimeout: 120_000,
        hookTimeout: 120_000,
        globalSetup: ["test/support/build-once.ts"],
      }),
      // Hundreds of processes, one after the other. `npm run crash`; not part of `npm test`.
      project("crash", {
        testTimeout: 600_000,
        hookTimeout: 120_000,
        globalSetup: ["test/support/build-bench.ts"],
      }),
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
