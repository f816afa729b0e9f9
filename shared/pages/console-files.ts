// The files of the console, as infra/console/build.ts writes them: text is compressed with brotli.
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** Scripts, styles, fonts and calls come from this host only. Emails show images of any host. */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** Emails have styles of their own, which the policy of the console forbids. */
export const previewPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https: data:; " +
  "frame-ancestors 'self'";
export const previewDocument =
  '<!doctype html><html lang="en"><head><title>Email preview</title></head><body></body></html>';

/** Content types by extension. All but fonts are stored compressed. */
const contentTypes: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export interface ConsoleFile {
  contentType: string;
  bytes: Uint8Array;
  isCompressed: boolean;
}

/** Undefined if the console has no such file. `name` is a plain name, without a path. */
export async function readConsoleFile(
  folder: string,
  name: string,
): Promise<ConsoleFile | undefined> {
  const contentType = contentTypes[extname(name)];
  if (!contentType || !/^[\w-]+\.\w+$/.test(name)) return undefined;
  const isCompressed = contentType !== contentTypes[".woff2"];
  const path = join(folder, isCompressed ? `${name}.br` : name);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return bytes && { contentType, bytes, isCompressed };
}
