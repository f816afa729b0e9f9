// Finds the plan of the caller and applies the rate limit of its organization, before the request
// is validated.
import { get, getTogether } from "../adapters/dynamodb/table.ts";
import type { Caller } from "../caller.ts";
import { config } from "../config.ts";
import type { Unverified } from "../domain/identity/organizations.ts";
import { Problem, unauthenticated } from "../errors.ts";
import { cacheDeletedSites, type DeletedSites } from "../kernel/site-access.ts";
import { keys } from "../keys.ts";
import type { PlanKey } from "../plans.ts";
import { authenticate, recordKeyUse } from "./authenticate.ts";
import * as rateLimit from "./rate-limit.ts";
import type { ApiReply, ApiRequest, Identity, RateLimit } from "./route.ts";

/**
 * Counts the request and sets the rate-limit headers. Throws 429 if the organization exceeds its
 * limit.
 */
export async function admit(
  identity: Identity,
  limit: RateLimit,
  reply: ApiReply,
): Promise<Caller> {
  const kind = limit === "send" ? "send" : "general";
  const isUncounted = limit === "none";
  const [organization, used] = await Promise.all([
    organizationOf(identity),
    isUncounted
      ? rateLimit.readCount(identity.orgId, kind)
      : rateLimit.countRequest(identity.orgId, kind),
    recordKeyUse(identity),
  ]);
  if (!organization) throw unauthenticated();
  cacheDeletedSites(identity.orgId, organization);
  const isOver = !isUncounted && rateLimit.exceeds(organization.plan, kind, used);
  const plan = isOver ? await currentPlan(identity) : organization.plan;
  Object.assign(reply.headers, rateLimit.toHeaders(rateLimit.toWindow(plan, kind, used)));
  if (!isUncounted) rateLimit.enforce({ orgId: identity.orgId, plan }, kind, used);
  const unverified = config.requiresVerifiedEmail && organization.unverified;
  return { ...identity, plan, ...(unverified && { unverified: await isUnverified(identity) }) };
}

/** Counts a request without a route if its credential is valid. Throws only 429. */
export async function countUnrouted(
  request: ApiRequest,
  method: string,
  reply: ApiReply,
): Promise<void> {
  try {
    await admit(await authenticate(request, method), "general", reply);
  } catch (error) {
    if (!(error instanceof Problem) || error.kind === "limited") throw error;
  }
}

type OrganizationItem = { plan: PlanKey } & DeletedSites & Unverified;

// The eventually consistent read may miss an organization that has just signed up.
async function organizationOf({ orgId }: Identity) {
  const key = keys.organization(orgId);
  return (await getTogether<OrganizationItem>(key)) ?? (await get<OrganizationItem>(key));
}

/** A strongly consistent read, so that the verification takes effect at once. */
async function isUnverified({ orgId }: Identity): Promise<boolean> {
  return (await get<Unverified>(keys.organization(orgId)))?.unverified ?? false;
}

/** A strongly consistent read, so that a plan upgrade takes effect before a request is refused. */
async function currentPlan({ orgId }: Identity): Promise<PlanKey> {
  const organization = await get<{ plan: PlanKey }>(keys.organization(orgId));
  if (!organization) throw unauthenticated();
  return organization.plan;
}
