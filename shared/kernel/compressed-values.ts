// Large values in items of their own, so that lists do not read them and changes of status do not
// write them again.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gunzipSync, gzip, gzipSync } from "node:zlib";
import * as objects from "../adapters/s3/objects.ts";
import type { Key } from "../keys.ts";

/** The attributes of an item with a compressed value. */
export interface CompressedValue {
  /** The gzipped JSON of a value of up to 200 KB. */
  gz?: Uint8Array;
  /** The S3 key of a larger value. */
  blob?: string;
}

const [zipInBackground, unzipInBackground] = [promisify(gzip), promisify(gunzip)];
// Handing a value to a background thread takes 0.15 ms of CPU time, and compressing a small value
// less than 0.05 ms.
const maxCharactersAtOnce = 8_000;
const maxZippedBytesAtOnce = 2_000;

const zip = async (json: string): Promise<Uint8Array> =>
  json.length <= maxCharactersAtOnce ? gzipSync(json) : zipInBackground(json);

const unzip = async (gz: Uint8Array): Promise<Buffer> =>
  gz.length <= maxZippedBytesAtOnce ? gunzipSync(gz) : unzipInBackground(gz);

// An item can have 400 KB, including its keys and other attributes.
const maxInlineBytes = 200_000;

/**
 * Returns a JSON value as attributes for the item with this key: `put(key, { ...record, ...(await
 * compress(key, value)) })`.
 * A value over 200 KB is stored in S3 before this returns, so an item never refers to a missing
 * object. If the item is not written afterwards, the object stays unused. Safe to repeat: the
 * object key contains a hash of the value. It begins with `kind`, because the lifecycle rules of
 * the bucket delete bodies and keep templates.
 */
export async function compress(
  key: Key,
  value: unknown,
  kind: "bodies" | "templates" = "bodies",
): Promise<CompressedValue> {
  const json = JSON.stringify(value);
  const gz = await zip(json);
  if (gz.length <= maxInlineBytes) return { gz };
  const hash = createHash("sha256").update(json).digest("base64url").slice(0, 22);
  const blob = `${kind}/${key.pk}/${key.sk}/${hash}.json.gz`.replaceAll("#", "/");
  await objects.put(blob, gz, "application/gzip");
  return { blob };
}

/** Returns the value. Throws if its S3 object no longer exists. */
export async function decompress<T>({ gz, blob }: CompressedValue): Promise<T> {
  const bytes = blob === undefined ? gz : await objects.get(blob);
  if (!bytes) throw new Error(`The stored body ${blob ?? ""} no longer exists`);
  return JSON.parse((await unzip(bytes)).toString("utf8")) as T;
}
