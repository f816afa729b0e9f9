import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { lacking } from "./infra/local/dynamodb-local.ts";

const project = (name: string, more: TestProjectInlineConfiguration["test"] = {}, folders = name) => ({
  extends: true as const,
  test: { name, include: [`test/${folders}/**/*.test.ts`], ...more },
});

const engine = { globalSetup: "./test/support/engine.ts", setupFiles: "./test/support/settings.ts" };

/** They start engines of their own, or count request units, of which Amazon's takes others in transactions. */
const never = ["engines", "work", "sending-units"];
/** They take long, as they wait, die, hash or count in masses: `npm run test:dynamodb` has them all. */
const long = [
  ...[
    "accounts",
    "mfa",
    "validations",
    "inbound-outages",
    "segments",
    "segment-rules",
    "imports",
    "exports",
    "insight",
    "insight-agreement",
  ],
  ...["contact-upserts", "contact-pages", "contact-erasure", "suppressions", "secure-messages", "events-first", "event-races"],
  ...["sending-configs", "sending-mail", "sending-deaths", "sending-lanes", "sending-pace", "marketing-mail", "faults"],
  ...["campaigns", "campaign-deaths", "sequences-deaths", "sequence-fairness"],
  ...["webhooks-breaker", "webhooks-retries", "webhooks-deaths"],
];

/** The engine tests once more, on Amazon's DynamoDB Local and when all others are done; where it is not, they are left out. */
function dynamoDb() {
  const missing = lacking();
  if (missing && !process.argv.includes("--project")) console.log(`dynamodb tests skipped: ${missing}`);
  if (missing) return [];
  const left = process.env.EVERY_FILE ? never : [...never, ...long];
  const exclude = left.map((name) => `test/engine/${name}.test.ts`);
  const more = { ...engine, globalSetup: "./test/support/dynamodb.ts", exclude, sequence: { groupOrder: 1 } };
  return [project("dynamodb", more, "{dynamodb,engine}")];
}

export default defineConfig({
  test: {
    reporters: ["default", "./test/support/reporter.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: "100%",
    projects: [
      project("unit"),
      project("engine", engine),
      project("http", { globalSetup: "./test/support/service.ts" }),
      project("infra", { globalSetup: "./test/support/built.ts", hookTimeout: 120_000 }),
      project("browser", { globalSetup: "./test/support/browser.ts" }),
      ...dynamoDb(),
    ],
  },
});
