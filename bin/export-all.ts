// Writes the data of an organization to a folder, as JSON lines. infra/local/README.md
// describes the files.
import { formatCount } from "../infra/local/demo/progress.ts";
import { run } from "../infra/local/transfer/command.ts";
import { exportAll } from "../infra/local/transfer/export.ts";

const usage = `npm run export-all -- --out <folder> [--url http://127.0.0.1:3000] [--key <API key>]

Reads an organization's sites, topics, contacts, lists, tags, segments, templates, forms,
sequences, campaigns and suppressions through the API and writes one file of JSON lines for each.
The API key can also be in the environment variable PENNYMAIL_API_KEY. Credentials of mail providers
are never exported.`;

await run({
  usage,
  place: "out",
  work: async (caller, folder, { progress }) => {
    const { rows } = await exportAll(caller, folder, progress);
    const all = Object.values(rows).reduce((sum, n) => sum + n, 0);
    progress.finishStep(`${formatCount(all)} records in ${folder}`);
  },
});
