import { MultiSelect, SegmentedControl, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignDetail } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { audienceOf, hasAudience, toChoice, toChoices, toMembers } from "./audience.ts";
import type { ChoiceProps } from "./campaign-draft.tsx";

/** Several lists, tags and segments, and those whose contacts are left out. */
export function AudienceChoice({ campaign, onChange }: ChoiceProps) {
  const [audience, setAudience] = useState(() => audienceOf(campaign));
  const options = useMemberOptions(campaign.siteId);
  if (campaign.resendOf) return <ResendAudience resendOf={campaign.resendOf} />;
  const change = (changes: Partial<typeof audience>) => {
    const next = { ...audience, ...changes };
    setAudience(next);
    const isEmpty = toChoices(next).length === 0;
    const single = { listId: null, tagId: null, segmentId: null };
    onChange({ ...single, audience: isEmpty ? null : next });
  };
  const chosen = toChoices(audience);
  const excluded = toChoices(audience.exclude);
  return (
    <>
      <MultiSelect
        label="Send to"
        placeholder={chosen.length ? "" : "Lists, tags and segments"}
        searchable
        hidePickedOptions
        clearable={false}
        nothingFoundMessage="No list, tag or segment has this name."
        data={options}
        value={chosen}
        onChange={(choices) => change(toMembers(choices))}
      />
      {chosen.length > 1 && (
        <SegmentedControl
          aria-label="Which contacts"
          size="xs"
          value={audience.match}
          onChange={(match) => change({ match: match as typeof audience.match })}
          data={[
            { value: "any", label: "In any of them" },
            { value: "all", label: "In all of them" },
          ]}
        />
      )}
      {chosen.length > 0 && (
        <MultiSelect
          label="But not to (optional)"
          placeholder={excluded.length ? "" : "Nobody is left out"}
          searchable
          hidePickedOptions
          clearable={false}
          data={options}
          value={excluded}
          onChange={(choices) => change({ exclude: toMembers(choices) })}
        />
      )}
    </>
  );
}

function useMemberOptions(siteId: number) {
  const lists = useQuery(queries.lists(siteId)).data?.lists;
  const tags = useQuery(queries.tags(siteId)).data?.tags;
  const segments = useQuery(queries.segments(siteId)).data?.segments;
  return [
    { group: "Lists", kind: "lists" as const, records: lists },
    { group: "Tags", kind: "tags" as const, records: tags },
    { group: "Segments", kind: "segments" as const, records: segments },
  ].flatMap(({ group, kind, records = [] }) => {
    const items = records.map(({ id, name }) => ({ value: toChoice(kind, id), label: name }));
    return items.length > 0 ? [{ group, items }] : [];
  });
}

function ResendAudience({ resendOf }: { resendOf: NonNullable<CampaignDetail["resendOf"]> }) {
  return (
    <p>
      Recipients of{" "}
      <Link to="/campaigns/$id" params={{ id: resendOf.campaignId }}>
        the first campaign
      </Link>{" "}
      {resendOf.to === "failed" ? "whose email failed." : "who have not opened it."}
    </p>
  );
}

interface AudienceCountsProps {
  campaign: CampaignDetail;
  /** Whether nothing of it is being changed. */
  isCurrent: boolean;
}

/** How many get it, and why the others do not. It needs no template and no sender. */
export function AudienceCounts({ campaign, isCurrent }: AudienceCountsProps) {
  const enabled = isCurrent && hasAudience(campaign);
  const result = useQuery({ ...queries.campaignAudience(campaign), enabled });
  const { data, error } = result;
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={24} />;
  const { matched, mailed, notMailed, exact } = data;
  return (
    <div
      className={isCurrent && !result.isPlaceholderData ? "answer" : "answer stale"}
      aria-live="polite"
    >
      <p>
        <b>{formatNumber(mailed)}</b> of {formatNumber(matched)} contacts get it.
        {!exact && <span className="quiet"> The exact number is known when it is sent.</span>}
      </p>
      {notMailed.length > 0 && (
        <ul className="bullets">
          {notMailed.map(({ reason, count, message }) => (
            <li key={reason}>
              {formatNumber(count)}: {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
