import { Button, Checkbox, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Campaign, CampaignDetail, CampaignPreview } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatNumber, formatTime, instantOf, localTimeOf } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { sendRemovals } from "../../parts/undo-toast.tsx";
import { describeDuration, measureOf } from "./ab-test.tsx";
import { isComplete } from "./audience.ts";
import { RecurringStart } from "./series/recurring-start.tsx";

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
  const [isRecurring, setRecurring] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const scheduledAt = time ? instantOf(time, timezone) : undefined;
  const start = useChange<true, Campaign>({
    run: async () => {
      // A variant that was just removed must not be sent.
      await sendRemovals();
      const confirmed = isNotice ? { confirm: campaign.name } : {};
      if (!scheduledAt) return api.campaigns.send(campaign.id, confirmed);
      const at = isLocal ? { localTime: time } : { scheduledAt };
      return api.campaigns.schedule(campaign.id, { ...at, ...confirmed });
    },
    refreshes: ["campaigns"],
    says: ({ status, scheduledAt: at }) =>
      status === "scheduled" && at
        ? t("The campaign is scheduled for {at}.", { at: formatTime(at, timezone) })
        : t("The campaign is being sent."),
    onDone: () => {
      setConfirming(undefined);
      setChanging(false);
      scrollTo({ top: 0 });
    },
  });
  const isNotice = campaign.purpose === "notice";
  const count = preview?.wouldReceive ?? 0;
  const action = scheduledAt
    ? t("Schedule for {count, plural, one {# contact} other {# contacts}}", { count })
    : t("Send to {count, plural, one {# contact} other {# contacts}}", { count });
  const suggestTime = () => {
    const next = new Date(Math.ceil((Date.now() + hour) / hour) * hour);
    setTime(localTimeOf(next.toISOString(), timezone));
  };
  const choose = (value: string) => {
    setRecurring(value === "recurring");
    if (value === "later") suggestTime();
    else setTime("");
  };
  const chosenStart = time ? "later" : "now";
  const isReady = isComplete(campaign) && !isSaving;
  const isPast = !isLocal && scheduledAt !== undefined && Date.parse(scheduledAt) < Date.now();
  if (campaign.status === "scheduled" && !isChanging)
    return <Scheduled campaign={campaign} onChange={() => setChanging(true)} />;
  return (
    <Card title={t("7. Send")}>
      <SegmentedControl
        aria-label={t("When")}
        value={isRecurring ? "recurring" : chosenStart}
        onChange={choose}
        data={[
          { value: "now", label: t("Now") },
          { value: "later", label: t("At a time") },
          { value: "recurring", label: t("Again and again") },
        ]}
      />
      {scheduledAt && (
        <>
          <TextInput
            type="datetime-local"
            label={t("Start")}
            description={
              isLocal ? t("On the clock of each contact.") : describeTime(scheduledAt, timezone)
            }
            error={isPast && t("This time is over. Choose a later one, or send it now.")}
            value={time}
            onChange={(event) => setTime(event.currentTarget.value)}
          />
          <Checkbox
            label={t("At the local time of each contact")}
            checked={isLocal}
            onChange={(event) => setLocal(event.currentTarget.checked)}
          />
        </>
      )}
      {!isComplete(campaign) && (
        <p className="quiet">{t("Still missing: {parts}.", { parts: missingParts(campaign) })}</p>
      )}
      {isRecurring ? (
        <RecurringStart campaign={campaign} isReady={isReady} />
      ) : (
        <div className="buttons">
          <Button disabled={count === 0 || isSaving || isPast} onClick={() => setConfirming(true)}>
            {action}
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={campaign.name}
        action={action}
        target={isConfirming}
        typed={isNotice ? campaign.name : undefined}
        change={start}
        onClose={() => setConfirming(undefined)}
      >
        <Consequences
          campaign={campaign}
          preview={preview}
          start={scheduledAt ? { scheduledAt, isLocal, time, timezone } : undefined}
        />
      </ConfirmDialog>
    </Card>
  );
}

interface ScheduledProps {
  campaign: CampaignDetail;
  onChange(): void;
}

function Scheduled({ campaign: { id, scheduledAt, localTime }, onChange }: ScheduledProps) {
  const { timezone } = useMe().organization;
  const unscheduling = useChange({
    run: () => api.campaigns.unschedule(id),
    refreshes: ["campaigns"],
    says: () => t("The campaign is a draft again."),
  });
  return (
    <Card title={t("7. Send")}>
      <p role="status">
        <b>
          {t("Scheduled for {time}", {
            time: localTime
              ? t("{localTime}, local time", { localTime: localTime.replace("T", " ") })
              : scheduledAt && `${formatTime(scheduledAt, timezone)} (${timezone})`,
          })}
        </b>
        {!localTime && scheduledAt && distanceOf(scheduledAt, timezone)}.{" "}
        {t("Contacts are counted then. Changes above still count.")}
      </p>
      <ErrorNote error={unscheduling.error} />
      <div className="buttons">
        <Button variant="default" onClick={onChange}>
          {t("Change the time")}
        </Button>
        <Button
          variant="default"
          loading={unscheduling.isPending}
          onClick={() => unscheduling.mutate()}
        >
          {t("Back to draft")}
        </Button>
      </div>
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

/** To how many contacts the email goes, when, and from which sender. */
function describeSending(
  count: number,
  sender: string | null | undefined,
  start: ChosenStart | undefined,
): ReactNode {
  const values = { count, sender, b: (text: ReactNode) => <b>{text}</b> };
  if (!start)
    return tNodes(
      "This email goes to <b>{count, plural, one {# contact} other {# contacts}}</b> now, from " +
        "{sender}.",
      values,
    );
  const { scheduledAt, isLocal, timezone } = start;
  if (!isLocal)
    return tNodes(
      "This email goes to <b>{count, plural, one {# contact} other {# contacts}}</b> on {time} " +
        "({timezone}), from {sender}. Contacts are counted again then.",
      { ...values, time: formatTime(scheduledAt, timezone), timezone },
    );
  const [day, time] = start.time.split("T");
  return tNodes(
    "This email goes to <b>{count, plural, one {# contact} other {# contacts}}</b> on {day} at " +
      "{time} on its own clock, from {sender}. Contacts are counted again then.",
    { ...values, day, time },
  );
}

/** How far away the time is. Nothing, where the distance would be a date again. */
function distanceOf(iso: string, timezone: string): string {
  const distance = formatAgo(iso, timezone);
  return formatTime(iso, timezone).startsWith(distance) ? "" : `, ${distance}`;
}

/** How far away the time is, and what it is on this device, if it is in another zone. */
function describeTime(iso: string, timezone: string): string {
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [there, local] = [formatTime(iso, timezone), formatTime(iso, here)];
  const text = t("In the time zone {timezone}: {time}.", {
    timezone,
    time: formatAgo(iso, timezone),
  });
  return there === local
    ? text
    : t("{text} On this device: {local} ({here}).", { text, local, here });
}

function missingParts(campaign: CampaignDetail): string {
  const parts = [
    campaign.sendingConfigId === null && t("a sender"),
    campaign.templateId === null && t("an email"),
    !isComplete({ ...campaign, sendingConfigId: 1, templateId: 1 }) && t("an audience"),
  ];
  return parts.filter(Boolean).join(", ");
}

const smallVariant = 100;

interface ConsequencesProps {
  campaign: CampaignDetail;
  preview: CampaignPreview | undefined;
  /** Absent: now. */
  start: ChosenStart | undefined;
}

function Consequences({ campaign, preview, start }: ConsequencesProps) {
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs;
  if (!preview) return null;
  const { wouldReceive, candidates } = preview;
  const left = candidates - wouldReceive;
  const config = configs?.find(({ id }) => id === campaign.sendingConfigId);
  const sender = campaign.fromEmail ?? config?.fromEmail;
  const isSilent =
    config !== undefined && config.webhookUrl !== null && config.firstEventAt === null;
  const { abTest, variants } = campaign;
  const tested = (wouldReceive * (abTest?.testPercent ?? 100)) / 100;
  const perVariant = variants.length > 1 ? Math.round(tested / variants.length) : undefined;
  return (
    <ul className="consequences">
      <li>{describeSending(wouldReceive, sender, start)}</li>
      {abTest && (
        <li>
          {t(
            "About {percent} % get the {variants} variants first. After {duration}, the others " +
              "get the one with the most {measure, select, open {opens} click {clicks} other " +
              "{conversions}}.",
            {
              percent: abTest.testPercent,
              variants: formatNumber(campaign.variants.length),
              duration: describeDuration(abTest.durationMinutes),
              measure: measureOf(abTest),
            },
          )}
        </li>
      )}
      {perVariant !== undefined && perVariant < smallVariant && (
        <li>
          {t(
            "Each variant goes to about {perVariant}. With fewer than " +
              "{smallVariant}, the better one is a matter of chance.",
            {
              perVariant: t("{count, plural, one {# contact} other {# contacts}}", {
                count: perVariant,
              }),
              smallVariant,
            },
          )}
        </li>
      )}
      {campaign.purpose === "notice" && (
        <li>
          {tNodes(
            "<b>Contacts who unsubscribed get it too</b>, without an unsubscribe " +
              "link. Only send what they must know.",
            { b: (text) => <b>{text}</b> },
          )}
        </li>
      )}
      {isSilent && (
        <li>
          {tNodes(
            "{b}: you will not see deliveries, opens and bounces, and addresses " +
              "that bounced get email again. <link>Set its reports up</link>",
            {
              b: (
                <b>
                  {t("The provider of {fromEmail} does not report what happens", {
                    fromEmail: config.fromEmail,
                  })}
                </b>
              ),
              link: (text) => (
                <Link to="/settings/{-$section}" params={{ section: "senders" }}>
                  {text}
                </Link>
              ),
            },
          )}
        </li>
      )}
      {left > 0 && (
        <li>
          {t(
            "{left, plural, one {# contact of the audience gets} other {# contacts of the " +
              "audience get}} nothing.",
            { left },
          )}
        </li>
      )}
      <li>
        {t("You can pause it while it is being sent. Emails that left cannot be taken back.")}
      </li>
    </ul>
  );
}
