import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type {
  CreditPackage,
  GetBillingUsageResult,
  Invoice,
  Plan,
  PlanChange,
  Subscription,
} from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatCents, formatDate, formatNumber } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList, FieldList } from "../../parts/field-list.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";

const refreshes = ["billing", "plans", "account"];

/** Stripe leads back here. */
const returnUrl = () => `${location.origin}/app/settings/billing`;

/** The plan, what was used of it, credits and invoices. */
export function Billing() {
  const usage = useQuery(queries.billingUsage());
  const subscription = useQuery(queries.subscription());
  return (
    <>
      <ErrorNote error={usage.error ?? subscription.error} />
      {usage.data ? <Usage usage={usage.data} /> : <Skeleton h={120} />}
      {subscription.data && (
        <Plans current={subscription.data.plan} subscription={subscription.data.subscription} />
      )}
      <Credits />
      {subscription.data && subscription.data.invoices.length > 0 && (
        <Invoices invoices={subscription.data.invoices} />
      )}
    </>
  );
}

function Usage({ usage: { period, mails, chargedCents, balance } }: UsageProps) {
  const { timezone } = useMe().organization;
  const { accepted, included, beyond } = mails;
  return (
    <Card title="This period">
      <p className="quiet">
        {formatDate(period.start, timezone)} to {formatDate(period.end, timezone)}
      </p>
      {included !== null && (
        <meter
          className="wide-progress"
          min={0}
          max={included}
          value={Math.min(accepted, included)}
          aria-label="Emails of the plan that were used"
        />
      )}
      <CountList
        className="narrow"
        counts={[
          ["Emails", accepted],
          ...(included === null ? [] : [["Included in the plan", included] as const]),
          ["Beyond the plan", beyond],
          ["Charged", formatCents(chargedCents)],
          ["Credit", formatCents(balance.cents)],
        ]}
      />
    </Card>
  );
}

interface UsageProps {
  usage: GetBillingUsageResult;
}

interface PlansProps {
  current: Plan;
  subscription: Subscription | null;
}

function Plans({ current, subscription }: PlansProps) {
  const { timezone } = useMe().organization;
  const mayWrite = useRight("payment:write");
  const { data, error } = useQuery(queries.plans());
  const [previewed, setPreviewed] = useState<PlanChange>();
  const choosing = useChange({
    run: (plan: PlanChange["to"]) => choosePlan(plan, subscription !== null),
    refreshes: [],
    onDone: (change) => setPreviewed(change),
  });
  const changing = useChange({
    run: ({ to, prorationDate }: PlanChange) =>
      api.plans.change({
        plan: to as "free",
        confirm: true,
        ...(prorationDate !== null && { prorationDate }),
      }),
    refreshes,
    onDone: () => setPreviewed(undefined),
  });
  const portal = useChange({
    run: () => api.billing.createPortalSession({ returnUrl: returnUrl() }),
    refreshes: [],
    onDone: ({ url }) => location.assign(url),
  });
  const columns: PlainColumn<Plan>[] = [
    {
      label: "Plan",
      render: ({ key, name }) => (
        <>
          {name} {key === current.key && <span className="tag">Yours</span>}
        </>
      ),
    },
    { label: "A month", isNumber: true, render: ({ priceCents }) => formatCents(priceCents) },
    {
      label: "Emails a month",
      isNumber: true,
      isWide: true,
      render: ({ limits }) =>
        limits.mailsPerMonth === null ? "Unlimited" : formatNumber(limits.mailsPerMonth),
    },
    {
      label: "Actions",
      isAction: true,
      render: ({ key }) =>
        mayWrite &&
        key !== current.key &&
        key !== "unlimited" && (
          <Button
            variant="default"
            size="compact-xs"
            loading={choosing.isPending && choosing.variables === key}
            onClick={() => choosing.mutate(key)}
          >
            Choose
          </Button>
        ),
    },
  ];
  return (
    <Card title="Plan">
      <ErrorNote error={error ?? choosing.error ?? portal.error} />
      {subscription && (
        <p className="quiet">
          {subscription.cancelAtPeriodEnd ? "Ends" : "Renews"} on{" "}
          {formatDate(subscription.currentPeriodEnd, timezone)}.
        </p>
      )}
      {data ? (
        <PlainTable label="Plans" columns={columns} rows={data.plans} keyOf={({ key }) => key} />
      ) : (
        <Skeleton h={160} />
      )}
      {mayWrite && subscription && (
        <div className="buttons">
          <Button variant="default" loading={portal.isPending} onClick={() => portal.mutate()}>
            Payment method and tax details
          </Button>
        </div>
      )}
      <ConfirmDialog
        title="Change plan"
        action={`Change to ${previewed?.to ?? ""}`}
        target={previewed}
        change={changing}
        onClose={() => setPreviewed(undefined)}
      >
        {previewed && <PlanChangeText change={previewed} timezone={timezone} />}
      </ConfirmDialog>
    </Card>
  );
}

