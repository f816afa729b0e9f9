// The whole service on one machine: `npm start`. README tells its settings.
import { bold, cyan, dim } from "yoctocolors";
import { startService } from "../infra/local/service.ts";
import { Trouble } from "../infra/local/trouble.ts";

try {
  const service = await startService(process.env);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      // The same signal once more ends it at once; Ctrl-C reaches us both through npm and directly, so not too soon.
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
  const line = (name: string, what: string) => console.log(`  ${bold(name.padEnd(6))} ${what}`);
  console.log();
  line("docs", cyan(`${api}/docs`));
  if (sandbox) line("inbox", `${cyan(`${url}/_local/inbox`)}  ${dim("all mail is caught here")}`);
  if (sandbox) line("keys", `${cyan(`${url}/_local/sandbox`)}  ${dim("credentials for a sending config")}`);
  line("try", `curl ${api}/auth/signup -H 'Content-Type: application/json' \\`);
  line("", `  -d '{"email":"you@example.com","password":"correct horse battery"}'`);
  console.log();
  console.log(`ready ${api}`);
}
