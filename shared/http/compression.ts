import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from "node:zlib";
import type { LruCache } from "../kernel/lru-cache.ts";
import type { ApiReply, ApiRequest } from "./route.ts";

/**
 * Compresses a text response with the best encoding that the client accepts (RFC 9110, section
 * 12.5.3).
 */
export function compressText(
  text: string,
  request: ApiRequest,
  reply: ApiReply,
): string | Uint8Array {
  const encoding = encodingFor(request, reply);
  return encoding ? encoders[encoding](text) : text;
}

interface CachedText {
  cache: LruCache<string | Uint8Array>;
  key: string;
  make(): Promise<string>;
}

/** Does the same for a text that is made once and cached in compressed form. */
export async function compressedOnce(
  { cache, key, make }: CachedText,
  request: ApiRequest,
  reply: ApiReply,
): Promise<string | Uint8Array> {
  const encoding = encodingFor(request, reply);
  const cacheKey = `${encoding ?? ""} ${key}`;
  const cached = cache.get(cacheKey);
  if (cached !== undefined) return cached;
  const text = await make();
  const bytes = encoding ? encoders[encoding](text) : text;
  cache.set(cacheKey, bytes, bytes.length);
  return bytes;
}

interface CompressedText extends Omit<CachedText, "make"> {
  stored: Uint8Array;
}

/** Does the same for a text that is stored compressed with brotli. */
export async function recompressedOnce(
  { stored, ...caching }: CompressedText,
  request: ApiRequest,
  reply: ApiReply,
): Promise<string | Uint8Array> {
  if (encodingFor(request, reply) === "br") return stored;
  const make = async () => brotliDecompressSync(stored).toString();
  return compressedOnce({ ...caching, make }, request, reply);
}

type Encoding = "br" | "gzip";

function encodingFor({ headers }: ApiRequest, reply: ApiReply): Encoding | undefined {
  reply.headers.vary = "Accept-Encoding";
  const accepted = new Set(
    (headers["accept-encoding"] ?? "").split(",").flatMap(acceptedEncodings),
  );
  const encoding = (["br", "gzip"] as const).find((name) => accepted.has(name));
  if (encoding) reply.headers["content-encoding"] = encoding;
  return encoding;
}

const acceptedEncodings = (offer: string): string[] => {
  const [name = "", weight = ""] = offer.split(";");
  return /q=0(\.0*)?$/.test(weight.trim()) ? [] : [name.trim().toLowerCase()];
};

// Compared to the highest quality of brotli (11), quality 5 takes 2 % of the time and gives 10 %
// more bytes.
const encoders: Record<Encoding, (text: string) => Uint8Array> = {
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (text) => gzipSync(text),
};
