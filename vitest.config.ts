import { defineConfig } from "vitest/config";

const project = (name: string, more: { globalSetup?: string; setupFiles?: string; hookTimeout?: number } = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...more },
});

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/reporter.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: "100%",
    projects: [
      project("unit"),
      project("engine", { globalSetup: "./test/support/engine.ts", setupFiles: "./test/support/settings.ts" }),
      project("http", { globalSetup: "./test/support/service.ts" }),
      project("infra", { globalSetup: "./test/support/built.ts", hookTimeout: 120_000 }),
      project("browser", { globalSetup: "./test/support/browser.ts" }),
    ],
  },
});
