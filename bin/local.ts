// The whole service on one machine: `npm start`. README tells its settings.
import { styleText } from "node:util";
import { type Service, startService } from "../infra/local/service.ts";
import { Trouble } from "../infra/local/trouble.ts";

try {
  const service = await startService(process.env);
  let askedAt = 0;
  const stop = async () => {
    // Asked once more, it ends at once. But Ctrl-C reaches us twice, directly and through npm: that is once.
    if (askedAt && performance.now() - askedAt > 500) process.exit(1);
    if (askedAt) return;
    askedAt = performance.now();
    await service.stop();
    process.exit(0);
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  if (process.env.npm_lifecycle_event) followParent(stop);
  greet(service);
} catch (error) {
  console.error(error instanceof Trouble ? error.message : error);
  process.exit(1);
}

/** A signal to npm ends npm and the shell between us, and would leave us behind. */
function followParent(stop: () => void) {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), 200).unref();
}

function greet({ url, sandbox, aheadSeconds }: Service) {
  const api = `${url}/api/v1`;
  const line = (name: string, what: string) => console.log(`  ${styleText("bold", name.padEnd(6))} ${what}`);
  const link = (address: string, why: string) => `${styleText("cyan", address)}  ${styleText("dim", why)}`;
  console.log();
  line("docs", link(`${api}/docs`, "the whole interface"));
  if (sandbox) line("inbox", link(`${url}/_local/inbox`, "all mail is caught here"));
  if (sandbox) line("keys", link(`${url}/_local/sandbox`, "credentials for a sending config"));
  if (aheadSeconds) line("clock", `${Math.round(aheadSeconds / 360) / 10} hours ahead, as it was moved`);
  line("try", `curl ${api}/auth/signup -H 'Content-Type: application/json' \\`);
  line("", `  -d '{"email":"you@example.com","password":"correct horse battery"}'`);
  console.log();
  console.log(`ready ${api}`);
}
