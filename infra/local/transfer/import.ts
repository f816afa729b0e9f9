// Writes an export to another installation through its public API. Matches records by site and
// name, so a second run creates nothing twice and updates the differences.
import { isDeepStrictEqual } from "node:util";
import { type ApiTarget, callApi } from "../api-client.ts";
import type { DemoProgress } from "../demo/progress.ts";
import { pagesOf, pagesOfKind } from "./export.ts";
import { type ExportManifest, type Fields, type Row, readManifest, readRows } from "./files.ts";
import {
  actionWith,
  fieldsOf,
  type Kind,
  type KindName,
  kindNamed,
  kinds,
  type NewId,
  rulesWith,
  withRules,
} from "./kinds.ts";
import { importPictures } from "./pictures.ts";

export interface Imported {
  created: Record<string, number>;
  updated: Record<string, number>;
  /** Messages about records that could not be imported. */
  notes: string[];
}

interface Work {
  caller: ApiTarget;
  folder: string;
  progress: DemoProgress;
  manifest: ExportManifest;
  ids: Map<string, number>;
  newId: NewId;
  /** The records of the new installation, by kind and id. */
  existing: Map<string, Row>;
  /** The URL of each picture on the new installation, by that of the export. */
  pictureUrls: Map<string, string>;
  /** The default subscription of each topic of the export. */
  defaults: Map<number, unknown>;
  result: Imported;
}

const keyOf = (kind: string, id: number): string => `${kind} ${id}`;

export async function importAll(
  caller: ApiTarget,
  folder: string,
  progress: DemoProgress,
): Promise<Imported> {
  const ids = new Map<string, number>();
  const work: Work = {
    caller,
    folder,
    progress,
    manifest: readManifest(folder),
    ids,
    newId: (kind, id) => ids.get(keyOf(kind, id)),
    existing: new Map(),
    defaults: new Map(),
    pictureUrls: new Map(),
    result: { created: {}, updated: {}, notes: [] },
  };
  await matchSendingConfigs(work);
  for (const { id, defaultSubscription } of await rowsOf(work, "topics"))
    work.defaults.set(id, defaultSubscription);
  const [sites, ...rest] = kinds;
  await match(work, sites!);
  await save(work, sites!);
  const pictures = await importPictures(caller, folder, {
    progress,
    newSiteId: (id) => work.newId("sites", id),
  });
  work.pictureUrls = pictures.urls;
  if (pictures.created) count(work.result.created, "media", pictures.created);
  for (const kind of rest) await match(work, kind);
  for (const kind of rest) {
    await save(work, kind);
    // Contacts need sites, tags and lists. No other kind needs contacts.
    if (kind.name === "lists") await importSuppressions(work);
    if (kind.name === "lists") await importContacts(work);
  }
  // They can refer to pictures and records that were created later.
  for (const name of ["sites", "forms", "segments", "sequences"] as const)
    await save(work, kindNamed(name));
  return work.result;
}

const count = (counts: Record<string, number>, kind: string, n = 1): void => {
  counts[kind] = (counts[kind] ?? 0) + n;
};

async function rowsOf<T extends Fields = Row>(work: Work, kind: string): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of readRows<T>(work.folder, kind)) rows.push(withPictures(work, row));
  return rows;
}

/** The row with the URLs that pictures have here. */
function withPictures<T extends Fields>({ pictureUrls }: Work, row: T): T {
  let text = JSON.stringify(row);
  for (const [old, url] of pictureUrls) text = text.replaceAll(old, url);
  return JSON.parse(text) as T;
}

/**
 * An export has no credentials, so a sending config is matched to an existing one with the same
 * provider and sender.
 */
async function matchSendingConfigs(work: Work): Promise<void> {
  const here = new Map<string, number>();
  const nameOf = ({ provider, fromEmail }: Fields) => `${provider}, ${fromEmail}`;
  for await (const page of pagesOf(work.caller, ["/sending-configs", "sendingConfigs"]))
    for (const row of page) here.set(nameOf(row), here.get(nameOf(row)) ?? row.id);
  for (const row of await rowsOf(work, "sending-configs")) {
    const id = here.get(nameOf(row));
    if (id !== undefined) work.ids.set(keyOf("sending-configs", row.id), id);
    else
      work.result.notes.push(
        `This installation has no sending config (${nameOf(row)}): ` +
          "add it with its credentials, then run this again",
      );
  }
}

/** Pairs records by site and name, and records with the same name by the order of their ids. */
async function match(work: Work, described: Kind): Promise<void> {
  const { name: kind, detailed } = described;
  const here = new Map<string, Row[]>();
  for await (const page of pagesOfKind(work.caller, described))
    for (const row of page) {
      const place = placeOf(row, row.siteId);
      here.set(place, [...(here.get(place) ?? []), row]);
    }
  for (const rows of here.values()) rows.sort((a, b) => a.id - b.id);
  for (const row of (await rowsOf(work, kind)).sort((a, b) => a.id - b.id)) {
    const found = here.get(placeOf(row, siteOf(work, row)))?.shift();
    if (!found) continue;
    const record = detailed ? await callApi<Row>(work.caller, `GET /${kind}/${found.id}`) : found;
    work.ids.set(keyOf(kind, row.id), found.id);
    work.existing.set(keyOf(kind, found.id), record);
  }
}

