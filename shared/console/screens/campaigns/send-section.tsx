import { Button, Checkbox, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Campaign, CampaignDetail, CampaignPreview } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import {
  countOf,
  formatAgo,
  formatNumber,
  formatTime,
  instantOf,
  localTimeOf,
} from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { sendRemovals } from "../../parts/undo-toast.tsx";
import { describeDuration } from "./ab-test.tsx";
import { isComplete } from "./audience.ts";

interface SendSectionProps {
  campaign: CampaignDetail;
  preview: CampaignPreview | undefined;
  isSaving: boolean;
}

const hour = 3_600_000;

/** When the campaign starts, and what will happen then. */
export function SendSection({ campaign, preview, isSaving }: SendSectionProps) {
  const { timezone } = useMe().organization;
  const [time, setTime] = useState(
    campaign.localTime ?? (campaign.scheduledAt ? localTimeOf(campaign.scheduledAt, timezone) : ""),
  );
  const [isLocal, setLocal] = useState(campaign.localTime !== null);
  const [isConfirming, setConfirming] = useState<true>();
  const scheduledAt = time ? instantOf(time, timezone) : undefined;
  const start = useChange<true, Campaign>({
    run: async () => {
      // A variant that was just removed must not be sent.
      await sendRemovals();
      return scheduledAt
        ? api.campaigns.schedule(campaign.id, isLocal ? { localTime: time } : { scheduledAt })
        : api.campaigns.send(campaign.id);
    },
    refreshes: ["campaigns"],
    onDone: () => setConfirming(undefined),
  });
  const count = preview?.wouldReceive ?? 0;
  const action = `${scheduledAt ? "Schedule for" : "Send to"} ${countOf(count, "contact")}`;
  const suggestTime = () => {
    const next = new Date(Math.ceil((Date.now() + hour) / hour) * hour);
    setTime(localTimeOf(next.toISOString(), timezone));
  };
  return (
    <Card title="6. Send">
      <SegmentedControl
        aria-label="When"
        value={time ? "later" : "now"}
        onChange={(value) => (value === "now" ? setTime("") : suggestTime())}
        data={[
          { value: "now", label: "Now" },
          { value: "later", label: "At a time" },
        ]}
      />
      {scheduledAt && (
        <>
          <TextInput
            type="datetime-local"
            label="Start"
            description={
              isLocal ? "On the clock of each contact." : describeTime(scheduledAt, timezone)
            }
            value={time}
            onChange={(event) => setTime(event.currentTarget.value)}
          />
          <Checkbox
            label="At the local time of each contact"
            checked={isLocal}
            onChange={(event) => setLocal(event.currentTarget.checked)}
          />
        </>
      )}
      {!isComplete(campaign) && <p className="quiet">Still missing: {missingParts(campaign)}.</p>}
      <div className="buttons">
        <Button disabled={count === 0 || isSaving} onClick={() => setConfirming(true)}>
          {action}
        </Button>
      </div>
      <ConfirmDialog
        title={campaign.name}
        action={action}
        target={isConfirming}
        change={start}
        onClose={() => setConfirming(undefined)}
      >
        <Consequences
          campaign={campaign}
          preview={preview}
          start={scheduledAt && describeStart({ scheduledAt, isLocal, time, timezone })}
        />
      </ConfirmDialog>
    </Card>
  );
}

interface ChosenStart {
  scheduledAt: string;
  /** `time` is on the clock of each contact. */
  isLocal: boolean;
  time: string;
  timezone: string;
}

const describeStart = ({ scheduledAt, isLocal, time, timezone }: ChosenStart): string =>
  isLocal
    ? `on ${time.replace("T", " at ")} on its own clock`
    : `on ${formatTime(scheduledAt, timezone)} (${timezone})`;

/** How far away the time is, and what it is on this device, if it is in another zone. */
function describeTime(iso: string, timezone: string): string {
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [there, local] = [formatTime(iso, timezone), formatTime(iso, here)];
  const text = `In the time zone ${timezone}: ${formatAgo(iso, timezone)}.`;
  return there === local ? text : `${text} On this device: ${local} (${here}).`;
}

function missingParts(campaign: CampaignDetail): string {
  const parts = [
    campaign.sendingConfigId === null && "a sender",
    campaign.templateId === null && "a template",
    !isComplete({ ...campaign, sendingConfigId: 1, templateId: 1 }) && "an audience",
  ];
  return parts.filter(Boolean).join(", ");
}

interface ConsequencesProps {
  campaign: CampaignDetail;
  preview: CampaignPreview | undefined;
  /** Absent: now. */
  start: string | undefined;
}

function Consequences({ campaign, preview, start }: ConsequencesProps) {
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs;
  if (!preview) return null;
  const { wouldReceive, candidates } = preview;
  const left = candidates - wouldReceive;
  const sender = configs?.find(({ id }) => id === campaign.sendingConfigId)?.fromEmail;
  const { abTest } = campaign;
  return (
    <ul className="consequences">
      <li>
        This email goes to <b>{countOf(wouldReceive, "contact")}</b> {start ?? "now"}, from {sender}
        .{start && " Contacts are counted again then."}
      </li>
      {abTest && (
        <li>
          About {abTest.testPercent} % get the {formatNumber(campaign.variants.length)} variants
          first. After {describeDuration(abTest.durationMinutes)}, the others get the one with the
          most {abTest.metric === "open_rate" ? "opens" : "clicks"}.
        </li>
      )}
      {left > 0 && <li>{countOf(left, "contact")} of the audience get nothing.</li>}
      <li>You can pause it while it is being sent. Emails that left cannot be taken back.</li>
    </ul>
  );
}
