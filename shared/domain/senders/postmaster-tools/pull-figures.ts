// Pulls the figures of Postmaster Tools and stores them by domain and day. Each pull begins before
// the newest stored day of the domain, and stores its days in one transaction, so a crash loses
// none; storing a day again changes nothing.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { getMany, query, transact, update, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { addDays } from "../../../kernel/calendar-dates.ts";
import * as log from "../../../kernel/log.ts";
import { type Key, keys, ranges } from "../../../keys.ts";
import {
  listDomains,
  logIn,
  PostmasterError,
  queryFigures,
} from "../../../providers/mailbox-reports/postmaster-tools.ts";
import type { DomainByName } from "../domains/domains-by-name.ts";
import { pullIn } from "./pull-times.ts";
import { openAccount } from "./settings.ts";
import { findItem, type PostmasterToolsItem, postmasterKind } from "./stored-items.ts";

const keptSeconds = 100 * 86_400;
/** Gmail adds figures to a day for some days. */
const lateDays = 5;
/** How far back a pull goes at most. */
const maxDays = 30;
/** Then no further domain is begun. */
const runSeconds = 40;
const [hourSeconds, daySeconds] = [3600, 86_400];

/** Pulls for at most a minute, and saves when to go on. Does nothing without a key. */
export async function pullPostmasterFigures(orgId: number): Promise<void> {
  const item = await findItem(orgId);
  if (!item) return;
  const until = addSeconds(runSeconds);
  try {
    const token = await logIn(await openAccount(item));
    const domains = await listDomains(token);
    for (const domain of await findOwn(orgId, domains)) {
      if (item.position !== undefined && domain.name <= item.position) continue;
      if (now() >= until) return await save(item, { set: pullIn(orgId, 0) });
      await pullDomain(token, { orgId, ...domain });
      item.position = domain.name;
    }
    const set = { domains, lastPulledAt: now().toISOString(), ...pullIn(orgId, daySeconds) };
    delete item.position;
    await save(item, { set, remove: ["position", "lastError", "failingSince"] });
  } catch (error) {
    if (!(error instanceof PostmasterError)) throw error;
    await saveFailure(item, error);
  }
}

interface OwnDomain {
  id: number;
  name: string;
}

/** In the order of the names. */
async function findOwn(orgId: number, names: string[]): Promise<OwnDomain[]> {
  const found = await getMany<DomainByName>(names.map((name) => keys.domainName(orgId, name)));
  return names.flatMap((name, i) => (found[i] ? [{ id: found[i].domainId, name }] : []));
}

async function pullDomain(
  token: string,
  { orgId, id, name }: OwnDomain & { orgId: number },
): Promise<void> {
  const to = now().toISOString().slice(0, 10);
  const oldest = addDays(to, -maxDays);
  const newest = await findNewestDate(orgId, id, { from: oldest, to });
  const from = newest === undefined ? oldest : addDays(newest, -lateDays);
  const days = await queryFigures(token, name, { from: from > oldest ? from : oldest, to }).catch(
    (error: unknown) => {
      const mayNotRead = error instanceof PostmasterError && [403, 404].includes(error.status ?? 0);
      if (!mayNotRead) throw error;
      log.warn("Google does not show the figures of a domain", { orgId, domainId: id });
      return [];
    },
  );
  const writes = days.map(({ date, figures }) => {
    const expires = epochSeconds(addSeconds(keptSeconds, new Date(`${date}T00:00:00Z`)));
    const key = keys.domainReportDay(orgId, id, { kind: postmasterKind, date });
    return update(key, { set: { ...figures, expires } });
  });
  await write(...writes);
}

async function findNewestDate(
  orgId: number,
  domainId: number,
  { from, to }: { from: string; to: string },
): Promise<string | undefined> {
  const { items } = await query<Key>(ranges.domainReportDays(orgId, domainId), {
    between: [`${postmasterKind}#${from}`, `${postmasterKind}#${to}`],
    newestFirst: true,
    limit: 1,
    consistent: true,
  });
  return items[0]?.sk.slice(postmasterKind.length + 1);
}

async function saveFailure(item: PostmasterToolsItem, error: PostmasterError): Promise<void> {
  const { orgId } = item;
  log.warn("Postmaster Tools could not be read", { orgId, status: error.status });
  await save(item, {
    set: {
      lastError: error.message,
      failingSince: item.failingSince ?? now().toISOString(),
      ...pullIn(orgId, error.isTemporary ? hourSeconds : daySeconds),
    },
  });
}

/** Saves nothing if the settings were changed: another pull goes on with the new ones. */
async function save(
  { orgId, revision, position }: PostmasterToolsItem,
  { set, remove = [] }: { set: object; remove?: string[] },
): Promise<void> {
  await transact(
    update(
      keys.postmasterTools(orgId),
      { set: { ...set, ...(position !== undefined && { position }) }, remove },
      { if: equals("revision", revision) },
    ),
  );
}
