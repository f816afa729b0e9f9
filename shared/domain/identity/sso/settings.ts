// Single sign-on of an organization with its own OpenID Connect provider. Whoever controls the
// provider can log in as any member with an address in the domains, so only owners change it, and
// only for domains that the organization has verified.
import * as z from "zod";
import { equals, exists, isNew } from "../../../adapters/dynamodb/conditions.ts";
import { get, put, remove as removeItem, update, write } from "../../../adapters/dynamodb/table.ts";
import * as encryption from "../../../adapters/kms/encryption.ts";
import {
  checkProvider,
  type ProviderClient,
  ProviderError,
} from "../../../adapters/oidc/provider.ts";
import type { Caller } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { config } from "../../../config.ts";
import { conflict, invalid, missing } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import { findUrlFault } from "../../../kernel/public-urls.ts";
import { CreatedAt, Timestamp, UpdatedAt } from "../../../kernel/record-fields.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { queueNotice } from "../../../kernel/security-notices.ts";
import { keys } from "../../../keys.ts";
import { roleNames } from "../../../rights.ts";
import { getDomainHolder, holdsDomainCheck } from "../domain-holders.ts";
import { loginUrlOf, redirectUriOf, type SsoMark } from "./enforcement.ts";

const maxDomains = 10;
const Fields = z.object({
  issuer: z
    .string()
    .min(1)
    .max(500)
    .describe(
      "Issuer of the provider, exactly as its `/.well-known/openid-configuration` names it. A " +
        "change needs `clientSecret`, and ends the sessions that the former provider opened.",
    ),
  clientId: z
    .string()
    .min(1)
    .max(300)
    .describe("Id of this service at the provider. A change has the same effects."),
  domains: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .transform((name) => name.toLowerCase()),
    )
    .min(1)
    .max(maxDomains)
    .describe(
      "Domains of the email addresses that may log in. Each must be a verified domain of the " +
        "organization: see POST /domains.",
    ),
  defaultRole: z
    .enum(roleNames.filter((name) => name !== "owner"))
    .nullable()
    .describe(
      "Role of users who log in for the first time and were not invited. `null`: they are " +
        "refused. Users who have an account elsewhere always need an invitation.",
    ),
  requireVerifiedEmail: z
    .boolean()
    .describe(
      "Whether the provider must send `email_verified: true` when a user is linked. Set it to " +
        "`false` only for a provider that does not send the claim and in which only " +
        "administrators set addresses, such as Microsoft Entra. `email_verified: false` is " +
        "always refused.",
    ),
  enforced: z
    .boolean()
    .describe(
      "Whether members with an address in `domains` can only use single sign-on. Owners can " +
        "always use their password, so that a provider that fails locks nobody out.",
    ),
});

const SsoSettings = Fields.extend({
  domains: z.array(z.string()).describe("Domains of the email addresses that may log in."),
  verifiedAt: Timestamp.nullable().describe(
    "When somebody first logged in with this issuer and client. `null`: nobody has.",
  ),
  lastFailure: z
    .object({
      at: Timestamp.describe("When the login failed."),
      reason: z.string().describe("Why, in one sentence."),
    })
    .nullable()
    .describe("The last login that failed after the provider had responded, or `null`."),
  createdAt: CreatedAt,
  updatedAt: UpdatedAt,
}).meta({ id: "SsoSettings" });

export const Sso = z
  .object({
    redirectUri: z.string().describe("Redirect URI to register at the provider."),
    loginUrl: z
      .string()
      .describe("URL that starts a login of this organization. Open it in a browser."),
    settings: SsoSettings.nullable().describe("`null`: single sign-on is off."),
  })
  .meta({ id: "Sso" });
export type Sso = z.output<typeof Sso>;

