// Step 4 of a restore on AWS (infra/aws/README.md), on the table that TABLE_NAME names, with the
// AWS credentials in the environment.
import { settleRestored } from "../infra/aws/after-restore.ts";
import { CliError } from "../infra/local/cli-error.ts";
import { misused, runCommand } from "../infra/local/command-line.ts";

const usage = `npm run after-restore -- --stopped <time>

Marks mail as uncertain that the workers may have sent between the point in time of the restore
and the time at which you stopped them (ISO 8601, such as 2026-11-30T09:12:00Z). Pauses campaigns
and sequences, and skips ids.
TABLE_NAME names the restored table. infra/aws/README.md describes the whole restore.`;

await runCommand({
  usage,
  options: { stopped: { type: "string" } },
  run: async ({ values: { stopped } }) => {
    const time = Date.parse(stopped ?? "");
    if (Number.isNaN(time)) throw misused("The option --stopped needs a time", usage);
    const table = process.env.TABLE_NAME;
    if (!table) throw new CliError("Set TABLE_NAME to the name of the restored table");
    await settle(table, new Date(time).toISOString());
  },
});

async function settle(table: string, stopped: string): Promise<void> {
  const { uncertain, paused, counters } = await settleRestored(table, stopped).catch(
    (error: Error) => {
      throw new CliError(`Table ${table}: ${error.message}`);
    },
  );
  console.log(`${uncertain} mails will end as uncertain; ${counters} id counters moved on`);
  for (const one of paused) console.log(`paused: ${one}`);
}
