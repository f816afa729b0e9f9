// Pictures of the media library in an export: their records in media.jsonl, their files in media/.
// Each has another URL on the other installation, which replaces the old one in all records.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { detectFormat } from "../../../shared/domain/content/picture-files.ts";
import { removeMetadata } from "../../../shared/domain/content/picture-metadata.ts";
import { type ApiTarget, callApi, connectionError } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import type { DemoProgress } from "../demo/progress.ts";
import { pagesOf } from "./export.ts";
import { type Row, readRows, writeRows } from "./files.ts";

interface Picture extends Row {
  siteId: number;
  alt: string;
  url: string;
  contentType: string;
  size: number;
}

const listed: [path: `/${string}`, listed: string] = ["/media", "media"];
const fileOf = (folder: string, { id }: Pick<Picture, "id">): string =>
  join(folder, "media", String(id));

/** Returns their number. */
export async function exportPictures(
  caller: ApiTarget,
  folder: string,
  progress: DemoProgress,
): Promise<number> {
  mkdirSync(join(folder, "media"), { recursive: true, mode: 0o700 });
  let done = 0;
  async function* saveFiles() {
    for await (const page of pagesOf<Picture>(caller, listed)) {
      for (const picture of page) {
        writeFileSync(fileOf(folder, picture), await download(picture.url), { mode: 0o600 });
        progress.update("media", ++done, done);
      }
      yield page;
    }
  }
  const rows = await writeRows(folder, "media", saveFiles());
  progress.finishStep(`media: ${rows}`);
  return rows;
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch(
    (error: unknown) => {
      throw connectionError(url, error);
    },
  );
  if (!response.ok) throw new CliError(`GET ${url} failed with status ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

export interface ImportedPictures {
  created: number;
  /** The URL on this installation, by that of the export. */
  urls: Map<string, string>;
}

/** Uploads pictures that this installation does not have. `newSiteId` maps ids of sites. */
export async function importPictures(
  caller: ApiTarget,
  folder: string,
  {
    progress,
    newSiteId,
  }: { progress: DemoProgress; newSiteId(siteId: number): number | undefined },
): Promise<ImportedPictures> {
  const here = new Map<string, Picture[]>();
  for await (const page of pagesOf<Picture>(caller, listed))
    for (const picture of page) {
      const place = placeOf(picture, picture.siteId);
      here.set(place, [...(here.get(place) ?? []), picture]);
    }
  const imported: ImportedPictures = { created: 0, urls: new Map() };
  for await (const picture of readRows<Picture>(folder, "media")) {
    const siteId = newSiteId(picture.siteId);
    const path = fileOf(folder, picture);
    if (siteId === undefined || !existsSync(path)) continue;
    const size = storedSizeOf(readFileSync(path));
    const found = here.get(placeOf({ ...picture, size }, siteId))?.shift();
    const { url } = found ?? (await upload(caller, folder, { ...picture, siteId }));
    imported.urls.set(picture.url, url);
    if (!found) imported.created++;
    progress.update("media", imported.urls.size, imported.urls.size);
  }
  progress.finishStep(`media: ${imported.urls.size}`);
  return imported;
}

/** Pictures with the same name, type and size count as the same. */
const placeOf = ({ name, contentType, size }: Picture, siteId: number): string =>
  JSON.stringify([siteId, name, contentType, size]);

/** Pictures of an older installation can have metadata, which an installation does not store. */
function storedSizeOf(file: Buffer): number {
  const format = detectFormat(file);
  return format ? removeMetadata(file, format).bytes.length : file.length;
}

async function upload(
  caller: ApiTarget,
  folder: string,
  picture: Picture,
): Promise<{ url: string }> {
  const { siteId, name, alt } = picture;
  const query = new URLSearchParams({ siteId: String(siteId), name, alt });
  return callApi(
    caller,
    `POST /media?${query}`,
    new Uint8Array(readFileSync(fileOf(folder, picture))),
  );
}
