// Copies the data of a service on this machine, running or stopped.
import { resolve } from "node:path";
import { backUp } from "../infra/local/backup.ts";
import { runCommand } from "../infra/local/command-line.ts";

await runCommand({
  usage: `npm run backup -- <new folder>

Copies the DATA_DIR of a service, running or stopped, into a new folder. To restore, start a service
with that folder, or a copy of it, as its DATA_DIR. The copy contains the encryption key: keep it as
safe as the original.`,
  words: [1, 1],
  run: async ({ words: [folder] }) => {
    // npm changes the working directory. Paths are relative to the caller's.
    const target = resolve(process.env.INIT_CWD ?? "", folder!);
    const { files, bytes } = await backUp(resolve(process.env.DATA_DIR || ".data"), target);
    console.log(`Copied ${files} files, ${(bytes / 1e6).toFixed(1)} MB, to ${target}`);
  },
});
