// Makes stack traces in the logs name our files and lines. infra/aws/build.ts injects it into every
// bundle. The option
// --enable-source-maps of Node reads the source map at every start, which takes 8 of 45 ms; this
// reads it with the first stack trace. It runs during error handling, so it must never throw.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname } from "node:path";

const maps = new Map<string, SourceMap>();

Error.prepareStackTrace = (error, frames) =>
  `${error}${frames.map((frame) => `\n    at ${describe(frame)}`).join("")}`;

function describe(frame: NodeJS.CallSite): string {
  try {
    return sourcePosition(frame) ?? String(frame);
  } catch {
    return String(frame);
  }
}

/**
 * Returns a text like `shared/http/dispatch.ts:12:3`. Undefined for frames of Node and of packages.
 */
function sourcePosition(frame: NodeJS.CallSite): string | undefined {
  const bundled = frame.getFileName();
  // Lazy modules are files in the same folder.
  if (!bundled || dirname(bundled) !== __dirname) return undefined;
  const line = (frame.getLineNumber() ?? 1) - 1;
  const entry = mapOf(bundled).findEntry(line, (frame.getColumnNumber() ?? 1) - 1);
  // Frames of packages have an entry whose source is undefined.
  if (!("originalSource" in entry) || !entry.originalSource) return undefined;
  const file = entry.originalSource.replace(/^(\.\.\/)+/, "");
  return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function mapOf(bundled: string): SourceMap {
  const map =
    maps.get(bundled) ?? new SourceMap(JSON.parse(readFileSync(`${bundled}.map`, "utf8")));
  maps.set(bundled, map);
  return map;
}