const placeOf = ({ name }: Row, siteId: number | null | undefined): string =>
  `${siteId ?? ""} ${name.trim().toLowerCase()}`;

const siteOf = ({ newId }: Work, { siteId }: Row) =>
  typeof siteId === "number" ? newId("sites", siteId) : siteId;

async function save(work: Work, kind: Kind): Promise<void> {
  const byId = (await rowsOf(work, kind.name)).sort((a, b) => a.id - b.id);
  const rows = kind.usesOwnKind ? inOrderOfUse(byId) : byId;
  for (const [i, row] of rows.entries()) {
    const id = work.newId(kind.name, row.id);
    await (id === undefined ? create(work, kind, row) : update(work, kind, { row, id }));
    work.progress.update(kind.name, i + 1, rows.length);
  }
  work.progress.finishStep(`${kind.name}: ${rows.length}`);
}

/** Each record after those of its site that it uses. */
function inOrderOfUse(rows: Row[]): Row[] {
  const ordered = new Set<Row>();
  const add = (row: Row) => {
    if (ordered.has(row)) return;
    for (const name of (row.uses as string[] | undefined) ?? []) {
      const used = rows.find((one) => one.siteId === row.siteId && one.name === name);
      if (used) add(used);
    }
    ordered.add(row);
  };
  for (const row of rows) add(row);
  return [...ordered];
}

async function create(work: Work, kind: Kind, row: Row): Promise<void> {
  const { caller, newId, result } = work;
  const siteId = siteOf(work, row);
  const later = Object.fromEntries((kind.onlyNew ?? []).map((name) => [name, row[name]]));
  const fixed = Object.fromEntries((kind.fixedFields ?? []).map((name) => [name, row[name]]));
  const body = {
    ...fieldsOf(kind, row, newId),
    ...fixed,
    ...(kind.name === "campaigns" && { attachments: filesOf(row).map(toInput) }),
    ...(typeof siteId === "number" && { siteId }),
  };
  const made = await callApi<Row>(caller, `POST /${kind.name}`, body);
  work.ids.set(keyOf(kind.name, row.id), made.id);
  work.existing.set(keyOf(kind.name, made.id), made);
  count(result.created, kind.name);
  // Actions of sequences can refer to sequences that are created later.
  if (kind.name !== "sequences") await addParts(work, kind.name, { row, id: made.id });
  if (Object.keys(later).length)
    await callApi(caller, `PUT /${kind.name}/${made.id}`, later).catch((error: Error) => {
      result.notes.push(
        `The status of ${kind.name} "${row.name}" was not taken over: ${error.message}`,
      );
    });
}

interface Pair {
  row: Row;
  id: number;
}

async function update(work: Work, kind: Kind, { row, id }: Pair): Promise<void> {
  const here = work.existing.get(keyOf(kind.name, id))!;
  const fields = fieldsOf(kind, row, work.newId);
  const changes = Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !isDeepStrictEqual(value, here[name])),
  );
  if (kind.name === "campaigns" && !isDeepStrictEqual(namesOf(row), namesOf(here)))
    changes.attachments = filesOf(row).map(toInput);
  const fixed = kind.fixed || (kind.name === "campaigns" && here.status !== "draft");
  if (!fixed && Object.keys(changes).length) {
    work.existing.set(
      keyOf(kind.name, id),
      await callApi<Row>(work.caller, `PUT /${kind.name}/${id}`, changes),
    );
    count(work.result.updated, kind.name);
  }
  if (!fixed) await addParts(work, kind.name, { row, id });
}

const filesOf = ({ attachments }: Fields): Fields[] => (attachments ?? []) as Fields[];

/** Files with the same name, size and content id count as the same. */
const namesOf = (row: Fields) =>
  filesOf(row).map(({ filename, size, contentId }) => ({ filename, size, contentId }));

const toInput = ({ filename, type, contentId, content }: Fields): Fields => ({
  ...{ filename, type, content },
  ...(typeof contentId === "string" && { contentId }),
});

async function addParts(work: Work, kind: KindName, pair: Pair): Promise<void> {
  if (kind === "sequences") await addSteps(work, pair);
  if (kind === "campaigns") await addVariants(work, pair);
}

const stepFields = [
  "type",
  "stepOrder",
  "previewText",
  "delayMinutes",
  "nextStepOrder",
  "timeoutStepOrder",
  "trueBranchStepOrder",
  "falseBranchStepOrder",
  "splitConfig",
];

