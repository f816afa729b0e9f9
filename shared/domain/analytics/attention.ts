// What needs attention: problems of an organization that somebody should look at, from a few reads.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { permits, type Right } from "../../rights.ts";
import {
  AttentionProblem,
  findAccountProblems,
  findCampaignProblems,
  findDomainProblems,
  findImportProblems,
  findQuotaProblems,
  findSenderProblems,
  findSequenceProblems,
  findUncertainMails,
  findWebhookProblems,
} from "./attention-problems.ts";

const maxProblems = 50;

export const Attention = z
  .object({
    problems: z
      .array(AttentionProblem)
      .describe("Up to 50 problems, errors first, then the latest. Empty: all is well."),
  })
  .meta({ id: "Attention" });
export type Attention = z.output<typeof Attention>;

interface ProblemSource {
  /** A caller without the right does not see these problems. */
  right: Right;
  scope: string;
  /** Callers who are limited to sites do not see them. */
  ofOrganization?: true;
  find(caller: Caller): Promise<AttentionProblem[]>;
}

const sources: ProblemSource[] = [
  { right: "sending:read", scope: "sending-configs:read", find: findSenderProblems },
  { right: "sending:read", scope: "domains:read", ofOrganization: true, find: findDomainProblems },
  { right: "organization:read", scope: "org:read", ofOrganization: true, find: findQuotaProblems },
  {
    right: "credentials:read",
    scope: "webhooks:read",
    ofOrganization: true,
    find: findWebhookProblems,
  },
  { right: "audience:read", scope: "imports:read", find: findImportProblems },
  { right: "marketing:read", scope: "campaigns:read", find: findCampaignProblems },
  { right: "marketing:read", scope: "sequences:read", find: findSequenceProblems },
  { right: "statistics:read", scope: "analytics:read", find: findUncertainMails },
];

/** Looks at the newest records of each kind only. */
export async function getAttention(caller: Caller): Promise<Attention> {
  const visible = sources.filter(
    ({ right, scope, ofOrganization }) =>
      permits(caller.scopes, { right, scope }) && !(ofOrganization && caller.siteIds),
  );
  const found = await Promise.all(visible.map(({ find }) => find(caller)));
  const problems = [...findAccountProblems(caller), ...found.flat()].toSorted(
    (a, b) => a.severity.localeCompare(b.severity) || (b.since ?? "").localeCompare(a.since ?? ""),
  );
  return { problems: problems.slice(0, maxProblems) };
}
