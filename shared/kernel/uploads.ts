// Files that are too large for a request: the client asks for a URL, PUTs the file there, and names
// the upload in a later request.
import { put, write } from "../adapters/dynamodb/table.ts";
import * as objects from "../adapters/s3/objects.ts";
import type { Caller } from "../caller.ts";
import { addSeconds, epochSeconds } from "../clock.ts";
import { invalid } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys } from "../keys.ts";

const uploadSeconds = 3600;
// A large file takes long to arrive.
const uploadTtlSeconds = { attachment: uploadSeconds, import: 24 * 3600, picture: uploadSeconds };
/** Size of a picture of the media library. */
export const maxPictureBytes = 5 * 1024 * 1024;

type UploadPurpose = keyof typeof uploadTtlSeconds;

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
  purpose?: UploadPurpose;
}

/** Returns a URL for one PUT, valid for an hour. */
export async function createUpload(
  { orgId }: Caller,
  { filename, type, size, purpose = "attachment" }: NewUpload,
) {
  const uploadId = ids.randomBase62(32);
  const blob = `uploads/${orgId}/${uploadId}`;
  const upload: Upload = {
    filename,
    type,
    size,
    blob,
    expires: epochSeconds() + uploadTtlSeconds[purpose],
  };
  await write(put(keys.upload(orgId, uploadId), upload));
  const uploadUrl = await objects.presignUpload(blob, { type, size, seconds: uploadSeconds });
  return { uploadId, uploadUrl, expiresAt: addSeconds(uploadSeconds).toISOString() };
}

/**
 * 400 when the upload has another size than declared. S3 checks this itself; its stand-in on one
 * machine does not.
 */
export function checkDeclared(
  { size: declared }: Pick<Upload, "size">,
  size: number,
  path: string,
): void {
  if (size === declared) return;
  const message = `${path}: the upload has ${size} bytes, not the ${declared} that were declared`;
  throw invalid(message, { details: [{ path, message }] });
}