export const SsoChanges = Fields.extend({
  clientSecret: z
    .string()
    .min(1)
    .max(1000)
    .describe("Client secret. It is stored encrypted and never returned."),
})
  .partial()
  .meta({
    examples: [
      {
        issuer: "https://login.shop.example",
        clientId: "pennymail",
        clientSecret: "YOUR-CLIENT-SECRET",
        domains: ["shop.example"],
        defaultRole: "viewer",
      },
    ],
  });
export type SsoChanges = z.output<typeof SsoChanges>;

const checkNames = ["provider", "domains", "login"] as const;
export const SsoTest = z.object({
  ready: z.boolean().describe("Whether users can log in: `provider` and `domains` have passed."),
  checks: z
    .array(
      z.object({
        name: z
          .enum(checkNames)
          .describe(
            "`provider`: its metadata and keys can be read. `domains`: all are verified. " +
              "`login`: somebody has logged in.",
          ),
        passed: z.boolean().describe("Whether the check has passed."),
        message: z.string().describe("The result in words, with what to do."),
      }),
    )
    .describe("All checks."),
});
export type SsoTest = z.output<typeof SsoTest>;

/** The settings as they are stored. */
export interface SsoItem extends z.output<typeof SsoSettings> {
  /** Random. Another one after each change of the issuer or the client. */
  providerId: string;
  /** Encrypted. */
  clientSecret: string;
  /** Grows with each change of the item. */
  v: number;
}

const encryptionContext = (orgId: number) => ({ purpose: "sso", orgId: String(orgId) });

export const getSettings = (orgId: number): Promise<SsoItem | undefined> =>
  get<SsoItem>(keys.sso(orgId));

/** Throws 404. */
export async function requireSettings(orgId: number): Promise<SsoItem> {
  const settings = await getSettings(orgId);
  if (!settings) throw notConfigured();
  return settings;
}

export async function findSso({ orgId }: Pick<Caller, "orgId">): Promise<Sso> {
  return toApi(orgId, await getSettings(orgId));
}

const toApi = (orgId: number, settings: SsoItem | undefined): Sso => ({
  redirectUri: redirectUriOf(orgId),
  loginUrl: loginUrlOf(orgId),
  settings: settings ?? null,
});

/**
 * Updates the given fields. Throws 400 if a required field is missing, 409 `domain_not_verified`
 * for a domain that the organization does not hold, 409 `sso_not_verified` for `enforced` before
 * somebody has logged in.
 */
export const change = ({ orgId }: Caller, changes: SsoChanges): Promise<Sso> =>
  retryOnConflict("Single sign-on", async () => {
    const stored = await getSettings(orgId);
    const item = await applyChanges(orgId, stored, changes);
    if (item.enforced && item.verifiedAt === null) throw notVerified();
    const mark: Required<SsoMark> = {
      sso: { providerId: item.providerId, enforcedDomains: item.enforced ? item.domains : [] },
    };
    const checked = changes.domains || changes.enforced ? item.domains : [];
    await write(
      put(keys.sso(orgId), item, { if: stored ? equals("v", stored.v) : isNew }),
      update(keys.organization(orgId), { set: mark }, { if: exists }),
      ...checked.map((name) => holdsDomainCheck(orgId, name)),
    );
    await queueNotice("sso_changed", { orgId });
    return toApi(orgId, item);
  });

const notVerified = () =>
  conflict(
    "Nobody has logged in with this issuer and client yet: set enforced to false, log in once, " +
      "then enforce it",
    { code: "sso_not_verified" },
  );

async function applyChanges(
  orgId: number,
  stored: SsoItem | undefined,
  { clientSecret, ...changes }: SsoChanges,
): Promise<SsoItem> {
  const merged = { ...defaults, ...stored, ...changes };
  const isSameProvider =
    stored !== undefined && stored.issuer === merged.issuer && stored.clientId === merged.clientId;
  requireFields({ ...merged, clientSecret }, { stored, isSameProvider });
  const fault = findIssuerFault(merged.issuer!);
  if (fault) throw invalidIssuer(fault);
  const at = now().toISOString();
  return {
    ...merged,
    ...(!isSameProvider && { providerId: randomBase62(16), verifiedAt: null, lastFailure: null }),
    ...(clientSecret !== undefined && {
      clientSecret: await encryption.encrypt(clientSecret, encryptionContext(orgId)),
    }),
    domains: [...new Set(merged.domains)],
    createdAt: stored?.createdAt ?? at,
    updatedAt: at,
    v: (stored?.v ?? 0) + 1,
  } as SsoItem;
}

