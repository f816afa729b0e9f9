// Reads everything of an organization through the public API and writes it to a folder.
import { now } from "../../../shared/clock.ts";
import { type ApiTarget, callApi } from "../api-client.ts";
import type { DemoProgress } from "../demo/progress.ts";
import { type ExportManifest, type Fields, type Row, writeManifest, writeRows } from "./files.ts";
import { type Kind, kinds } from "./kinds.ts";
import { exportPictures } from "./pictures.ts";

interface Pagination {
  total: number | null;
  nextCursor: string | null;
}

/** Reads every page of a list and reports the progress. */
export async function* pagesOf<T = Row>(
  caller: ApiTarget,
  [path, listed]: [path: `/${string}`, listed: string],
  onProgress: (rows: number, all: number) => void = () => {},
): AsyncGenerator<T[]> {
  let cursor: string | null = null;
  let rows = 0;
  do {
    const at: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Fields = await callApi<Fields>(caller, `GET ${path}?limit=100${at}`);
    const { total, nextCursor } = page.pagination as Pagination;
    const some = page[listed] as T[];
    rows += some.length;
    onProgress(rows, Math.max(rows, total ?? 0));
    yield some;
    cursor = nextCursor;
  } while (cursor !== null);
}

/** Reads every page of the list of a kind. */
export async function* pagesOfKind(
  caller: ApiTarget,
  { name, listed, bySite }: Pick<Kind, "listed" | "bySite"> & { name: string },
  onProgress?: (rows: number, all: number) => void,
): AsyncGenerator<Row[]> {
  if (!bySite) {
    yield* pagesOf(caller, [`/${name}`, listed], onProgress);
    return;
  }
  for await (const sites of pagesOf(caller, ["/sites", "sites"]))
    for (const site of sites) {
      const answer = await callApi<Fields>(caller, `GET /${name}?siteId=${site.id}`);
      yield answer[listed] as Row[];
    }
}

type Complete = (caller: ApiTarget, row: Row) => Promise<Fields>;

/** Reads the parts of a record that have their own endpoints. */
const parts: Record<string, Complete> = {
  sequences: (caller, { id }) => callApi(caller, `GET /sequences/${id}/steps`),
  campaigns: async (caller, { id, attachments }) => {
    const { variants } = await callApi<{ variants: Row[] }>(
      caller,
      `GET /campaigns/${id}/variants`,
    );
    const each = variants.map((one) =>
      callApi<Fields>(caller, `GET /campaigns/${id}/variants/${one.id}`),
    );
    const files = await readAttachments(caller, id, (attachments ?? []) as Row[]);
    return { variants: await Promise.all(each), attachments: files };
  },
};

/** The files of a campaign, with their content. */
async function readAttachments(
  caller: ApiTarget,
  campaignId: number,
  attachments: Row[],
): Promise<Fields[]> {
  const files: Fields[] = [];
  // One after the other, because each can have 2 MB.
  for (const { id } of attachments)
    files.push(await callApi<Fields>(caller, `GET /campaigns/${campaignId}/attachments/${id}`));
  return files;
}

/** Removes the fields that only this installation can use. */
const toPortable = ({
  webhookUrl: _,
  callSecret: __,
  webhookSecretSet: ___,
  credentialsSet: ____,
  pageUrl: _____,
  ...row
}: Fields): Fields => row;

async function* readCompletePages(
  caller: ApiTarget,
  kind: Pick<Kind, "listed" | "bySite" | "detailed"> & { name: string },
  progress: DemoProgress,
) {
  const onProgress = (rows: number, all: number) =>
    progress.update(kind.name, rows, Math.max(all, 1));
  for await (const page of pagesOfKind(caller, kind, onProgress)) {
    const rows: Fields[] = [];
    for (const row of page) {
      const record = kind.detailed
        ? await callApi<Fields>(caller, `GET /${kind.name}/${row.id}`)
        : row;
      rows.push(toPortable({ ...record, ...(await parts[kind.name]?.(caller, row)) }));
    }
    yield rows;
  }
}

const others: { name: string; listed: string }[] = [
  { name: "sending-configs", listed: "sendingConfigs" },
  { name: "suppressions", listed: "suppressions" },
  { name: "contacts", listed: "contacts" },
];

/** Writes the manifest last, so a folder with a manifest is complete. */
export async function exportAll(
  caller: ApiTarget,
  folder: string,
  progress: DemoProgress,
): Promise<ExportManifest> {
  const rows: ExportManifest["rows"] = {};
  for (const kind of [...kinds, ...others]) {
    rows[kind.name] = await writeRows(folder, kind.name, readCompletePages(caller, kind, progress));
    progress.finishStep(`${kind.name}: ${rows[kind.name]}`);
  }
  rows.media = await exportPictures(caller, folder, progress);
  const manifest: ExportManifest = {
    format: "pennymail",
    version: 1,
    url: caller.url,
    exportedAt: now().toISOString(),
    rows,
  };
  writeManifest(folder, manifest);
  return manifest;
}
