import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { missingRequirement } from "./infra/local/engines/dynamodb-local.ts";
import { EvenLoad } from "./test/support/even-load.ts";

const journey = (name: string): string => `test/browser/journeys/${name}.test.ts`;

/**
 * `npm test` leaves these files out: together they take longer than all others. `npm run test:all`
 * runs every file, and so does a file name on the command line (`npm test -- planted-faults`).
 */
const slowFiles = [
  // Every fault that is planted in the service, 30 seeds and a shortest story: smoke.test.ts plays a
  // few seeds. Every state of a model.
  "test/simulation/planted-faults.test.ts",
  "test/simulation/shrink.test.ts",
  "test/simulation/simulation.test.ts",
  "test/simulation/table.test.ts",
  "test/unit/hand-over-model.test.ts",
  // Every regular expression of the source, with texts that are made to be slow.
  "test/unit/regular-expressions.test.ts",
  // Long histories, and what they cost. The other crash tests of npm test crash at a few points.
  "test/engine/accepted-sends.test.ts",
  "test/engine/campaign-crashes.test.ts",
  "test/engine/campaign-failover.test.ts",
  "test/engine/campaign-request-units.test.ts",
  "test/engine/conflicts.test.ts",
  "test/engine/contact-actions.test.ts",
  "test/engine/contact-mail-counts.test.ts",
  "test/engine/contact-paging.test.ts",
  "test/engine/contention.test.ts",
  "test/engine/cursors.test.ts",
  "test/engine/end-to-end-faults.test.ts",
  "test/engine/engine-download.test.ts",
  "test/engine/field-stories.test.ts",
  "test/engine/list-totals.test.ts",
  "test/engine/local-time.test.ts",
  "test/engine/provider-answers.test.ts",
  "test/engine/recipient-index.test.ts",
  "test/engine/record-events.test.ts",
  "test/engine/restore.test.ts",
  "test/engine/sending-lanes.test.ts",
  "test/engine/sequence-waits.test.ts",
  "test/engine/sweep-windows.test.ts",
  "test/engine/topics.test.ts",
  "test/engine/translated-campaign-units.test.ts",
  "test/engine/webhook-circuit-breaker.test.ts",
  // They start services of their own, kill them, flood them, and restore backups.
  "test/http/backup.test.ts",
  "test/http/campaign-kills.test.ts",
  "test/http/hostile-input.test.ts",
  "test/http/local-ports.test.ts",
  "test/http/local-service.test.ts",
  "test/http/smtp-endpoint.test.ts",
  "test/http/soak.test.ts",
  // Every provider, every list, and waits for limits.
  "test/http/exports.test.ts",
  "test/http/provider-webhooks.test.ts",
  "test/http/rate-limit.test.ts",
  // Every example, every guide, and each client as a customer runs it.
  "test/http/cli.test.ts",
  "test/http/demo.test.ts",
  "test/http/export-all.test.ts",
  "test/http/guides.test.ts",
  "test/http/mcp.test.ts",
  "test/http/openapi-examples.test.ts",
  "test/http/readme-first-send.test.ts",
  "test/http/sdk.test.ts",
  "test/http/templates.test.ts",
  "test/http/typed-client.test.ts",
  // Every size, permission and limit of the deployment. The bundles are loaded in npm test.
  "test/infra/console-size.test.ts",
  "test/infra/deployed-bundles.test.ts",
  "test/infra/iam-permissions.test.ts",
  "test/infra/stack-limits.test.ts",
  "test/infra/stack.test.ts",
  // Long walks in the browser, and every page in every form.
  "test/browser/account-pages.test.ts",
  "test/browser/api-reference.test.ts",
  "test/browser/console-audience.test.ts",
  "test/browser/console-everywhere.test.ts",
  "test/browser/console-imports.test.ts",
  "test/browser/console-journeys.test.ts",
  "test/browser/console-campaigns.test.ts",
  "test/browser/console-mail.test.ts",
  "test/browser/console-german.test.ts",
  "test/browser/console-recurring.test.ts",
  "test/browser/console-brand.test.ts",
  "test/browser/console-languages.test.ts",
  "test/browser/console-pictures.test.ts",
  "test/browser/console-postmaster.test.ts",
  "test/browser/console-recurring.test.ts",
  "test/browser/console-reports.test.ts",
  "test/browser/console-sequences.test.ts",
  "test/browser/console-settings.test.ts",
  "test/browser/console-snippets.test.ts",
  "test/browser/console-visual.test.ts",
  "test/browser/forms.test.ts",
  "test/browser/guides.test.ts",
  "test/browser/sandbox-inbox.test.ts",
  "test/browser/secure-messages.test.ts",
  "test/browser/unsubscribe-pages.test.ts",
  "test/browser/playbook-emails.test.ts",
  // What people want from the console, from the first press to the last.
  ...["colleague", "first-campaign", "first-run", "form", "import", "missing-email"].map(journey),
  ...["second-campaign", "segment", "template", "welcome"].map(journey),
];

const root = import.meta.dirname;
const isNamed = (name: string): boolean => process.argv.includes(name);

/** What a run takes: `vitest run --mode <name>`. */
const extents = {
  /** `npm test`: always the same sample, so that the same commit gives the same result. */
  test: {
    everything: false,
    drawsSeed: false,
    title: "a sample: npm run test:all runs everything",
  },
  /** `npm run test:all` */
  all: { everything: true, drawsSeed: true, title: "everything" },
  /** `npm run test:rest`: the slow files, and another sample in each file that takes one. */
  rest: { everything: false, drawsSeed: true, title: "what npm test left out, another sample" },
};
type Extent = keyof typeof extents;

