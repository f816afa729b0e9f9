// Attachments of a mail: taken from the request or from an upload, kept as blobs until the mail is handed over.
import { createHash } from "node:crypto";
import type { Caller } from "../../caller.ts";
import { after, epochSeconds } from "../../clock.ts";
import * as blobs from "../../doors/blobs.ts";
import { get, put, write } from "../../doors/table.ts";
import { invalid, missing, overLimit } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import type { Attachment } from "../../providers/provider.ts";
import type { AttachmentInput } from "./message.ts";

export const maxFileBytes = 10 * 1024 * 1024;
const maxTotalBytes = 25 * 1024 * 1024;
export const maxImportBytes = 1024 ** 3;
const uploadSeconds = 3600;
// A large file takes its time to arrive.
const keptSeconds = { attachment: uploadSeconds, import: 24 * 3600 };
type Purpose = keyof typeof keptSeconds;

/** An attachment of accepted mail: `blob` holds its bytes. */
export interface StoredAttachment {
  filename: string;
  type: string;
  size: number;
  blob: string;
}

export interface Upload {
  filename: string;
  type: string;
  size: number;
  blob: string;
  expires: number;
}

interface NewUpload {
  filename: string;
  type: string;
  size: number;
  purpose?: Purpose;
}

/** A place to PUT one file, for files that are too big for the request; good for an hour. */
export async function prepareUpload({ orgId }: Caller, { filename, type, size, purpose = "attachment" }: NewUpload) {
  const uploadId = ids.randomText(32);
  const blob = `uploads/${orgId}/${uploadId}`;
  const upload: Upload = { filename, type, size, blob, expires: epochSeconds() + keptSeconds[purpose] };
  await write(put(keys.upload(orgId, uploadId), upload));
  const uploadUrl = await blobs.uploadUrl(blob, type, size, uploadSeconds);
  return { uploadId, uploadUrl, expiresAt: after(uploadSeconds).toISOString() };
}

interface File {
  filename: string;
  type: string;
  size: number;
  bytes?: Buffer;
  upload?: Upload;
}

/** Checks all and stores nothing: 400 when a file is not base64, too big, or not uploaded. */
export async function checked(orgId: number, inputs: AttachmentInput[]): Promise<File[]> {
  const files = await Promise.all(inputs.map((input, i) => (input.content === undefined ? uploaded(orgId, input, i) : inline(input, i))));
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > maxTotalBytes) throw overLimit("attachments", "attachments may have at most 25 MB together");
  return files;
}

function inline({ filename, type, content = "" }: AttachmentInput, i: number): File {
  const path = `attachments.${i}.content`;
  const text = content.replace(/\s+/g, "");
  if (text.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw invalid(`${path} is not base64`, { details: [{ path, message: "is not base64" }] });
  const bytes = Buffer.from(text, "base64");
  return { filename, type: type ?? "application/octet-stream", size: fits(bytes.length, path), bytes };
}

async function uploaded(orgId: number, { filename, type, uploadId = "" }: AttachmentInput, i: number): Promise<File> {
  const path = `attachments.${i}.uploadId`;
  const upload = await get<Upload>(keys.upload(orgId, uploadId));
  const size = upload && upload.expires > epochSeconds() ? await blobs.sizeOf(upload.blob) : undefined;
  if (!upload || size === undefined)
    throw invalid(`${path} names no finished upload`, { details: [{ path, message: "names no finished upload" }] });
  return { filename, type: type ?? upload.type, size: fits(size, path), upload };
}

function fits(size: number, path: string): number {
  if (size > maxFileBytes) throw overLimit(path, `${path}: a file may have at most 10 MB`);
  return size;
}

/** Safe to repeat: the same bytes are the same blob. */
export const store = (orgId: number, files: File[]): Promise<StoredAttachment[]> =>
  Promise.all(
    files.map(async ({ filename, type, size, bytes, upload }) => {
      const name = bytes ? createHash("sha256").update(bytes).digest("hex") : upload!.blob.replaceAll("/", "-");
      const blob = `attachments/${orgId}/${name}`;
      await (bytes ? blobs.put(blob, bytes, type) : blobs.copy(upload!.blob, blob));
      return { filename, type, size, blob };
    }),
  );

// A worker may have 25 mails in hand, and each of them 25 MB; on its way a file is held several times over.
const mostHeldBytes = 60 * 1024 * 1024;
let heldBytes = 0;

/** Room in this process for these files, to be given back; undefined when others' fill it. */
export function room(stored: StoredAttachment[]): (() => void) | undefined {
  const bytes = stored.reduce((sum, { size }) => sum + size, 0);
  if (bytes > 0 && heldBytes > 0 && heldBytes + bytes > mostHeldBytes) return undefined;
  heldBytes += bytes;
  return () => {
    heldBytes -= bytes;
  };
}

/** With their bytes, as a provider takes them; throws `missing` when a blob is gone. */
export const loaded = (stored: StoredAttachment[]): Promise<Attachment[]> =>
  Promise.all(
    stored.map(async ({ filename, type, blob }) => {
      const bytes = await blobs.get(blob);
      if (!bytes) throw missing("An attachment was gone before the mail was handed over");
      return { filename, type, content: Buffer.from(bytes).toString("base64") };
    }),
  );
