// S3 objects. A key is `<kind>/<organization>/<name>`, so that lifecycle rules can apply by kind.
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { config } from "../../config.ts";
import { s3 } from "./client.ts";

export async function put(
  key: string,
  body: Uint8Array,
  type = "application/octet-stream",
): Promise<void> {
  await s3().send(
    new PutObjectCommand({ Bucket: config.bucket, Key: key, Body: body, ContentType: type }),
  );
}

/** Undefined if the object does not exist or is larger than `maxBytes`. */
export async function get(key: string, maxBytes = 30_000_000): Promise<Uint8Array | undefined> {
  try {
    const { Body, ContentLength = 0 } = await s3().send(
      new GetObjectCommand({ Bucket: config.bucket, Key: key }),
    );
    return ContentLength > maxBytes ? undefined : await Body?.transformToByteArray();
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

export interface ObjectRange {
  bytes: Uint8Array;
  /** Changes when the object is replaced. */
  etag: string;
}

/** Up to `length` bytes from the offset `from`. Undefined if the object does not exist. */
export async function getRange(
  key: string,
  from: number,
  length: number,
): Promise<ObjectRange | undefined> {
  try {
    const { Body, ETag } = await s3().send(
      new GetObjectCommand({
        Bucket: config.bucket,
        Key: key,
        Range: `bytes=${from}-${from + length - 1}`,
      }),
    );
    return { bytes: await Body!.transformToByteArray(), etag: ETag ?? "" };
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** The size in bytes. Undefined if the object does not exist. */
export async function getSize(key: string): Promise<number | undefined> {
  try {
    const { ContentLength } = await s3().send(
      new HeadObjectCommand({ Bucket: config.bucket, Key: key }),
    );
    return ContentLength;
  } catch (error) {
    if ((error as Error).name === "NotFound") return undefined;
    throw error;
  }
}

export async function copy(from: string, to: string): Promise<void> {
  await s3().send(
    new CopyObjectCommand({
      Bucket: config.bucket,
      Key: to,
      CopySource: `${config.bucket}/${from}`,
    }),
  );
}

export async function remove(key: string): Promise<void> {
  await s3().send(new DeleteObjectCommand({ Bucket: config.bucket, Key: key }));
}

/** A URL that accepts a PUT of exactly `size` bytes for `seconds`. */
export const presignUpload = (
  key: string,
  { type, size, seconds }: { type: string; size: number; seconds: number },
): Promise<string> =>
  getSignedUrl(
    s3(),
    new PutObjectCommand({
      Bucket: config.bucket,
      Key: key,
      ContentType: type,
      ContentLength: size,
    }),
    {
      expiresIn: seconds,
      signableHeaders: new Set(["content-type", "content-length"]),
    },
  );

/**
 * Starts an upload in at most 10,000 parts of at least 5 MB; the last may be smaller. A lifecycle
 * rule deletes it after a day.
 */
export async function startMultipartUpload(key: string, type: string): Promise<string> {
  const { UploadId } = await s3().send(
    new CreateMultipartUploadCommand({ Bucket: config.bucket, Key: key, ContentType: type }),
  );
  return UploadId!;
}

/**
 * Uploads a part, counted from 1, and returns its ETag for `completeMultipartUpload`. A repeated
 * part replaces the first.
 */
export async function uploadPart(
  { key, uploadId, part }: { key: string; uploadId: string; part: number },
  body: Uint8Array,
): Promise<string> {
  const { ETag } = await s3().send(
    new UploadPartCommand({
      Bucket: config.bucket,
      Key: key,
      UploadId: uploadId,
      PartNumber: part,
      Body: body,
    }),
  );
  return ETag!;
}

/** Safe to repeat. */
export async function completeMultipartUpload(
  key: string,
  uploadId: string,
  etags: string[],
): Promise<void> {
  const Parts = etags.map((ETag, i) => ({ ETag, PartNumber: i + 1 }));
  try {
    await s3().send(
      new CompleteMultipartUploadCommand({
        Bucket: config.bucket,
        Key: key,
        UploadId: uploadId,
        MultipartUpload: { Parts },
      }),
    );
  } catch (error) {
    // A completed upload no longer exists as an upload.
    if ((error as Error).name !== "NoSuchUpload" || (await getSize(key)) === undefined) throw error;
  }
}

/** A URL that shows the object, valid for `seconds`. */
export const presignPublicFile = (key: string, type: string, seconds: number): Promise<string> =>
  getSignedUrl(
    s3(),
    new GetObjectCommand({
      Bucket: config.bucket,
      Key: key,
      ResponseContentType: type,
      ResponseCacheControl: "public, max-age=31536000, immutable",
    }),
    { expiresIn: seconds },
  );

/** A URL that downloads the object with this filename, valid for `seconds`. */
export const presignDownload = (key: string, filename: string, seconds: number): Promise<string> =>
  getSignedUrl(
    s3(),
    new GetObjectCommand({
      Bucket: config.bucket,
      Key: key,
      ResponseContentDisposition: `attachment; filename="${filename}"`,
    }),
    { expiresIn: seconds },
  );
