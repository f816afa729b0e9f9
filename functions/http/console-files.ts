// The console: the web app for marketers and operators. All its pages are one document; the app
// itself reads the path.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import { missing } from "../../shared/errors.ts";
import { recompressedOnce } from "../../shared/http/compression.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiReply, type ApiRequest, route } from "../../shared/http/route.ts";
import { createLruCache } from "../../shared/kernel/lru-cache.ts";
import {
  type ConsoleFile,
  consolePolicy,
  previewDocument,
  previewPolicy,
  readConsoleFile,
} from "../../shared/pages/console-files.ts";

const cachedForever = { "cache-control": "public, max-age=31536000, immutable" };
const cache = createLruCache<string | Uint8Array>(16_000_000);
const Content = z.custom<string | Uint8Array>();

/** A file of the console. Throws 404 if there is none. */
async function findFile(name: string): Promise<ConsoleFile> {
  const { consoleFolder } = config;
  if (!consoleFolder) throw missing("This installation has no console: its log says why");
  const file = await readConsoleFile(consoleFolder, name);
  if (!file) throw noFile();
  return file;
}

const noFile = () => missing("The console has no such file");

async function getDocument({ request, reply }: { request: ApiRequest; reply: ApiReply }) {
  const { bytes: stored } = await findFile("index.html");
  Object.assign(reply.headers, {
    "cache-control": "no-cache",
    "content-security-policy": consolePolicy,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "same-origin",
  });
  const key = `${config.consoleFolder} index.html`;
  return recompressedOnce({ cache, key, stored }, request, reply);
}

const pageRoute = {
  description: "Returns the document of the web app, which reads the path itself.",
  auth: "public",
  atRoot: true,
  returns: Content,
  contentType: "text/html; charset=utf-8",
  handle: getDocument,
} as const;

export const consoleFiles = routeGroup("console-files", [
  route("GET /app", "Get the console", { operationId: "getConsole", ...pageRoute }),
  route("GET /app/preview", "Get the frame of email previews", {
    operationId: "getConsolePreview",
    description:
      "Returns an empty document, which the console fills with an email. Its policy allows the " +
      "styles of emails, and no scripts.",
    auth: "public",
    atRoot: true,
    returns: z.string(),
    contentType: "text/html; charset=utf-8",
    handle: async ({ reply }) => {
      Object.assign(reply.headers, { "content-security-policy": previewPolicy });
      return previewDocument;
    },
  }),
  route("GET /app/:screen", "Get a screen of the console", {
    operationId: "getConsoleScreen",
    ...pageRoute,
  }),
  route("GET /app/:screen/:record", "Get a record's screen of the console", {
    operationId: "getConsoleRecord",
    ...pageRoute,
  }),
  route("GET /app/:screen/:record/:part", "Get a part of a record's screen of the console", {
    operationId: "getConsolePart",
    ...pageRoute,
  }),
  route("GET /app/assets/:file", "Get a file of the console", {
    operationId: "getConsoleFile",
    description: "Returns a script, a style sheet or a font that the document names.",
    auth: "public",
    atRoot: true,
    returns: Content,
    contentType: "text/javascript; charset=utf-8",
    otherContent: { "text/css": z.string(), "font/woff2": z.string() },
    handle: async ({ params: { file }, request, reply }) => {
      // Only the routes of pages give the document its policy.
      if (file.endsWith(".html")) throw noFile();
      const { bytes: stored, contentType, isCompressed } = await findFile(file);
      Object.assign(reply.headers, cachedForever, { "content-type": contentType });
      return isCompressed ? recompressedOnce({ cache, key: file, stored }, request, reply) : stored;
    },
  }),
]);
export const { handler } = consoleFiles;
