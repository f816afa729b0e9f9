// The whole service on one machine: `npm start`. README tells its settings.
import { styleText } from "node:util";
import { startService } from "../infra/local/service.ts";
import { Trouble } from "../infra/local/trouble.ts";

try {
  const service = await startService(process.env);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      // Once more ends it at once; but Ctrl-C reaches us twice, directly and through npm.
      setTimeout(() => process.once(signal, () => process.exit(1)), 500).unref();
      await service.stop();
      process.exit(0);
    });
  }
  greet(service);
} catch (error) {
  console.error(error instanceof Trouble ? error.message : error);
  process.exit(1);
}

function greet({ url, sandbox }: { url: string; sandbox: boolean }) {
  const api = `${url}/api/v1`;
  const line = (name: string, what: string) => console.log(`  ${styleText("bold", name.padEnd(6))} ${what}`);
  const link = (address: string, why: string) => `${styleText("cyan", address)}  ${styleText("dim", why)}`;
  console.log();
  line("docs", link(`${api}/docs`, "the whole interface"));
  if (sandbox) line("inbox", link(`${url}/_local/inbox`, "all mail is caught here"));
  if (sandbox) line("keys", link(`${url}/_local/sandbox`, "credentials for a sending config"));
  line("try", `curl ${api}/auth/signup -H 'Content-Type: application/json' \\`);
  line("", `  -d '{"email":"you@example.com","password":"correct horse battery"}'`);
  console.log();
  console.log(`ready ${api}`);
}
