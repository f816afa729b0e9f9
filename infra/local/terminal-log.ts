// Prints log entries for people: one coloured line per request and provider call.
import { styleText } from "node:util";
import { now } from "../../shared/clock.ts";
import type { LogEntry, LogFields } from "../../shared/kernel/log.ts";

type Style = Parameters<typeof styleText>[0];

/** Info entries that only server logs need. */
const hiddenMessages = new Set(["message", "tick"]);

/** Undefined for a hidden entry. */
function formatEntry(entry: LogEntry): string | undefined {
  if (entry.level === "info" && hiddenMessages.has(entry.message)) return undefined;
  const time = styleText("dim", now().toISOString().slice(11, 19));
  const text = (lines[entry.message] ?? formatOther)(entry);
  return `${time} ${text}${entry.error ? `\n${entry.error.stack}` : ""}`;
}

const lines: Record<string, (entry: LogEntry) => string> = {
  request: ({ facts: { route = "", method, status = 0, milliseconds, code, requestId } }) => {
    const [routeMethod = "", routePath = "(no such path)"] = String(route).split(" ");
    const path = routePath.replace("{proxy+}", "...");
    const failed = Number(status) >= 400;
    return [
      styleText("bold", String(method ?? routeMethod).padEnd(6)),
      path,
      styleText(styleOfStatus(Number(status)), String(status)),
      styleText("dim", `${milliseconds} ms`),
      ...(failed && code
        ? [styleText("yellow", String(code)), styleText("dim", String(requestId))]
        : []),
    ].join(" ");
  },
  "provider call": ({ facts: { provider, ...facts } }) =>
    `${styleText("cyan", "mail".padEnd(6))} ${provider}: ${outcomes
      .filter(({ name }) => facts[name])
      .map(({ name, style }) => styleText(style, `${facts[name]} ${name}`))
      .join(", ")}`,
};

const outcomes: { name: string; style: Style }[] = [
  { name: "accepted", style: "green" },
  { name: "refused", style: "red" },
  { name: "uncertain", style: "yellow" },
  { name: "held", style: "yellow" },
];

function styleOfStatus(status: number): Style {
  if (status >= 500) return "red";
  return status >= 400 ? "yellow" : "green";
}

const styles: Record<LogEntry["level"], Style> = { info: "dim", warn: "yellow", error: "red" };

const formatOther = ({ level, message, facts }: LogEntry): string =>
  `${styleText(styles[level], level.padEnd(6))} ${message} ` +
  `${styleText("dim", formatFields(facts))}`;

const formatFields = (facts: LogFields): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

/** In ascending order. */
const levels = ["DEBUG", "INFO", "WARN", "ERROR", "SILENT"];

/** Prints entries of LOG_LEVEL and above. */
export function printEntry(entry: LogEntry, stream: NodeJS.WriteStream, logLevel: string): void {
  if (levels.indexOf(entry.level.toUpperCase()) < levels.indexOf(logLevel.toUpperCase())) return;
  const line = formatEntry(entry);
  if (line) stream.write(`${line}\n`);
}
