// `pennymail login` and `pennymail logout`.
import { call, createClient } from "./api-client.ts";
import { type Command, type CommandInput, textOf } from "./command.ts";
import { configPath, readConfig, readConfigFile, writeConfigFile } from "./config-file.ts";
import { CommandError } from "./exit-codes.ts";
import { openPrompt } from "./prompt.ts";
import { printable } from "./terminal.ts";

export const login: Command = {
  usage: "login [--url URL]",
  summary: "Store the URL of the service and an API key",
  description:
    "Asks for the key, or reads it from PENNYMAIL_API_KEY or the standard input. The file " +
    "with the key is readable by you only.",
  options: { url: { type: "string" } },
  optionTexts: { "--url URL": "URL of the service, such as https://mail.shop.example" },
  run: logIn,
};

interface CallerIdentity {
  user: { email: string };
  organization: { name: string };
  auth: { siteId: number | null; scopes: string[] };
}

async function logIn({ terminal, values }: CommandInput): Promise<void> {
  const prompt = openPrompt();
  try {
    const { url: known } = readConfig();
    const url = checkUrl(
      textOf(values.url) ?? known ?? (await prompt.ask("URL of the service", "--url")),
    );
    const apiKey =
      process.env.PENNYMAIL_API_KEY ?? (await prompt.askSecret("API key", "PENNYMAIL_API_KEY"));
    const client = createClient({ url, apiKey }, terminal);
    const { organization, auth } = await call<CallerIdentity>(client, "account.getCallerIdentity");
    saveCredential({ url, apiKey });
    const site = auth.siteId === null ? "" : `, site ${auth.siteId}`;
    terminal.writeError(`Logged in to ${printable(organization.name)}${site} at ${url}.\n`);
  } finally {
    prompt.close();
  }
}

/** Throws CommandError if it is no URL of a service. */
export function checkUrl(url: string): string {
  if (!/^https?:\/\/[^/\s]/.test(url))
    throw new CommandError(`${url} is no URL: give one such as https://mail.shop.example`);
  return url.replace(/(?<!\/)\/+$/, "");
}

/** Keeps the other settings, except the site, which belongs to the organization. */
export function saveCredential(credential: { url: string; apiKey: string }): void {
  const { siteId: _, ...rest } = readConfigFile();
  writeConfigFile({ ...rest, ...credential });
}

export const logout: Command = {
  usage: "logout",
  summary: "Delete the stored API key",
  run: async ({ terminal }) => {
    const { apiKey: _, ...rest } = readConfigFile();
    writeConfigFile(rest);
    terminal.writeError(`${configPath()} has no API key any more. The key itself still works.\n`);
  },
};
