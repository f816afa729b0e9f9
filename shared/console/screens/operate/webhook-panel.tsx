import { Button, SegmentedControl, Skeleton, TextInput } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { Webhook, WebhookDelivery } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { capitalize, formatAgo, formatNumber } from "../../format.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Form } from "../../parts/form.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
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
  const testing = useChange({ run: () => api.webhooks.test(id), refreshes });
  const switching = useChange({
    run: () => api.webhooks.update(id, { active: !active }),
    refreshes,
  });
  const rotating = useChange({ run: () => api.webhooks.rotateSecret(id), refreshes });
  const remove = () => {
    onDeleted();
    removeWithUndo({
      group: "webhooks",
      id,
      name: "Webhook",
      consequence: `Events that ${webhook.url} did not get yet are dropped.`,
      remove: (client) => client.webhooks.delete(id),
      refreshes,
    });
  };
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
        <Button variant="default" size="compact-sm" onClick={remove}>
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
    </>
  );
}

const tones = { pending: "info", delivered: "good", dead: "bad" } as const;

const statuses = [
  { value: "", label: "All" },
  { value: "pending", label: "Pending" },
  { value: "delivered", label: "Delivered" },
  { value: "dead", label: "Failed" },
];

interface DeliveriesProps {
  webhookId: number;
  mayWrite: boolean;
}

function Deliveries({ webhookId, mayWrite }: DeliveriesProps) {
  const [status, setStatus] = useState("");
  const filter = status ? { status: status as WebhookDelivery["status"] } : {};
  const pages = useInfiniteQuery(queries.webhookDeliveries(webhookId, filter));
  const retrying = useChange({
    run: (id: number) => api.webhooks.retryDelivery(webhookId, id),
    refreshes,
  });
  const deliveries = pages.data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <>
      <div className="buttons">
        <SegmentedControl
          aria-label="Status of the deliveries"
          size="xs"
          data={statuses}
          value={status}
          onChange={setStatus}
        />
      </div>
      <ErrorNote error={pages.error ?? retrying.error} />
      {pages.isPending && <Skeleton h={120} />}
      {pages.data && deliveries.length === 0 && (
        <p className="quiet">
          {status ? "No delivery has this status." : "Nothing was delivered yet."}
        </p>
      )}
      <ol className={pages.isPlaceholderData ? "emails deliveries stale" : "emails deliveries"}>
        {deliveries.map((delivery) => (
          <DeliveryRow
            key={delivery.id}
            delivery={delivery}
            isRetrying={retrying.isPending && retrying.variables === delivery.id}
            {...(mayWrite && { onRetry: () => retrying.mutate(delivery.id) })}
          />
        ))}
      </ol>
      {pages.hasNextPage && (
        <Button
          variant="default"
          size="compact-sm"
          loading={pages.isFetchingNextPage}
          onClick={() => pages.fetchNextPage()}
        >
          Show older deliveries
        </Button>
      )}
    </>
  );
}

interface DeliveryRowProps {
  delivery: WebhookDelivery;
  isRetrying: boolean;
  onRetry?(): void;
}

function DeliveryRow({ delivery, isRetrying, onRetry }: DeliveryRowProps) {
  const { timezone } = useMe().organization;
  const { event, status, lastAttemptAt } = delivery;
  return (
    <li>
      <div>
        <p>{capitalize(labelOf(event))}</p>
        <small>
          {outcomeOf(delivery)}
          {lastAttemptAt && (
            <>
              {" · "}
              <time dateTime={lastAttemptAt}>{formatAgo(lastAttemptAt, timezone)}</time>
            </>
          )}
        </small>
      </div>
      <div className="delivery-end">
        <StatusMark status={status === "dead" ? "failed" : status} tone={tones[status]} />
        {onRetry && (
          <Button variant="default" size="compact-xs" loading={isRetrying} onClick={onRetry}>
            Deliver again
          </Button>
        )}
      </div>
    </li>
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
