import { Button, SegmentedControl, Skeleton, TextInput } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { Webhook, WebhookDelivery } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Form } from "../../parts/form.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import { EventChoice, type EventName, eventNames, NewSecret, State } from "./webhooks.tsx";

interface WebhookPanelProps {
  id: number;
  onClose(): void;
}

export function WebhookPanel({ id, onClose }: WebhookPanelProps) {
  const { data: webhook, error } = useQuery(queries.webhook(id));
  const title = webhook ? (
    <>
      <h2>{webhook.description || t("Webhook")}</h2>
      <p className="breaks">{webhook.url}</p>
    </>
  ) : (
    <Skeleton h={40} w={200} />
  );
  return (
    <SidePanel label={t("Webhook")} title={title} onClose={onClose}>
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
        {failingSince && (
          <span>
            {t("Calls fail since {failingSince}.", {
              failingSince: formatAgo(failingSince, timezone),
            })}
          </span>
        )}
      </p>
      {mayWrite && <Actions webhook={webhook} onDeleted={onClose} />}
      <h3>{t("Deliveries")}</h3>
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
      name: t("Webhook"),
      consequence: t("Events that {url} did not get yet are dropped.", { url: webhook.url }),
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
          {t("Send a test")}
        </Button>
        <Button
          variant="default"
          size="compact-sm"
          loading={switching.isPending}
          onClick={() => switching.mutate()}
        >
          {active ? t("Turn off") : t("Turn on")}
        </Button>
        <Button
          variant="default"
          size="compact-sm"
          loading={rotating.isPending}
          onClick={() => rotating.mutate()}
        >
          {t("New secret")}
        </Button>
        <Button variant="default" size="compact-sm" onClick={remove}>
          {t("Delete")}
        </Button>
      </div>
      <ErrorNote error={testing.error ?? switching.error ?? rotating.error} />
      {testing.data && (
        <p role="status">
          {testing.data.delivered
            ? t("Your program answered in {latencyMs} ms.", {
                latencyMs: formatNumber(testing.data.latencyMs),
              })
            : describeFailure(testing.data)}
        </p>
      )}
      {testing.data && <Exchange {...testing.data} />}
      {rotating.data && <NewSecret secret={rotating.data.secret} />}
    </>
  );
}

type TestResult = Awaited<ReturnType<typeof api.webhooks.test>>;

const describeFailure = ({ error, responseStatus }: TestResult): string =>
  error
    ? t("Not delivered: {error}", { error })
    : t("Not delivered: status {status}", { status: responseStatus });

const tones = { pending: "info", delivered: "good", dead: "bad" } as const;

const statuses = [
  { value: "", label: t("All") },
  { value: "pending", label: t("Pending") },
  { value: "delivered", label: t("Delivered") },
  { value: "dead", label: t("Failed") },
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
          aria-label={t("Status of the deliveries")}
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
          {status ? t("No delivery has this status.") : t("Nothing was delivered yet.")}
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
          {t("Show older deliveries")}
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
        <p>{eventNames[event]}</p>
        <small>
          {outcomeOf(delivery)}
          {lastAttemptAt && (
            <>
              {" · "}
              <time dateTime={lastAttemptAt}>{formatAgo(lastAttemptAt, timezone)}</time>
            </>
          )}
        </small>
        <Exchange {...delivery} />
      </div>
      <div className="delivery-end">
        <StatusMark status={status === "dead" ? "failed" : status} tone={tones[status]} />
        {onRetry && (
          <Button variant="default" size="compact-xs" loading={isRetrying} onClick={onRetry}>
            {t("Deliver again")}
          </Button>
        )}
      </div>
    </li>
  );
}

type ExchangeProps = Pick<WebhookDelivery, "requestBody" | "responseStatus" | "responseBody">;

/** What was sent, and what the program answered. */
function Exchange({ requestBody, responseStatus, responseBody }: ExchangeProps) {
  return (
    <details className="exchange">
      <summary>{t("Sent and answered")}</summary>
      <h4>
        {t("Sent")} <CopyAction value={requestBody} label={t("Copy what was sent")} />
      </h4>
      <pre>{formatJson(requestBody)}</pre>
      {responseStatus !== null && (
        <>
          <h4>{t("Answered with status {responseStatus}", { responseStatus })}</h4>
          <pre>{responseBody || t("An empty answer")}</pre>
        </>
      )}
    </details>
  );
}

const formatJson = (json: string): string => JSON.stringify(JSON.parse(json), null, 2);

function outcomeOf({ error, responseStatus, latencyMs, attempts }: WebhookDelivery): string {
  const tries = attempts > 1 ? t(", {attempts} tries", { attempts }) : "";
  if (error) return `${error}${tries}`;
  return responseStatus === null
    ? t("Waits")
    : t("Status {responseStatus} in {latencyMs} ms{tries}", { responseStatus, latencyMs, tries });
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
      <h3>{t("Change")}</h3>
      <Form action={t("Save webhook")} submission={saving} isDisabled={events.length === 0}>
        <TextInput label={t("Address")} type="url" required data-field="url" {...url.input} />
        <TextInput
          label={t("Description (optional)")}
          data-field="description"
          {...description.input}
        />
        <EventChoice value={events} onChange={setEvents} />
      </Form>
    </>
  );
}
