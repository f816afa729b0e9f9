// Suppression lists of providers: pulled once after a config is connected and then daily, and
// cleared of an address when the organization removes it here.
import { addSeconds, now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import { EmailAddress, normalizeEmail } from "../../kernel/email-fields.ts";
import * as log from "../../kernel/log.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as records from "../../kernel/records.ts";
import { failureOf, type ListedAddress } from "../../providers/connect/connector.ts";
import { messageOf } from "../../providers/connect/outcomes.ts";
import { traitsOf } from "../../providers/traits.ts";
import * as suppressionImports from "../audience/suppressions/suppression-imports.ts";
import { maxDetailLength, type NewSuppression } from "../audience/suppressions/suppressions.ts";
import { openProviderList, type ProviderList } from "../senders/provider-lists.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { savePull, stopPulls } from "../senders/suppression-pull-times.ts";

/** One run reads at most so many pages, within the time of a job. */
const maxPages = 20;
const runSeconds = 40;
const [soonSeconds, hourSeconds, daySeconds] = [60, 3600, 86_400];

/**
 * Adds a part of the provider's list to that of the organization, and saves where the next run goes
 * on. A crash repeats the last page, which changes nothing.
 */
export async function pullSuppressions(orgId: number, configId: number): Promise<void> {
  const config = await records
    .find<SendingConfig>("CONFIG", { orgId }, configId)
    .catch(undefinedIfMissing);
  if (!config) return;
  const list = await openProviderList(orgId, config, addSeconds(runSeconds));
  if (!list) return stopPulls(orgId, configId);
  let cursor = startOf(config);
  try {
    for (let page = 0; page < maxPages && now() < list.until; page++) {
      const { addresses, next } = await list.readPage(cursor ?? undefined);
      await suppressionImports.addAll(orgId, toSuppressions(addresses, config.provider));
      cursor = next ?? null;
      const seconds = cursor === null ? daySeconds : soonSeconds;
      const pull = { cursor, readAt: now().toISOString() };
      await savePull(orgId, config, { pull, seconds });
      if (cursor === null) return;
    }
  } catch (error) {
    const outcome = failureOf(error);
    if (!outcome) throw error;
    const { code } = outcome;
    log.warn("suppressions could not be pulled", { orgId, configId, code });
    // What the provider refuses can be the cursor, so the next pull begins with the first page.
    const goesOn = code === "no_answer" || code === "rate_limited";
    const next = goesOn ? cursor : null;
    const pull = { cursor: next, readAt: now().toISOString(), failure: outcome };
    const seconds = goesOn ? hourSeconds : daySeconds;
    await savePull(orgId, config, { pull, seconds });
  }
}

/** Other credentials are another list, so the pull begins again. */
const startOf = ({ suppressionPull: pull, revision }: SendingConfig): string | null =>
  pull?.revision === revision ? pull.cursor : null;

/** Addresses that no email can have are left out. */
const toSuppressions = (addresses: ListedAddress[], source: string): NewSuppression[] =>
  addresses.flatMap(({ email, reason, detail }) => {
    const address = EmailAddress.safeParse(email).data;
    if (!address) return [];
    const text = detail
      ?.replace(/[\p{Cc}\s]+/gu, " ")
      .slice(0, maxDetailLength)
      .toWellFormed();
    const bounceType = reason === "bounce" ? ("hard" as const) : null;
    return [{ email: address, reason, bounceType, detail: text || null, source }];
  });

const maxConfigs = 10;

/**
 * Removes the address from the suppression lists of the organization's providers. Returns a
 * sentence for each that did not do it.
 */
export async function removeAtProviders(orgId: number, email: string): Promise<string[]> {
  const { items } = await records.list<SendingConfig>("CONFIG", { orgId }, { limit: maxConfigs });
  const opened = await inParallel(maxConfigs, items, async (config) => ({
    config,
    list: await openProviderList(orgId, config, addSeconds(15)),
  }));
  const lists = opened.filter((one): one is { config: SendingConfig; list: ProviderList } =>
    Boolean(one.list),
  );
  const faults = await inParallel(maxConfigs, lists, ({ config, list }) =>
    list.remove(normalizeEmail(email)).then(
      () => [],
      (error: unknown) => {
        const outcome = failureOf(error);
        if (!outcome) throw error;
        const reason = messageOf(outcome, traitsOf(config.provider).name);
        return [`${email} was not removed there (sending config ${config.id}): ${reason}`];
      },
    ),
  );
  return faults.flat();
}