/** The workers inherit what test/support/extent.ts reads. */
function setExtent(extent: Extent): void {
  const { everything, drawsSeed, title } = extents[extent];
  process.env.SEED ||= drawsSeed ? String(Math.floor(Math.random() * 1e6)) : "1";
  process.env.TEST_EVERYTHING = everything ? "1" : "";
  console.log(`SEED=${process.env.SEED} (${title})`);
}

function listExcluded(extent: Extent): string[] {
  for (const file of slowFiles)
    if (!existsSync(join(root, file))) throw new Error(`There is no ${file} any more`);
  if (extent === "all") return [];
  const excluded = extent === "test" ? slowFiles : listFilesWithoutSample();
  const named = process.argv.slice(2).map((argument) => basename(argument, ".test.ts"));
  return excluded.filter((file) => !named.includes(basename(file, ".test.ts")));
}

/** Files that do the same in each run, except for the slow ones. */
function listFilesWithoutSample(): string[] {
  const takesSample = /support\/(crash-injection|extent|fast-check|seeded-random)\.ts"/;
  return globSync("test/**/*.test.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !slowFiles.includes(file))
    .filter((file) => !takesSample.test(readFileSync(join(root, file), "utf8")));
}

const project = (name: string, more: TestProjectInlineConfiguration["test"] = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...more },
});

/** Files run one after the other in one process, which loads the modules once. */
const sharedProcess = { isolate: false, setupFiles: "./test/support/setup/fresh-state.ts" };

/** The same for files that must not see what modules remember of earlier files. */
const freshModules = {
  isolate: false,
  setupFiles: ["./test/support/setup/fresh-modules.ts", "./test/support/setup/fresh-state.ts"],
};

const engine = {
  ...freshModules,
  globalSetup: "./test/support/setup/engines.ts",
  setupFiles: [...freshModules.setupFiles, "./test/support/setup/environment.ts"],
};

/**
 * They start a service in their own process. Its clients keep the addresses of the first one, so
 * each file has fresh modules.
 */
const withOwnService = globSync("test/http/*.test.ts", { cwd: root })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) =>
    /\b(startLocalService|startNewsletterService)\b/.test(readFileSync(join(root, file), "utf8")),
  );

// Services and workers start in half the time when their modules are compiled already.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules/.cache/compiled");

// The time zone of Lambda and of `npm start`.
process.env.TZ = "UTC";

/**
 * They start engines of their own, or count request units: Amazon's counts others in transactions.
 */
const embeddedEngineOnly = [
  "engine-download",
  "local-engines",
  "local-runner",
  "sending-request-units",
];
/**
 * Enough to compare the embedded engine with Amazon's: conditions, transactions, indexes, pages and
 * leases.
 */
const comparing = ["contention", "cursors", "due-work", "idempotency", "leases", "references"];

/**
 * Engine tests on Amazon's DynamoDB Local, after all others. `npm test` leaves them out, and each
 * other run where it is not installed.
 */
function dynamoDb(extent: Extent) {
  if (extent === "test" && !isNamed("dynamodb")) return [];
  const missing = missingRequirement();
  if (missing) {
    console.log(`dynamodb tests skipped: ${missing}`);
    return [];
  }
  const files = extents[extent].everything ? "*" : `{${comparing}}`;
  return [
    project("dynamodb", {
      ...engine,
      globalSetup: "./test/support/dynamodb.ts",
      include: ["test/dynamodb/*.test.ts", `test/engine/${files}.test.ts`],
      exclude: embeddedEngineOnly.map((name) => `test/engine/${name}.test.ts`),
      sequence: { groupOrder: 1 },
    }),
  ];
}

/**
 * Only their own scripts run them: they need Python or buildah, or download tools. Their runner has
 * a time limit of its own.
 */
const onRequest = [
  // Its image is built in a hook.
  project("container", { hookTimeout: 1_800_000 }),
  project("deploy", { testTimeout: 1_800_000 }),
  project("fuzz", { testTimeout: 0 }),
  project("n8n"),
  project("generators", { globalSetup: "./test/support/setup/service.ts" }),
].filter(({ test: { name } }) => isNamed(String(name)));

export default defineConfig(({ mode }) => {
  // knip loads this file in a mode of its own.
  const extent = mode in extents ? (mode as Extent) : "test";
  setExtent(extent);
  const exclude = listExcluded(extent);
  return {
    test: {
      reporters: ["default", "./test/support/reporter.ts"],
      // These limits end what hangs. They are so high that a busy machine never reaches them.
      testTimeout: extents[extent].everything ? 1_800_000 : 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 120_000 } },
      // Tests wait for services, engines and browsers, which are processes of their own. Two cores
      // are busy with two files.
      maxWorkers: availableParallelism() < 4 ? 2 : availableParallelism() + 1,
      sequence: { sequencer: EvenLoad },
      projects: [
        project("unit", { ...sharedProcess, exclude }),
        project("engine", { ...engine, exclude }),
        project("http", {
          ...sharedProcess,
          exclude: [...exclude, ...withOwnService],
          globalSetup: "./test/support/setup/service.ts",
        }),
        project("own-service", { ...freshModules, include: withOwnService, exclude }),
        project("infra", { exclude, globalSetup: "./test/support/setup/bundles.ts" }),
        project("simulation", { exclude }),
        project("browser", {
          ...sharedProcess,
          exclude,
          globalSetup: "./test/support/setup/browser.ts",
        }),
        ...dynamoDb(extent),
        ...onRequest,
      ],
    },
  };
});