const defaults = { defaultRole: null, requireVerifiedEmail: true, enforced: false };

/** A new issuer must not get the secret of the former one, so a change needs it again. */
function requireFields(
  given: SsoChanges,
  { stored, isSameProvider }: { stored: SsoItem | undefined; isSameProvider: boolean },
): void {
  const needed = ["issuer", "clientId", "domains"] as const;
  const absent = [...needed, ...(isSameProvider ? [] : ["clientSecret" as const])].filter(
    (name) => given[name] === undefined,
  );
  if (!absent.length) return;
  const why = stored ? " because the provider changes" : "";
  const details = absent.map((path) => ({ path, message: "is required" }));
  throw invalid(`Required${why}: ${absent.join(", ")}`, { details });
}

const findIssuerFault = (issuer: string): string | undefined =>
  /[?#]/.test(issuer)
    ? "must not have a query or fragment"
    : findUrlFault(issuer, config.allowLoopbackWebhooks);
const invalidIssuer = (fault: string) =>
  invalid(`issuer ${fault}`, { details: [{ path: "issuer", message: fault }] });

/** Turns single sign-on off. Ends the sessions that it opened, and unlinks its users. */
export async function remove({ orgId }: Caller): Promise<void> {
  await write(
    removeItem(keys.sso(orgId), { if: exists, orThrow: notConfigured() }),
    update(keys.organization(orgId), { remove: ["sso"] }, { if: exists }),
  );
  await queueNotice("sso_removed", { orgId });
}

const notConfigured = () => missing("The organization has no single sign-on");

/** Reads the provider's metadata and keys, and checks everything else that logins need. */
export async function test({ orgId }: Caller): Promise<SsoTest> {
  const settings = await requireSettings(orgId);
  const { domains, verifiedAt } = settings;
  const [providerFault, holders] = await Promise.all([
    findProviderFault(orgId, settings),
    Promise.all(domains.map(getDomainHolder)),
  ]);
  const unproven = domains.filter((_, i) => holders[i] !== orgId);
  const provider = {
    name: "provider" as const,
    passed: providerFault === undefined,
    message: providerFault ?? "The metadata and the keys of the provider can be read.",
  };
  const domainCheck = {
    name: "domains" as const,
    passed: !unproven.length,
    message: unproven.length
      ? `Verify ${unproven.join(", ")}: see GET /domains. Its users cannot be linked until then.`
      : "All domains are verified.",
  };
  const login = {
    name: "login" as const,
    passed: verifiedAt !== null,
    message:
      verifiedAt === null
        ? `Nobody has logged in yet: open ${loginUrlOf(orgId)} in a browser.`
        : `Somebody first logged in at ${verifiedAt}.`,
  };
  return {
    ready: provider.passed && domainCheck.passed,
    checks: [provider, domainCheck, login],
  };
}

async function findProviderFault(orgId: number, settings: SsoItem): Promise<string | undefined> {
  try {
    await checkProvider(await providerClientOf(orgId, settings));
    return undefined;
  } catch (error) {
    if (error instanceof ProviderError) return `${error.message}.`;
    throw error;
  }
}

export const providerClientOf = async (
  orgId: number,
  { issuer, clientId, clientSecret }: SsoItem,
): Promise<ProviderClient> => ({
  issuer,
  clientId,
  clientSecret: await encryption.decrypt(clientSecret, encryptionContext(orgId)),
  redirectUri: redirectUriOf(orgId),
  allowLoopback: config.allowLoopbackWebhooks,
});
