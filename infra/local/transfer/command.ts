// The common part of export-all and import-all: options, the API key, progress on the terminal.
import { resolve } from "node:path";
import type { ApiTarget } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { misused, runCommand } from "../command-line.ts";
import { createProgress, type DemoProgress } from "../demo/progress.ts";
import { resolveServiceUrl } from "../listen-address.ts";

interface Command {
  usage: string;
  /** The option that names the folder or file. */
  place: "out" | "in";
  work(
    caller: ApiTarget,
    place: string,
    more: { progress: DemoProgress; site: string | undefined },
  ): Promise<void>;
}

const text = { type: "string" } as const;
const common = { url: text, key: text };
const options: Record<Command["place"], Record<string, typeof text>> = {
  out: { ...common, out: text },
  in: { ...common, in: text, site: text },
};

export const run = ({ usage, place, work }: Command): Promise<void> =>
  runCommand({
    usage,
    options: options[place],
    run: async ({ values }) => {
      const path = values[place];
      if (!path) throw misused(`The option --${place} is missing`, usage);
      const key = values.key || process.env.PENNYMAIL_API_KEY;
      if (!key)
        throw new CliError("Set PENNYMAIL_API_KEY to an API key of the organization, or add --key");
      const caller: ApiTarget = {
        url: resolveServiceUrl(values.url, process.env),
        headers: { authorization: `Bearer ${key}` },
      };
      const shown = createProgress({
        isTTY: process.stdout.isTTY,
        write: (text) => process.stdout.write(text),
      });
      // npm changes the working directory. Paths are relative to the caller's.
      await work(caller, resolve(process.env.INIT_CWD ?? "", path), {
        progress: shown,
        site: values.site,
      });
    },
  });
