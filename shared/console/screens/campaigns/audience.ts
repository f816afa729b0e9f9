// The audience of a campaign as the choices of an input: "lists 7" is the list with the id 7.
import type { CampaignAudience, CampaignDetail } from "pennymail";

export type Members = CampaignAudience["exclude"];
type MemberKind = keyof Members;

const memberKinds: readonly MemberKind[] = ["lists", "tags", "segments"];
const none: Members = { lists: [], tags: [], segments: [] };

export const toChoice = (kind: MemberKind, id: number): string => `${kind} ${id}`;

/** The choice of all contacts. */
export const everybody = "all";

export const toChoices = (members: Members): string[] =>
  memberKinds.flatMap((kind) => members[kind].map((id) => toChoice(kind, id)));

export const includedChoices = (audience: CampaignAudience): string[] =>
  audience.all ? [everybody] : toChoices(audience);

/** All contacts and others exclude each other: the one that was chosen last counts. */
export function toIncluded(
  choices: readonly string[],
): Pick<CampaignAudience, "all" | keyof Members> {
  const all = choices.at(-1) === everybody;
  return { all, ...toMembers(all ? [] : choices.filter((choice) => choice !== everybody)) };
}

export function toMembers(choices: readonly string[]): Members {
  const members: Members = { lists: [], tags: [], segments: [] };
  for (const choice of choices) {
    const [kind, id] = choice.split(" ");
    members[kind as MemberKind].push(Number(id));
  }
  return members;
}

/** Also of campaigns with a single list, tag or segment. */
export function audienceOf(campaign: CampaignDetail): CampaignAudience {
  const { audience, listId, tagId, segmentId } = campaign;
  if (audience) return audience;
  const only = (id: number | null) => (id === null ? [] : [id]);
  return {
    all: false,
    lists: only(listId),
    tags: only(tagId),
    segments: only(segmentId),
    match: "any",
    exclude: none,
  };
}

export const hasAudience = (campaign: CampaignDetail): boolean =>
  campaign.resendOf !== null || includedChoices(audienceOf(campaign)).length > 0;

/** Whether a campaign has all that its email needs. */
export const isComplete = (campaign: CampaignDetail): boolean =>
  campaign.sendingConfigId !== null &&
  hasAudience(campaign) &&
  (campaign.templateId !== null ||
    (campaign.variants.length > 0 &&
      campaign.variants.every(({ templateId, hasHtml }) => templateId !== null || hasHtml)));
