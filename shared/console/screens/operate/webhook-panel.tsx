import { Button, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Webhook, WebhookDelivery } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { capitalize, formatAgo, formatNumber } from "../../format.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Form } from "../../parts/form.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { EventChoice, type EventName, labelOf, NewSecret, State } from "./webhooks.tsx";

interface WebhookPanelProps {
  id: number;
  onClose(): void;
}

export function WebhookPanel({ id, onClose }: WebhookPanelProps) {
  const { data: webhook, error } = useQuery(queries.webhook(id));
  const title = webhook ? (
    <>
      <h2>{webhook.description || "Webhook"}</h2>
      <p className="breaks">{webhook.url}</p>
    </>
  ) : (
    <Skeleton h={40} w={200} />
  );
  return (
    <SidePanel label="Webhook" title={title} onClose={onClose}>
      <ErrorNote error={error} />
      {webhook && <Detail webhook={webhook} onClose={onClose} />}
    </SidePanel>
  );
}

function Detail({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const mayWrite = useRight("credentials:write");
  const { timezone } = useMe().organization;
  const { failingSince, inactiveReason } = webhook;
  return (
    <>
      <p className="answer">
        <State webhook={webhook} />
        {inactiveReason && <span>{inactiveReason}</span>}
        {failingSince && <span>Calls fail since {formatAgo(failingSince, timezone)}.</span>}
      </p>
      {mayWrite && <Actions webhook={webhook} onDeleted={onClose} />}
      <h3>Deliveries</h3>
      <Deliveries webhookId={webhook.id} mayWrite={mayWrite} />
      {mayWrite && <ChangeForm key={webhook.updatedAt} webhook={webhook} />}
    </>
  );
}

const refreshes = ["webhooks"];

function Actions({ webhook, onDeleted }: { webhook: Webhook; onDeleted(): void }) {
  const { id, active } = webhook;
  const [deleted, setDeleted] = useState<Webhook>();
  const testing = useChange({ run: () => api.webhooks.test(id), refreshes });
  const switching = useChange({
    run: () => api.webhooks.update(id, { active: !active }),
    refreshes,
  });
  const rotating = useChange({ run: () => api.webhooks.rotateSecret(id), refreshes });
  const remove = useChange({
    run: (one: Webhook) => api.webhooks.delete(one.id),
    refreshes,
    onDone: onDeleted,
  });
  return (
    <>
      <div className="buttons">
        <Button
          variant="default"
          size="compact-sm"
          loading={testing.isPending}
          onClick={() => testing.mutate()}
        >
          Send a test
        </Button>
        <Button
          variant="default"
          size="compact-sm"
          loading={switching.isPending}
          onClick={() => switching.mutate()}
        >
          {active ? "Turn off" : "Turn on"}
        </Button>
        <Button
          variant="default"
          size="compact-sm"
          loading={rotating.isPending}
          onClick={() => rotating.mutate()}
        >
          New secret
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => setDeleted(webhook)}>
          Delete
        </Button>
      </div>
      <ErrorNote error={testing.error ?? switching.error ?? rotating.error} />
      {testing.data && (
        <p role="status">
          {testing.data.delivered
            ? `Your program answered in ${formatNumber(testing.data.latencyMs)} ms.`
            : `Not delivered: ${testing.data.error ?? `status ${testing.data.responseStatus}`}`}
        </p>
      )}
      {rotating.data && <NewSecret secret={rotating.data.secret} />}
      <ConfirmDialog
        title="Delete webhook"
        action="Delete webhook"
        isDangerous
        target={deleted}
        change={remove}
        onClose={() => setDeleted(undefined)}
      >
        Events that are not delivered yet are dropped.
      </ConfirmDialog>
    </>
  );
}

const tones = { pending: "info", delivered: "good", dead: "bad" } as const;

interface DeliveriesProps {
  webhookId: number;
  mayWrite: boolean;
}

function Deliveries({ webhookId, mayWrite }: DeliveriesProps) {
  const { timezone } = useMe().organization;
  const { data, error } = useQuery(queries.webhookDeliveries(webhookId));
  const retrying = useChange({
    run: (id: number) => api.webhooks.retryDelivery(webhookId, id),
    refreshes,
  });
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={120} />;
  if (data.deliveries.length === 0) return <p className="quiet">Nothing was delivered yet.</p>;
  return (
    <>
      <ErrorNote error={retrying.error} />
      <ol className="emails">
        {data.deliveries.map((delivery) => (
          <li key={delivery.id}>
            <div>
              <p>{capitalize(labelOf(delivery.event))}</p>
              <small>{outcomeOf(delivery)}</small>
            </div>
            <StatusMark status={delivery.status} tone={tones[delivery.status]} />
            {mayWrite && delivery.status === "dead" ? (
              <Button
                variant="default"
                size="compact-xs"
                loading={retrying.isPending && retrying.variables === delivery.id}
                onClick={() => retrying.mutate(delivery.id)}
              >
                Deliver again
              </Button>
            ) : (
              <time dateTime={delivery.lastAttemptAt ?? undefined}>
                {delivery.lastAttemptAt && formatAgo(delivery.lastAttemptAt, timezone)}
              </time>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

function outcomeOf({ error, responseStatus, latencyMs, attempts }: WebhookDelivery): string {
  const tries = attempts > 1 ? `, ${attempts} tries` : "";
  if (error) return `${error}${tries}`;
  return responseStatus === null ? "Waits" : `Status ${responseStatus} in ${latencyMs} ms${tries}`;
}

function ChangeForm({ webhook }: { webhook: Webhook }) {
  const url = useTextField(webhook.url);
  const description = useTextField(webhook.description ?? "");
  const [events, setEvents] = useState<string[]>(webhook.events);
  const saving = useChange({
    run: () =>
      api.webhooks.update(webhook.id, {
        url: url.value,
        description: description.value || null,
        events: events as EventName[],
      }),
    refreshes,
  });
  return (
    <>
      <h3>Change</h3>
      <Form action="Save webhook" submission={saving} isDisabled={events.length === 0}>
        <TextInput label="Address" type="url" required {...url.input} />
        <TextInput label="Description (optional)" {...description.input} />
        <EventChoice value={events} onChange={setEvents} />
      </Form>
    </>
  );
}
