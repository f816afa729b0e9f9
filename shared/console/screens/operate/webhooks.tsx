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
import { capitalize, formatAgo } from "../../format.ts";
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
        <PageHead title="Webhooks" note="Programs of yours that are told what happens">
          {mayWrite && (
            <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
              New webhook
            </Button>
          )}
        </PageHead>
        <RowTable
          label="Webhooks"
          columns={columnsIn(timezone)}
          list={list}
          openId={search.webhook}
          onOpen={open}
          empty={
            <EmptyState title="No webhook yet">
              <p>
                A webhook calls your program when an email bounces, a form is submitted and so on.
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
    label: "Address",
    className: "c-main",
    render: ({ url, description }) => (
      <span className="who">
        <b>{description || url}</b>
        {description && <span>{url}</span>}
      </span>
    ),
  },
  { label: "Status", className: "c-status", render: (webhook) => <State webhook={webhook} /> },
  {
    label: "Events",
    className: "c-tags quiet",
    render: ({ events }) => events.map(labelOf).join(", "),
  },
  {
    label: "Added",
    className: "c-when quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

export function State({ webhook: { active, failingSince } }: { webhook: Webhook }) {
  if (!active) return <StatusMark status="off" />;
  return failingSince ? (
    <StatusMark status="failing" tone="bad" />
  ) : (
    <StatusMark status="on" tone="good" />
  );
}

const groups: [title: string, events: EventName[]][] = [
  [
    "Emails",
    ["delivered", "open", "click", "bounce", "spam_report", "unsubscribe", "dropped", "deferred"],
  ],
  [
    "Records",
    [
      "contact.created",
      "contact.updated",
      "contact.unsubscribed",
      "contact.deleted",
      "form.submitted",
      "sequence.enrolled",
      "sequence.completed",
      "campaign.sent",
      "campaign.paused",
      "domain.verified",
      "sending_config.paused",
    ],
  ],
];

export const labelOf = (event: EventName): string =>
  event.replace("sending_config", "sender").replaceAll(/[._]/g, " ");

interface EventChoiceProps {
  value: string[];
  onChange(events: string[]): void;
}

export function EventChoice({ value, onChange }: EventChoiceProps) {
  return groups.map(([title, events]) => (
    <Checkbox.Group key={title} label={title} value={value} onChange={onChange}>
      <div className="choices">
        {events.map((event) => (
          <Checkbox key={event} value={event} label={capitalize(labelOf(event))} />
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
        title="Webhook added"
        action="Done"
        submission={{ mutate: onClose, isPending: false, error: null }}
        opened
        onClose={onClose}
      >
        <NewSecret secret={adding.data.secret} />
      </FormDialog>
    );
  return (
    <FormDialog
      title="New webhook"
      action="Add webhook"
      submission={adding}
      isDisabled={events.length === 0}
      opened
      onClose={onClose}
    >
      <TextInput
        label="Address"
        type="url"
        placeholder="https://shop.example/hooks/mail"
        required
        data-autofocus
        {...url.input}
      />
      <TextInput label="Description (optional)" {...description.input} />
      <EventChoice value={events} onChange={setEvents} />
    </FormDialog>
  );
}

export function NewSecret({ secret }: { secret: string | undefined }) {
  if (!secret) return <Skeleton h={40} />;
  return (
    <div className="answer" role="status">
      <p>Your program checks calls with this secret. It is not shown again.</p>
      <p className="mono breaks">
        {secret} <CopyAction value={secret} label="Copy the secret" />
      </p>
    </div>
  );
}
