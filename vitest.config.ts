import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** One project per kind of promise, so that `vitest --project property` runs just that kind. */
function project(name: string, more: TestProjectInlineConfiguration["test"] = {}) {
  return {
    extends: true as const,
    test: { name, include: [`test/${name}/**/*.test.ts`], ...more },
  };
}

/**
 * Files of these projects share loaded modules, which saves a third of their time. It also holds the code to keeping
 * no state in a module: what one file leaves there, the next would see.
 */
const shared = { isolate: false };

const seeded = { setupFiles: ["test/support/seed.ts"] };

const children = { globalSetup: ["test/support/children-once.ts"] };

export default defineConfig({
  test: {
    passWithNoTests: false,
    // The default leaves one core free, which is half of the machines that this has to be quick on.
    maxWorkers: "100%",
    // Only for what hangs: a short limit would be a hidden assertion about how busy the machine is.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    // A test that leaves something behind must not decide what the next one sees.
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      project("unit", { ...shared, ...seeded, ...children }),
      project("property", { ...shared, ...seeded }),
      project("golden", shared),
      project("contract", { ...shared, ...children }),
      project("pins", {
        globalSetup: ["test/support/build-once.ts"],
      }),
      project("types", {
        include: [],
        typecheck: {
          enabled: true,
          only: true,
          include: ["test/types/**/*.test-d.ts"],
          tsconfig: "test/types/tsconfig.json",
          spawnTimeout: 600_000,
        },
      }),
      // The built command is loaded by Node itself, as a user's is, and once for all files of a worker.
      project("e2e", {
        ...shared,
        globalSetup: ["test/support/build-once.ts"],
        server: { deps: { external: [/\/dist\//] } },
      }),
      // Hundreds of processes, one after the other. `npm run crash`; not part of `npm test`.
      project("crash", {
        testTimeout: 1_800_000,
        ...children,
      }),
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
