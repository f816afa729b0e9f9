// `pennymail open`: opens a page of the service in the browser.
import { spawn } from "node:child_process";
import type { Command, CommandInput } from "./command.ts";
import { notLoggedIn, readConfig } from "./config-file.ts";
import { CommandError } from "./exit-codes.ts";

const pages: Record<string, string> = { home: "/", docs: "/api/v1/docs", inbox: "/_local/inbox" };

export const open: Command = {
  usage: "open [PAGE]",
  summary: "Open a page of the service in the browser",
  description: `PAGE is ${Object.keys(pages).join(", ")}, or a path. Prints the URL.`,
  optionTexts: {},
  words: [0, 1],
  run: async ({ terminal, words: [page = "home"] }: CommandInput) => {
    const { url } = readConfig();
    if (!url) throw notLoggedIn("URL of a service");
    const path = page.startsWith("/") ? page : pages[page];
    if (!path)
      throw new CommandError(`PAGE must be ${Object.keys(pages).join(", ")}, or a path: ${page}`);
    const address = new URL(path, url).href;
    terminal.write(`${address}\n`);
    openBrowser(address);
  },
};

const browsers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** With the program in BROWSER, else with that of the system. Without one, nothing happens. */
function openBrowser(address: string): void {
  const { BROWSER } = process.env;
  const [command, ...args] = BROWSER ? [BROWSER] : (browsers[process.platform] ?? ["xdg-open"]);
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.once("error", () => {});
  child.unref();
}