/** A first subscription is paid at Stripe; a later change is shown here before it is made. */
async function choosePlan(
  plan: PlanChange["to"],
  isSubscribed: boolean,
): Promise<PlanChange | undefined> {
  if (isSubscribed || plan === "free") return api.plans.change({ plan: plan as "free" });
  const checkout = await api.billing.createPlanCheckout({
    plan: plan as "starter",
    returnUrl: returnUrl(),
  });
  location.assign(checkout.url);
  return undefined;
}

function PlanChangeText({ change, timezone }: { change: PlanChange; timezone: string }) {
  return (
    <>
      <p>
        The plan changes on {formatDate(change.effectiveAt, timezone)}. Due now:{" "}
        {formatCents(change.amountDueCents)}.
      </p>
      <FieldList
        fields={change.lines.map(({ description, amountCents }) => [
          description,
          formatCents(amountCents),
        ])}
      />
    </>
  );
}

function Credits() {
  const mayWrite = useRight("payment:write");
  const { data, error } = useQuery(queries.creditPackages());
  const buying = useChange({
    run: (packageId: string) =>
      api.billing.createCreditCheckout({
        packageId: packageId as "credits_10000",
        returnUrl: returnUrl(),
      }),
    refreshes: [],
    onDone: ({ url }) => location.assign(url),
  });
  const columns: PlainColumn<CreditPackage>[] = [
    { label: "Emails", isNumber: true, render: ({ mails }) => formatNumber(mails) },
    { label: "Price", isNumber: true, render: ({ priceCents }) => formatCents(priceCents) },
    {
      label: "Actions",
      isAction: true,
      render: ({ id }) =>
        mayWrite && (
          <Button
            variant="default"
            size="compact-xs"
            loading={buying.isPending && buying.variables === id}
            onClick={() => buying.mutate(id)}
          >
            Buy
          </Button>
        ),
    },
  ];
  return (
    <Card title="Credits">
      <p className="quiet">Credits pay for emails beyond the plan, and do not expire.</p>
      <ErrorNote error={error ?? buying.error} />
      {data ? (
        <PlainTable
          label="Credit packages"
          columns={columns}
          rows={data.packages}
          keyOf={({ id }) => id}
        />
      ) : (
        <Skeleton h={120} />
      )}
    </Card>
  );
}

function Invoices({ invoices }: { invoices: Invoice[] }) {
  const { timezone } = useMe().organization;
  const columns: PlainColumn<Invoice>[] = [
    { label: "Invoice", render: ({ number, id }) => number ?? id },
    { label: "Date", isWide: true, render: ({ createdAt }) => formatDate(createdAt, timezone) },
    {
      label: "Amount",
      isNumber: true,
      render: ({ amountDueCents }) => formatCents(amountDueCents),
    },
    {
      label: "File",
      render: ({ pdfUrl }) =>
        pdfUrl && (
          <a href={pdfUrl} target="_blank" rel="noreferrer">
            PDF
          </a>
        ),
    },
  ];
  return (
    <Card title="Invoices">
      <PlainTable label="Invoices" columns={columns} rows={invoices} keyOf={({ id }) => id} />
    </Card>
  );
}
