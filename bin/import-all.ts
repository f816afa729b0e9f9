// Reads an export of `npm run export-all` into another installation, or a CSV file of contacts.
import { statSync } from "node:fs";
import { CliError } from "../infra/local/cli-error.ts";
import { run } from "../infra/local/transfer/command.ts";
import { importContactFile } from "../infra/local/transfer/contact-file.ts";
import { importAll } from "../infra/local/transfer/import.ts";

const usage = `npm run import-all -- --in <folder or file.csv> [--url http://127.0.0.1:3000]
  [--key <API key>] [--site <id>]

Imports a folder of npm run export-all into the organization of the API key (or PENNYMAIL_API_KEY).
Updates records with the same site and name, so you can run it again. Also imports a CSV file of
contacts, such as an export of Mailchimp or listmonk, into the site of --site.`;

await run({
  usage,
  place: "in",
  work: async (caller, path, { progress, site }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) throw new CliError(`${path} does not exist`);
    if (found.isFile()) {
      await importContactFile(caller, {
        file: path,
        siteId: site ? Number(site) : undefined,
        progress,
      });
      return;
    }
    const { created, updated, notes } = await importAll(caller, path, progress);
    const sum = (counts: Record<string, number>) =>
      Object.values(counts).reduce((all, n) => all + n, 0);
    progress.finishStep(`${sum(created)} created, ${sum(updated)} updated`);
    for (const note of notes) console.log(`  ${note}`);
  },
});
