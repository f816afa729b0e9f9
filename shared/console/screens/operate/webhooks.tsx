import { Button, Checkbox, Skeleton, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { CreateWebhookRequest, Webhook } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKeptRows } from "../../data/hidden-records.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { inSentence, t } from "../../language/translate.ts";
import { CopyAction } from "../../parts/copy-action.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { WebhookPanel } from "./webhook-panel.tsx";

export type EventName = CreateWebhookRequest["events"][number];

/** Programs that are told what happens. */
export function Webhooks() {
  const search = useSearch({ from: "/shell/webhooks" });
  const navigate = useNavigate({ from: "/webhooks" });
  const { timezone } = useMe().organization;
  const mayWrite = useRight("credentials:write");
  const [isAdding, setAdding] = useState(false);
  const pages = usePagedRows(queries.webhooks(), ({ webhooks }) => webhooks);
  const list = useKeptRows("webhooks", pages);
  const open = (webhook?: { id: number }) => navigate({ search: { webhook: webhook?.id } });
  return (
    <div className={search.webhook ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead title={t("Webhooks")} note={t("Programs of yours that are told what happens")}>
          {mayWrite && (
            <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
              {t("New webhook")}
            </Button>
          )}
        </PageHead>
        <RowTable
          label={t("Webhooks")}
          columns={columnsIn(timezone)}
          list={list}
          openId={search.webhook}
          onOpen={open}
          empty={
            <EmptyState title={t("No webhook yet")}>
              <p>
                {t(
                  "A webhook calls your program when an email bounces, a form is " +
                    "submitted and so on.",
                )}
              </p>
            </EmptyState>
          }
        />
      </div>
      {search.webhook !== undefined && (
        <WebhookPanel key={search.webhook} id={search.webhook} onClose={() => open()} />
      )}
      {isAdding && <NewWebhook onClose={() => setAdding(false)} />}
    </div>
  );
}

const columnsIn = (timezone: string): Column<Webhook>[] => [
  {
    label: t("Address"),
    className: "c-main",
    render: ({ url, description }) => (
      <span className="who">
        <b>{description || url}</b>
        {description && <span>{url}</span>}
      </span>
    ),
  },
  { label: t("Status"), className: "c-status", render: (webhook) => <State webhook={webhook} /> },
  {
    label: t("Events"),
    className: "c-tags quiet",
    render: ({ events }) => events.map((event) => inSentence(eventNames[event])).join(", "),
  },
  {
    label: t("Added"),
    className: "c-when quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

export function State({ webhook: { active, failingSince } }: { webhook: Webhook }) {
  if (!active) return <StatusMark status={t("Off")} />;
  return failingSince ? (
    <StatusMark status={t("Failing")} tone="bad" />
  ) : (
    <StatusMark status={t("On")} tone="good" />
  );
}

const groups: [title: string, events: EventName[]][] = [
  [
    t("Emails"),
    ["delivered", "open", "click", "bounce", "spam_report", "unsubscribe", "dropped", "deferred"],
  ],
  [
    t("Records"),
    [
      "contact.created",
      "contact.updated",
      "contact.unsubscribed",
      "contact.deleted",
      "form.submitted",
      "email.replied",
      "sequence.enrolled",
      "sequence.completed",
      "campaign.sent",
      "campaign.paused",
      "domain.verified",
      "sending_config.paused",
    ],
  ],
];

export const eventNames: Record<EventName, string> = {
  delivered: t("Delivered"),
  open: t("Open"),
  click: t("Click"),
  bounce: t("Bounce"),
  spam_report: t("Spam report"),
  unsubscribe: t("Unsubscribe"),
  dropped: t("Dropped"),
  deferred: t("Deferred"),
  "contact.created": t("Contact created"),
  "contact.updated": t("Contact updated"),
  "contact.unsubscribed": t("Contact unsubscribed"),
  "contact.deleted": t("Contact deleted"),
  "form.submitted": t("Form submitted"),
  "email.replied": t("Reply received"),
  "sequence.enrolled": t("Sequence enrolled"),
  "sequence.completed": t("Sequence completed"),
  "campaign.sent": t("Campaign sent"),
  "campaign.paused": t("Campaign paused"),
  "domain.verified": t("Domain verified"),
  "sending_config.paused": t("Sender paused"),
};

interface EventChoiceProps {
  value: string[];
  onChange(events: string[]): void;
}

export function EventChoice({ value, onChange }: EventChoiceProps) {
  return groups.map(([title, events]) => (
    <Checkbox.Group key={title} label={title} value={value} onChange={onChange}>
      <div className="choices">
        {events.map((event) => (
          <Checkbox key={event} value={event} label={eventNames[event]} />
        ))}
      </div>
    </Checkbox.Group>
  ));
}

function NewWebhook({ onClose }: { onClose(): void }) {
  const url = useTextField();
  const description = useTextField();
  const [events, setEvents] = useState<string[]>(["bounce", "spam_report", "unsubscribe"]);
  const adding = useChange({
    run: () =>
      api.webhooks.create({
        url: url.value,
        events: events as EventName[],
        ...(description.value && { description: description.value }),
      }),
    refreshes: ["webhooks"],
  });
  if (adding.data)
    return (
      <FormDialog
        title={t("Webhook added")}
        action={t("Done")}
        submission={{ mutate: onClose, isPending: false, error: null }}
        opened
        onClose={onClose}
      >
        <NewSecret secret={adding.data.secret} />
      </FormDialog>
    );
  return (
    <FormDialog
      title={t("New webhook")}
      action={t("Add webhook")}
      submission={adding}
      isDisabled={events.length === 0}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Address")}
        type="url"
        placeholder="https://shop.example/hooks/mail"
        required
        data-autofocus
        data-field="url"
        {...url.input}
      />
      <TextInput
        label={t("Description (optional)")}
        data-field="description"
        {...description.input}
      />
      <EventChoice value={events} onChange={setEvents} />
    </FormDialog>
  );
}

export function NewSecret({ secret }: { secret: string | undefined }) {
  if (!secret) return <Skeleton h={40} />;
  return (
    <div className="answer" role="status">
      <p>{t("Your program checks calls with this secret. It is not shown again.")}</p>
      <p className="mono breaks">
        {secret} <CopyAction value={secret} label={t("Copy the secret")} />
      </p>
    </div>
  );
}
