// Runs the whole service on one machine: `npm start`. infra/local/README.md lists its
// settings.
import { styleText } from "node:util";
import { runCommand } from "../infra/local/command-line.ts";
import { type LocalService, startLocalService } from "../infra/local/service.ts";

await runCommand({
  usage: `npm start

Starts the whole service on this machine. Settings are environment variables, which
infra/local/README.md lists.`,
  run: start,
});

async function start() {
  const service = await startLocalService(process.env);
  let stopRequestedAt = 0;
  const stop = async () => {
    // A second signal ends the process at once. Ctrl-C sends two signals within milliseconds,
    // directly and through npm, and they count as one.
    if (stopRequestedAt && performance.now() - stopRequestedAt > 500) process.exit(1);
    if (stopRequestedAt) return;
    stopRequestedAt = performance.now();
    await service.stop();
    process.exit(0);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  if (process.env.npm_lifecycle_event) stopWithParent(stop);
  printStartMessage(service);
  // Somebody who sees the address may open it next, and the first request builds the console.
  if (process.stdout.isTTY) fetch(`${service.url}/app`).catch(() => {});
}

/** Stops the service when npm ends, because a signal to npm does not reach this process. */
function stopWithParent(stop: () => void) {
  const parent = process.ppid;
  setInterval(() => hasEnded(parent) && stop(), 200).unref();
}

/** A process that outlives its parent gets another one, except on Windows. */
function hasEnded(parent: number): boolean {
  if (process.platform !== "win32") return process.ppid !== parent;
  try {
    process.kill(parent, 0);
    return false;
  } catch {
    return true;
  }
}

function printStartMessage(service: LocalService) {
  const { url, publicUrl, sandbox, smtpAddress, aheadSeconds, sendingStop } = service;
  const api = `${sandbox ? url : publicUrl}/api/v1`;
  const line = (name: string, what: string) =>
    console.log(`  ${styleText("bold", name.padEnd(6))} ${what}`);
  const link = (address: string, why: string) =>
    `${styleText("cyan", address)}  ${styleText("dim", why)}`;
  console.log();
  line("app", link(`${sandbox ? url : publicUrl}/app`, "console, the web app"));
  line("docs", link(`${api}/docs`, "API reference"));
  if (sandbox) line("inbox", link(`${url}/_local/inbox`, "all sent mail"));
  if (sandbox) line("keys", link(`${url}/_local/sandbox`, "test credentials for each provider"));
  if (!sandbox)
    line("mail", `goes out to real recipients; its links lead to ${styleText("cyan", publicUrl)}`);
  if (smtpAddress) line("smtp", link(smtpAddress, "takes email; the password is an API key"));
  if (sendingStop) {
    line("stop", `sends nothing: this is a backup of ${sendingStop.backedUpAt}`);
    line("", `to resume: ${styleText("cyan", "npm run after-restore -- --help")}`);
  }
  if (aheadSeconds)
    line(
      "clock",
      `${Math.round(aheadSeconds / 360) / 10} hours ahead (set with POST /_local/clock)`,
    );
  line("try", `curl ${api}/auth/signup -H 'Content-Type: application/json' \\`);
  line("", `  -d '{"email":"you@example.com","password":"correct horse battery"}'`);
  console.log();
  console.log(`ready ${url}/api/v1`);
}
