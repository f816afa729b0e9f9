// Attachments of a mail: taken from the request or from an upload, kept as blobs until the mail is
// handed over.
import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { get } from "../../../adapters/dynamodb/table.ts";
import * as objects from "../../../adapters/s3/objects.ts";
import { epochSeconds } from "../../../clock.ts";
import { invalid, limitExceeded, missing } from "../../../errors.ts";
import { checkDeclared, type Upload } from "../../../kernel/uploads.ts";
import { keys } from "../../../keys.ts";
import type { Attachment } from "../../../providers/provider-adapter.ts";
import { maxContentLength, typeOf } from "../attachment-types.ts";
import type { AttachmentInput } from "./attachment-input.ts";

export const maxFileBytes = 10 * 1024 * 1024;
export const maxTotalBytes = 25 * 1024 * 1024;
export const maxImportBytes = 1024 ** 3;
/** An attachment of accepted mail: `blob` holds its bytes. */
export interface StoredAttachment {
  filename: string;
  type: string;
  size: number;
  blob: string;
  contentId?: string | undefined;
}

/** What a request says about an attachment, without its content. */
type AttachmentSource = Pick<AttachmentInput, "type" | "content" | "uploadId" | "contentId"> & {
  filename: string;
};

export interface AttachmentFile {
  filename: string;
  type: string;
  size: number;
  contentId?: string | undefined;
  /** Either these bytes, or a blob of an upload or of received mail. */
  bytes?: Buffer;
  upload?: Pick<Upload, "blob">;
  /** Set once it is stored, because several mails of one request can have it. */
  stored?: Promise<StoredAttachment>;
}

/** Checks all and stores nothing: 400 when a file is not base64, too big, or not uploaded. */
export async function validateAttachments(
  orgId: number,
  inputs: AttachmentInput[],
): Promise<AttachmentFile[]> {
  const files = await Promise.all(inputs.map((input, i) => validateAttachment(orgId, input, i)));
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > maxTotalBytes)
    throw limitExceeded("attachments", "attachments can have at most 25 MB in total");
  return files;
}

/** `i` is its position in the request. */
export async function validateAttachment(
  orgId: number,
  input: AttachmentSource,
  i: number,
): Promise<AttachmentFile> {
  const file =
    input.content === undefined ? await findUpload(orgId, input, i) : decodeInline(input, i);
  if (input.contentId === undefined) return file;
  requireImage(file, i);
  return { ...file, contentId: input.contentId };
}

function requireImage({ type }: AttachmentFile, i: number): void {
  if (/^image\//i.test(type)) return;
  const path = `attachments.${i}.contentId`;
  const message = `is for images, and this file is ${type}`;
  throw invalid(`${path} ${message}`, { details: [{ path, message }] });
}

function decodeInline(
  { filename, type, content = "" }: AttachmentSource,
  i: number,
): AttachmentFile {
  const path = `attachments.${i}.content`;
  if (content.length > maxContentLength) throw fileTooLarge(path);
  const text = content.replace(/\s+/g, "");
  if (text.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw invalid(`${path} is not valid base64`, {
      details: [{ path, message: "is not valid base64" }],
    });
  const bytes = Buffer.from(text, "base64");
  return {
    filename,
    type: type ?? typeOf(filename),
    size: requireFileSize(bytes.length, path),
    bytes,
  };
}

async function findUpload(
  orgId: number,
  { filename, type, uploadId = "" }: AttachmentSource,
  i: number,
): Promise<AttachmentFile> {
  const path = `attachments.${i}.uploadId`;
  const upload = await get<Upload>(keys.upload(orgId, uploadId));
  const size =
    upload && upload.expires > epochSeconds() ? await objects.getSize(upload.blob) : undefined;
  if (!upload || size === undefined)
    throw invalid(`${path} does not name a finished upload: PUT the file to its uploadUrl first`, {
      details: [{ path, message: "does not name a finished upload" }],
    });
  checkDeclared(upload, size, path);
  return { filename, type: type ?? upload.type, size: requireFileSize(size, path), upload };
}

function requireFileSize(size: number, path: string): number {
  if (size === 0)
    throw invalid(`${path}: the file is empty`, {
      details: [{ path, message: "the file is empty" }],
    });
  if (size > maxFileBytes) throw fileTooLarge(path);
  return size;
}

const fileTooLarge = (path: string) =>
  limitExceeded(path, `${path}: a file can have at most 10 MB`);

/** Throws 400 if the upload has expired since it was checked. */
export async function readAttachment({ bytes, upload }: AttachmentFile): Promise<Uint8Array> {
  const read = bytes ?? (await objects.get(upload!.blob));
  if (!read) throw invalid("An upload has expired: upload the file again");
  return read;
}

/** Safe to repeat: the same bytes are the same blob. */
export const storeAttachments = (
  orgId: number,
  files: AttachmentFile[],
): Promise<StoredAttachment[]> =>
  Promise.all(
    files.map((file) => {
      file.stored ??= storeAttachment(orgId, file);
      return file.stored;
    }),
  );

async function storeAttachment(
  orgId: number,
  { filename, type, size, contentId, bytes, upload }: AttachmentFile,
): Promise<StoredAttachment> {
  const name = bytes
    ? createHash("sha256").update(bytes).digest("hex")
    : upload!.blob.replaceAll("/", "-");
  const blob = `attachments/${orgId}/${name}`;
  await (bytes ? objects.put(blob, bytes, type) : objects.copy(upload!.blob, blob));
  return { filename, type, size, blob, ...(contentId !== undefined && { contentId }) };
}

// A worker may have 25 mails in hand, and each of them 25 MB; on its way a file is held several
// times over.
const maxMemoryBytes = 60 * 1024 * 1024;
let reservedBytes = 0;

/** Room in this process for these files, to be given back; undefined when others' fill it. */
export function reserveMemory(stored: StoredAttachment[]): (() => void) | undefined {
  const bytes = stored.reduce((sum, { size }) => sum + size, 0);
  if (bytes > 0 && reservedBytes > 0 && reservedBytes + bytes > maxMemoryBytes) return undefined;
  reservedBytes += bytes;
  return () => {
    reservedBytes -= bytes;
  };
}

/** With their bytes, as a provider takes them; throws `missing` when a blob is gone. */
export const loadAttachments = (stored: StoredAttachment[]): Promise<Attachment[]> =>
  Promise.all(
    stored.map(async ({ filename, type, blob, contentId }) => {
      const bytes = await objects.get(blob);
      if (!bytes) throw missing("An attachment is no longer stored, so the mail cannot be sent");
      return {
        filename,
        type: withCharset(type, bytes),
        content: Buffer.from(bytes).toString("base64"),
        ...(contentId !== undefined && { contentId }),
      };
    }),
  );

/** Text beyond ASCII is unreadable to mail programs that are not told its charset. */
const withCharset = (type: string, bytes: Uint8Array): string =>
  /^text\/[^;]*$/i.test(type) && isUtf8(bytes) && !isAscii(bytes) ? `${type}; charset=utf-8` : type;
