// Put in front of every bundle by build.ts, so that a stack in the logs names our files and lines.
// Node's own --enable-source-maps does it too, but reads the whole bundle again at every start (8 of 45 ms); this waits for the first stack.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";

let map: SourceMap | undefined;

Error.prepareStackTrace = (error, frames) => `${error}${frames.map((frame) => `\n    at ${located(frame)}`).join("")}`;

function located(frame: NodeJS.CallSite): string {
  if (frame.getFileName() !== __filename) return String(frame);
  map ??= new SourceMap(JSON.parse(readFileSync(`${__filename}.map`, "utf8")));
  const place = map.findEntry((frame.getLineNumber() ?? 1) - 1, (frame.getColumnNumber() ?? 1) - 1);
  if (!("originalSource" in place)) return String(frame);
  return `${place.originalSource.replace(/^(\.\.\/)+/, "")}:${place.originalLine + 1}:${place.originalColumn + 1}`;
}