/** Adds steps to a sequence without steps. Existing steps stay. */
async function addSteps({ caller, newId }: Work, { row, id }: Pair): Promise<void> {
  const given = (row.steps ?? []) as Fields[];
  const { steps } = await callApi<{ steps: Row[] }>(caller, `GET /sequences/${id}/steps`);
  if (!steps.length && given.length)
    await callApi(caller, `POST /sequences/${id}/steps`, {
      steps: given.map((step) => ({
        ...Object.fromEntries(
          stepFields.filter((name) => step[name] !== undefined).map((name) => [name, step[name]]),
        ),
        templateId:
          typeof step.templateId === "number"
            ? (newId("templates", step.templateId) ?? null)
            : null,
        conditionConfig: rulesWith(step.conditionConfig, newId),
        waitConfig: step.waitConfig ? withRules(step.waitConfig as Fields, newId) : null,
        actionConfig: actionWith(step.actionConfig, newId),
      })),
    });
  // An active sequence is imported as paused, so that only one installation sends its mail.
  const status = row.status === "active" ? "paused" : row.status;
  const here = await callApi<Row>(caller, `GET /sequences/${id}`);
  if (here.status === "draft" && status !== "draft")
    await callApi(caller, `PUT /sequences/${id}`, { status });
}

async function addVariants({ caller, newId }: Work, { row, id }: Pair): Promise<void> {
  const given = (row.variants ?? []) as Row[];
  const { variants } = await callApi<{ variants: Row[] }>(caller, `GET /campaigns/${id}/variants`);
  if (variants.length) return;
  for (const { name, subject, templateId, html, weight } of given)
    await callApi(caller, `POST /campaigns/${id}/variants`, {
      name,
      subject,
      html,
      weight,
      templateId: typeof templateId === "number" ? (newId("templates", templateId) ?? null) : null,
    });
}

async function* batchesOf(work: Work, kind: string, size: number): AsyncGenerator<Fields[]> {
  let batch: Fields[] = [];
  for await (const row of readRows(work.folder, kind)) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length) yield batch;
}

async function importSuppressions(work: Work): Promise<void> {
  const { caller, progress, manifest, result } = work;
  let done = 0;
  for await (const batch of batchesOf(work, "suppressions", 1000)) {
    const suppressions = batch.map(({ email, reason, detail }) => ({ email, reason, detail }));
    const { imported, failed, errors } = await callApi<{
      imported: number;
      failed: number;
      errors: { message: string }[];
    }>(caller, "POST /suppressions/import", { suppressions });
    if (imported) count(result.created, "suppressions", imported);
    if (failed) result.notes.push(`${failed} suppressions failed: ${errors[0]?.message}`);
    done += batch.length;
    progress.update("suppressions", done, Math.max(done, manifest.rows.suppressions ?? 0));
  }
  progress.finishStep(`suppressions: ${done}`);
}

const contactFields = [
  "email",
  "firstName",
  "lastName",
  "phone",
  "company",
  "timezone",
  "locale",
  "customFields",
  "source",
  "externalId",
];

/** Keeps the status, so that the import subscribes nobody who is not subscribed in the export. */
function contactOf(work: Work, row: Fields): Fields {
  const { newId } = work;
  const kept = contactFields.filter((name) => row[name] !== null && row[name] !== undefined);
  return {
    ...Object.fromEntries(kept.map((name) => [name, row[name]])),
    status: row.status === "suppressed" ? "unsubscribed" : row.status,
    tags: (row.tags as Row[]).map(({ name }) => name),
    lists: (row.lists as Row[]).flatMap(({ id }) => newId("lists", id) ?? []),
    topics: ((row.topics ?? []) as TopicRow[]).flatMap((topic) => choiceOf(work, topic) ?? []),
  };
}

interface TopicRow extends Row {
  subscribed: boolean;
  left: boolean;
}

/**
 * The choice that gives the contact the same emails as before. A contact that did not choose gets
 * none, unless the topic here has another default: then it is never subscribed by the import.
 */
function choiceOf({ newId, existing, defaults }: Work, { id, subscribed, left }: TopicRow) {
  const here = newId("topics", id);
  if (here === undefined) return undefined;
  const isOptOutHere = existing.get(keyOf("topics", here))?.defaultSubscription === "subscribed";
  const isChosen = subscribed ? defaults.get(id) === "unsubscribed" : left || isOptOutHere;
  return isChosen ? { id: here, subscribed } : undefined;
}

async function importContacts(work: Work): Promise<void> {
  const { caller, progress, manifest, result, newId } = work;
  let done = 0;
  for await (const batch of batchesOf(work, "contacts", 100)) {
    for (const [siteId, rows] of Map.groupBy(batch, (row) => newId("sites", Number(row.siteId)))) {
      const answer = await callApi<{
        created: number;
        updated: number;
        results: { email: string; error: string | null }[];
      }>(caller, "POST /contacts/bulk", {
        siteId,
        contacts: rows.map((row) => contactOf(work, row)),
      });
      count(result.created, "contacts", answer.created);
      count(result.updated, "contacts", answer.updated);
      for (const { email, error } of answer.results)
        if (error) result.notes.push(`Contact ${email}: ${error}`);
    }
    done += batch.length;
    progress.update("contacts", done, Math.max(done, manifest.rows.contacts ?? 0));
  }
  progress.finishStep(`contacts: ${done}`);
}
