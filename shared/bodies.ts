// Big values, kept apart from the records they belong to: a list never reads them, a status change never writes them again.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as blobs from "./doors/blobs.ts";
import type { Address } from "./keys.ts";

/** Attributes of an item that holds a packed value: the value itself, or where it lies. */
export interface Packed {
  gz?: Uint8Array;
  /** Key of a blob, for what is too big for an item. */
  blob?: string;
}

const [zip, unzip] = [promisify(gzip), promisify(gunzip)];
// An item may have 400 KB, with its keys and whatever stands beside the body.
const maxItemBytes = 200_000;

/**
 * A JSON value as attributes for the item at `address`: `put(address, { ...record, ...(await packed(address, value)) })`.
 * Over 200 KB compressed it is stored as a blob before this returns, so an item never points at nothing; a write that is then not
 * made leaves a blob that nobody points at. Safe to repeat: the same value at the same address is the same blob, another value
 * another blob. The blob's key begins with `kind`, by which the bucket lets them expire: templates stay.
 */
export async function packed(address: Address, value: unknown, kind: "bodies" | "templates" = "bodies"): Promise<Packed> {
  const json = JSON.stringify(value);
  const gz = await zip(json);
  if (gz.length <= maxItemBytes) return { gz };
  const hash = createHash("sha256").update(json).digest("base64url").slice(0, 22);
  const blob = `${kind}/${address.pk}/${address.sk}/${hash}.json.gz`.replaceAll("#", "/");
  await blobs.put(blob, gz, "application/gzip");
  return { blob };
}

/** The value that was packed. Throws when its blob is gone. */
export async function unpacked<T>({ gz, blob }: Packed): Promise<T> {
  const bytes = blob === undefined ? gz : await blobs.get(blob);
  if (!bytes) throw new Error(`The body ${blob ?? ""} is gone`);
  return JSON.parse((await unzip(bytes)).toString("utf8")) as T;
}

/** Takes away what lies outside the item, for when the item itself is removed. */
export async function discard({ blob }: Packed): Promise<void> {
  if (blob !== undefined) await blobs.remove(blob);
}
