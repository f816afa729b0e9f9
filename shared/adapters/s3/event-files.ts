// Event files: objects of a bucket of their own, or on one machine files in a folder.
import { randomBytes } from "node:crypto";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { config } from "../../config.ts";
import { s3 } from "./client.ts";

/** A name of its own, because its permission is for the bucket with event files only. */
class PutEventFileCommand extends PutObjectCommand {}

/** Writes a whole file. Replaces a file with this name. */
export async function putEventFile(name: string, body: Uint8Array): Promise<void> {
  const folder = config.eventFilesFolder;
  if (folder) return writeToFolder(join(folder, name), body);
  await s3().send(
    new PutEventFileCommand({
      Bucket: config.eventFilesBucket,
      Key: name,
      Body: body,
      ContentType: "application/gzip",
    }),
  );
}

/** Readers see no unfinished file under its name, also after a crash. */
async function writeToFolder(path: string, body: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomBytes(6).toString("hex")}.unfinished`;
  const file = await open(unfinished, "w", 0o600);
  try {
    await file.writeFile(body);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
