// `npm run cost -- -c alarmEmail=ops@example.com`: synthesizes the stack and prints what it costs a
// month.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkContext, synthOptions } from "../infra/aws/cdk-options.ts";
import { type CostItem, idleCost, mailCost, type Resource, sum } from "../infra/aws/cost.ts";
import { runCdk } from "../infra/aws/run-cdk.ts";
import { runCommand } from "../infra/local/command-line.ts";
import { dueShards, dueWorkKinds, enrollmentShards } from "../shared/keys.ts";

const usage = `npm run cost -- [-c setting=value ...]

Prints the list price of a month: idle, and for 10,000, 100,000 and 1,000,000 mails.`;

await runCommand({
  usage,
  options: synthOptions,
  run: async ({ values: { context } }) => {
    checkContext(context, usage);
    const output = mkdtempSync(join(tmpdir(), "pennymail-cost-"));
    try {
      const status = runCdk(
        ["synth", "--quiet", "--output", output, ...process.argv.slice(2)],
        ["ignore", "ignore", "inherit"],
      );
      if (status === 0) report(resourcesIn(output));
      else process.exitCode = status;
    } finally {
      rmSync(output, { recursive: true });
    }
  },
});

function resourcesIn(folder: string): Resource[] {
  const templates = readdirSync(folder).filter((file) => file.endsWith(".template.json"));
  return templates.flatMap((file) => {
    const { Resources } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return Object.values<Resource>(Resources);
  });
}

function report(resources: Resource[]) {
  const idle = idleCost(resources, dueWorkKinds.length * dueShards + enrollmentShards);
  print("Idle, a month", idle);
  for (const mails of [10_000, 100_000, 1_000_000]) {
    const items = mailCost(mails);
    print(`${mails.toLocaleString("en")} mails a month, beyond idle`, items);
    console.log(`${"with idle".padEnd(20)} ${dollars(sum(idle) + sum(items))}`);
  }
  console.log("\nList prices of us-east-1, no free tier, without the mail provider's own price.");
}

function print(title: string, items: CostItem[]) {
  console.log(`\n${title}`);
  for (const { what, because, dollars: amount } of items)
    console.log(`${what.padEnd(20)} ${dollars(amount)}  ${because}`);
  console.log(`${"in all".padEnd(20)} ${dollars(sum(items))}`);
}

function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`.padStart(9);
}
