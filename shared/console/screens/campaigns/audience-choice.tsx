import { MultiSelect, type MultiSelectProps, SegmentedControl, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignAudience, CampaignDetail } from "pennymail";
import { type ReactNode, useState } from "react";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useNamedRecords } from "../../parts/record-select.tsx";
import {
  audienceOf,
  everybody,
  hasAudience,
  includedChoices,
  type Members,
  toChoice,
  toChoices,
  toIncluded,
  toMembers,
} from "./audience.ts";
import type { ChoiceProps } from "./campaign-draft.tsx";

/** Several lists, tags and segments, and those whose contacts are left out. */
export function AudienceChoice({ campaign, onChange }: ChoiceProps) {
  const [audience, setAudience] = useState(() => audienceOf(campaign));
  const [text, setText] = useState("");
  const { options, counts } = useMemberOptions(campaign.siteId, text, audience);
  if (campaign.resendOf) return <ResendAudience resendOf={campaign.resendOf} />;
  const change = (changes: Partial<typeof audience>) => {
    const next = { ...audience, ...changes };
    setAudience(next);
    const isEmpty = includedChoices(next).length === 0;
    const single = { listId: null, tagId: null, segmentId: null };
    onChange({ ...single, audience: isEmpty ? null : next });
  };
  const chosen = includedChoices(audience);
  const excluded = toChoices(audience.exclude);
  const everyone = { value: everybody, label: t("All subscribed contacts") };
  const renderOption: MultiSelectProps["renderOption"] = ({ option: { value, label } }) => {
    const count = counts.get(value);
    return (
      <span className="counted-option">
        <span>{label}</span>
        {count !== undefined && <span className="quiet">{formatNumber(count)}</span>}
      </span>
    );
  };
  return (
    <>
      <MultiSelect
        label={t("Send to")}
        placeholder={chosen.length ? "" : t("All, lists, tags or segments")}
        searchable
        onSearchChange={setText}
        hidePickedOptions
        clearable={false}
        nothingFoundMessage={t("No list, tag or segment has this name.")}
        data={[everyone, ...options]}
        renderOption={renderOption}
        value={chosen}
        onChange={(choices) => change(toIncluded(choices))}
      />
      {chosen.length > 1 && (
        <SegmentedControl
          aria-label={t("Which contacts")}
          size="xs"
          value={audience.match}
          onChange={(match) => change({ match: match as typeof audience.match })}
          data={[
            { value: "any", label: t("In any of them") },
            { value: "all", label: t("In all of them") },
          ]}
        />
      )}
      {chosen.length > 0 && (
        <MultiSelect
          label={t("But not to (optional)")}
          placeholder={excluded.length ? "" : t("Nobody is left out")}
          searchable
          onSearchChange={setText}
          hidePickedOptions
          clearable={false}
          data={options}
          renderOption={renderOption}
          value={excluded}
          onChange={(choices) => change({ exclude: toMembers(choices) })}
        />
      )}
    </>
  );
}

function useMemberOptions(siteId: number, text: string, audience: CampaignAudience) {
  const chosenOf = (group: keyof Members) => [...audience[group], ...audience.exclude[group]];
  const useNames = (group: keyof Members) =>
    useNamedRecords({ group, siteId, text, chosen: chosenOf(group) });
  const [lists, tags, segments] = [useNames("lists"), useNames("tags"), useNames("segments")];
  const counts = new Map<string, number>();
  for (const [kind, records] of Object.entries({ lists, tags }))
    for (const { id, contactCount } of records)
      if (contactCount !== undefined) counts.set(toChoice(kind as keyof Members, id), contactCount);
  const options = [
    { group: t("Lists"), kind: "lists" as const, records: lists },
    { group: t("Tags"), kind: "tags" as const, records: tags },
    { group: t("Segments"), kind: "segments" as const, records: segments },
  ].flatMap(({ group, kind, records }) => {
    const items = records.map(({ id, name }) => ({ value: toChoice(kind, id), label: name }));
    return items.length > 0 ? [{ group, items }] : [];
  });
  return { options, counts };
}

function ResendAudience({ resendOf }: { resendOf: NonNullable<CampaignDetail["resendOf"]> }) {
  const values = {
    link: (text: ReactNode) => (
      <Link to="/campaigns/$id" params={{ id: resendOf.campaignId }}>
        {text}
      </Link>
    ),
  };
  return (
    <p>
      {resendOf.to === "failed"
        ? tNodes("Recipients of <link>the first campaign</link> whose email failed.", values)
        : tNodes("Recipients of <link>the first campaign</link> who have not opened it.", values)}
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
        {tNodes("{mailed} of {matched} contacts get it.", {
          mailed: <b>{formatNumber(mailed)}</b>,
          matched: formatNumber(matched),
        })}
        {!exact && (
          <span className="quiet"> {t("The exact number is known when it is sent.")}</span>
        )}
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
