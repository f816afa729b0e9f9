// Mailed links of invitations: their tokens, and what the holder of a token may see.
import * as z from "zod";
import { get, put, write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../clock.ts";
import { invalid } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { domainOf } from "../../kernel/email-fields.ts";
import { keys, sha256 } from "../../keys.ts";
import type { LoginRecord } from "./accounts.ts";
import { Invitation, isExpired, type StoredInvitation } from "./invitations.ts";
import * as members from "./members.ts";
import * as organizations from "./organizations.ts";
import { loginUrlOf, requiresSso } from "./sso/enforcement.ts";
import { getSettings } from "./sso/settings.ts";

interface InvitationToken {
  orgId: number;
  id: number;
  expires: number;
}

/** What the mail of an invitation needs. */
export interface MailedInvitation {
  email: string;
  organizationName: string;
  /** Undefined if the inviter has no name or is no member any more. */
  inviterName: string | undefined;
  token: string;
}

/**
 * Creates a token for the link of a mail. Undefined if the invitation was revoked, accepted or has
 * expired.
 */
export async function createToken(
  orgId: number,
  id: number,
): Promise<MailedInvitation | undefined> {
  const stored = await get<StoredInvitation>(keys.record(orgId, "INVITATION", id));
  if (!stored || isExpired(stored)) return undefined;
  const token = randomBase62(43);
  const expires = epochSeconds(new Date(stored.expiresAt));
  const item: InvitationToken = { orgId, id, expires };
  await write(put(keys.invitationToken(sha256(token)), item));
  const [{ name: organizationName }, inviter] = await Promise.all([
    organizations.find(orgId),
    members.getMember(orgId, stored.invitedBy.id),
  ]);
  const inviterName = inviter?.name ?? undefined;
  return { email: stored.email, organizationName, inviterName, token };
}

export interface OpenInvitation {
  orgId: number;
  stored: StoredInvitation;
  /** Undefined: accepted without the mailed link. */
  tokenHash?: string;
}

/** Undefined if the token was used, was revoked, has expired or never existed. */
export async function findOpen(tokenHash: string): Promise<OpenInvitation | undefined> {
  const item = await get<InvitationToken>(keys.invitationToken(tokenHash));
  if (!item || item.expires <= epochSeconds()) return undefined;
  const { orgId, id } = item;
  const stored = await get<StoredInvitation>(keys.record(orgId, "INVITATION", id));
  return stored && { orgId, stored, tokenHash };
}

/** The open invitation of an address. The caller must have proven the address. */
export async function findOpenByAddress(
  orgId: number,
  email: string,
): Promise<OpenInvitation | undefined> {
  const pointer = await get<{ id: number }>(keys.invitedAddress(orgId, email));
  const stored =
    pointer && (await get<StoredInvitation>(keys.record(orgId, "INVITATION", pointer.id)));
  return stored && !isExpired(stored) ? { orgId, stored } : undefined;
}

export const InvitationPreview = z
  .object({
    organizationName: z.string().describe("Name of the organization."),
    email: Invitation.shape.email,
    invitedBy: z.string().describe("Email address of the member who created the invitation."),
    role: members.RoleOfMember,
    hasAccount: z
      .boolean()
      .describe("Whether the address has an account. Then its password accepts the invitation."),
    requiresSso: z
      .boolean()
      .describe(
        "Whether the organization requires single sign-on of the address. A user without an " +
          "account then accepts the invitation by logging in at `ssoUrl`.",
      ),
    ssoUrl: z
      .string()
      .nullable()
      .describe(
        "URL at which the address can use single sign-on. Open it in a browser. `null`: none.",
      ),
    expiresAt: Invitation.shape.expiresAt,
  })
  .meta({ id: "InvitationPreview" });
export type InvitationPreview = z.output<typeof InvitationPreview>;

/** What the holder of a token may see. Does not use up the token. Undefined for an invalid one. */
export async function findByToken(token: string): Promise<InvitationPreview | undefined> {
  const open = await findOpen(sha256(token));
  if (!open) return undefined;
  const { orgId, stored } = open;
  const { email, role, invitedBy, expiresAt } = stored;
  const [organization, login, sso] = await Promise.all([
    organizations.find(orgId),
    get<LoginRecord>(keys.user(email)),
    getSettings(orgId),
  ]);
  return {
    organizationName: organization.name,
    email,
    invitedBy: invitedBy.email,
    role,
    hasAccount: login !== undefined,
    requiresSso: requiresSso(organization, stored),
    ssoUrl: sso?.domains.includes(domainOf(email)) ? loginUrlOf(orgId) : null,
    expiresAt,
  };
}

/** Like `findByToken`. Throws 400 `invalid_token`. */
export async function preview(token: string): Promise<InvitationPreview> {
  const found = await findByToken(token);
  if (!found) throw invalidToken();
  return found;
}

export const invalidToken = () =>
  invalid("The invitation was accepted, revoked or has expired: ask for a new one", {
    code: "invalid_token",
    details: [{ path: "token", message: "is no longer valid" }],
  });
