// Resumes sending after a restore: of a backup of DATA_DIR, in the running service, or on AWS (step
// 4 in infra/aws/README.md) in the table that TABLE_NAME names, with the AWS credentials in the
// environment.
import { resolve } from "node:path";
import { type Settled, settleRestored } from "../infra/aws/after-restore.ts";
import { CliError } from "../infra/local/cli-error.ts";
import { misused, runCommand } from "../infra/local/command-line.ts";
import { askOperatorSocket } from "../infra/local/operator-socket.ts";

const usage = `npm run after-restore -- [--stopped <time> | --nothing-sent]

On one machine: a service whose DATA_DIR is a restored backup sends nothing until this command. It
marks mail as uncertain that may have gone out after the backup, pauses campaigns and sequences, and
resumes sending. Run it while the service runs, with the same DATA_DIR.
  --stopped       when the service that was backed up stopped (ISO 8601, such as
                  2026-11-30T09:12:00Z). Default: the first start with the backup
  --nothing-sent  only resumes: that service was stopped before the backup, so everything in the
                  backup is still to be sent

On AWS: TABLE_NAME names the restored table, and --stopped is the time at which you stopped the
workers. Marks and pauses in the same way, and skips ids. infra/aws/README.md describes the whole
restore.`;

await runCommand({
  usage,
  options: { stopped: { type: "string" }, "nothing-sent": { type: "boolean" } },
  run: async ({ values: { stopped, "nothing-sent": nothingSent } }) => {
    if (stopped !== undefined && (nothingSent || Number.isNaN(Date.parse(stopped))))
      throw misused("The option --stopped needs a time, and excludes --nothing-sent", usage);
    const time = stopped === undefined ? undefined : new Date(stopped).toISOString();
    const table = process.env.TABLE_NAME;
    const { uncertain, paused, counters } = table
      ? await settleOnAws(table, time)
      : await resumeOnThisMachine({ stopped: time, nothingSent });
    if (nothingSent) return console.log("The service sends again");
    console.log(`${uncertain} mails will end as uncertain; ${counters} id counters moved on`);
    for (const one of paused) console.log(`paused: ${one}`);
    if (!table) console.log("The service sends again. Resume what is paused in the console");
  },
});

async function settleOnAws(table: string, stopped: string | undefined): Promise<Settled> {
  if (!stopped) throw misused("The option --stopped needs a time", usage);
  return settleRestored(table, stopped).catch((error: Error) => {
    throw new CliError(`Table ${table}: ${error.message}`);
  });
}

async function resumeOnThisMachine(request: object): Promise<Settled> {
  const folder = resolve(process.env.DATA_DIR || ".data");
  const answer = await askOperatorSocket(
    resolve(folder, "control.sock"),
    "/after-restore",
    request,
  );
  if (!answer)
    throw new CliError(
      `No service runs on the folder ${folder} (DATA_DIR): start it first. On AWS, set ` +
        "TABLE_NAME to the name of the restored table",
    );
  return answer.data as Settled;
}
