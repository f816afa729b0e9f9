// How a site receives mail: the URLs for its providers. Each has a secret, which authenticates the
// requests; a signing key can be set in addition.
import * as z from "zod";
import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, transact, update, updateReturning } from "../../adapters/dynamodb/table.ts";
import * as encryption from "../../adapters/kms/encryption.ts";
import type { Caller, CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, invalid, missing } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { EmailAddress, normalizeEmail } from "../../kernel/email-fields.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { createSealer, openToken } from "../../kernel/sealed-tokens.ts";
import { isDeleted } from "../../kernel/site-access.ts";
import { keys } from "../../keys.ts";
import { equalsSecret } from "../../providers/inbound/signatures.ts";
import {
  type InboundMailProvider,
  inboundMailProviders,
} from "../../providers/inbound-mail/provider-keys.ts";
import * as sites from "../identity/sites.ts";
import { hasDefault } from "../senders/choose-config.ts";

const urlFields = Object.fromEntries(
  inboundMailProviders.map((key) => [key, z.string().describe(`URL for ${key}.`)]),
) as Record<InboundMailProvider, z.ZodString>;

export const InboundSettings = z
  .object({
    siteId: RecordId.describe("Id of the site."),
    urls: z
      .object(urlFields)
      .describe(
        "URLs to enter at the providers. Who knows one can store email in the site, so treat " +
          "them like passwords.",
      )
      .meta({ id: "InboundUrls" }),
    address: EmailAddress.nullable().describe(
      "Address that the provider receives mail for. Marketing email then has a `mailto` in its " +
        "List-Unsubscribe header, so mail programs can unsubscribe by an email. `null`: none.",
    ),
    forwardTo: EmailAddress.nullable().describe(
      "Address that gets the text and the files of each email of a person, sent with the default " +
        "sending config and charged like other email. At most 500 an hour; answers of machines, " +
        "spam and email that was forwarded before are left out. `null`: none.",
    ),
    signingKeySet: z
      .boolean()
      .describe(
        "Whether a `signingKey` is stored. Then requests of providers that sign need a valid " +
          "signature, too.",
      ),
  })
  .meta({ id: "InboundSettings" });
export type InboundSettings = z.output<typeof InboundSettings>;

export const InboundSettingsChanges = z
  .object({
    address: InboundSettings.shape.address.optional(),
    forwardTo: InboundSettings.shape.forwardTo.optional(),
    signingKey: z
      .string()
      .min(1)
      .max(500)
      .nullable()
      .optional()
      .describe(
        "Key that verifies signatures: of `mailgun` the HTTP webhook signing key, of `sendgrid` " +
          "the public key of the security policy, of `mandrill` and `resend` the key of the " +
          "webhook, of `sparkpost` its token. `null` removes it.",
      ),
    replaceUrls: z
      .boolean()
      .optional()
      .describe("`true`: replaces the secret in `urls`, and the old URLs stop working."),
  })
  .meta({
    examples: [{ address: "replies@in.shop.example", forwardTo: "team@shop.example" }],
  });
export type InboundSettingsChanges = z.output<typeof InboundSettingsChanges>;

/** Makes the URLs when they are read first. Throws 404. */
export async function getSettings(caller: Caller, siteId: number): Promise<InboundSettings> {
  const site: sites.Site = await sites.find(caller, siteId);
  return toApi(caller, siteId, site.inbound ?? (await createSettings(caller, siteId)));
}

async function createSettings({ orgId }: CallerScope, siteId: number): Promise<sites.SiteInbound> {
  const changed = await updateReturning<sites.Site>(
    update(
      keys.record(orgId, "SITE", siteId),
      { setIfAbsent: { inbound: { secret: randomBase62(secretLength) } } },
      { if: exists },
    ),
  );
  if (!changed?.inbound) throw missing("The site does not exist");
  return changed.inbound;
}

const secretLength = 16;

export async function changeSettings(
  caller: Caller,
  siteId: number,
  { signingKey, replaceUrls, ...addresses }: InboundSettingsChanges,
): Promise<InboundSettings> {
  await getSettings(caller, siteId);
  const site: sites.Site = await sites.find(caller, siteId);
  const before = site.inbound!;
  const { sealedSigningKey, ...rest } = before;
  const sealed = signingKey
    ? await encryption.encrypt(signingKey, encryptionContext(caller.orgId, siteId))
    : sealedSigningKey;
  const { address, forwardTo } = { address: rest.address, forwardTo: rest.forwardTo, ...addresses };
  if (address && forwardTo && normalizeEmail(address) === normalizeEmail(forwardTo))
    throw invalid("forwardTo must not be the address of the site", {
      details: [{ path: "forwardTo", message: "forwardTo must not be the address of the site" }],
    });
  const inbound: sites.SiteInbound = {
    secret: rest.secret,
    ...(address && { address }),
    ...(forwardTo && { forwardTo }),
    ...(replaceUrls && { secret: randomBase62(secretLength) }),
    ...(signingKey !== null && sealed && { sealedSigningKey: sealed }),
  };
  const set = { inbound, updatedAt: now().toISOString() };
  const key = keys.record(caller.orgId, "SITE", siteId);
  if (!(await transact(update(key, { set }, { if: equals("inbound", before) }))))
    throw conflict("The settings were changed by another request: read them again, then retry");
  return toApi(caller, siteId, inbound);
}

/** Says that nothing is forwarded while the organization has no verified sending config. */
export async function listWarnings(
  { orgId }: CallerScope,
  { forwardTo }: InboundSettings,
): Promise<string[]> {
  if (forwardTo === null || (await hasDefault(orgId))) return [];
  return [
    "No sending config is verified, so nothing is forwarded. Verify one with POST " +
      "/sending-configs/:id/verify",
  ];
}

const encryptionContext = (orgId: number, siteId: number): encryption.EncryptionContext => ({
  orgId: String(orgId),
  siteId: String(siteId),
  purpose: "inbound",
});

async function toApi(
  { orgId }: CallerScope,
  siteId: number,
  { secret, address, forwardTo, sealedSigningKey }: sites.SiteInbound,
): Promise<InboundSettings> {
  const token = (await createSealer("inbound"))([orgId, siteId, secret]);
  const urls = Object.fromEntries(
    inboundMailProviders.map((key) => [
      key,
      `${config.publicUrl}/api/v1/inbound/${key}?token=${token}`,
    ]),
  ) as InboundSettings["urls"];
  return {
    siteId,
    urls,
    address: address ?? null,
    forwardTo: forwardTo ?? null,
    signingKeySet: sealedSigningKey !== undefined,
  };
}

export interface InboundSite {
  orgId: number;
  siteId: number;
  signingKey: string | undefined;
}

/** The site of a URL. Undefined for a token that is not its current one. */
export async function findSiteOfToken(token: string): Promise<InboundSite | undefined> {
  const content = await openToken("inbound", token);
  if (!content) return undefined;
  const [orgId, siteId, secret] = content as [number, number, string];
  if (await isDeleted(orgId, siteId)) return undefined;
  const site = await get<sites.Site>(keys.record(orgId, "SITE", siteId));
  if (!equalsSecret(site?.inbound?.secret, secret)) return undefined;
  const sealed = site?.inbound?.sealedSigningKey;
  const signingKey = sealed && (await encryption.decrypt(sealed, encryptionContext(orgId, siteId)));
  return { orgId, siteId, signingKey };
}
