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
import { t } from "../../language/translate.ts";
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
  const { data: offer } = useQuery(queries.plans());
  const { isOperator } = useMe().auth;
  return (
    <>
      <ErrorNote error={usage.error ?? subscription.error} />
      {usage.data ? <Usage usage={usage.data} /> : <Skeleton h={120} />}
      {subscription.data && (
        <Plans current={subscription.data.plan} subscription={subscription.data.subscription} />
      )}
      {offer?.purchasable && <Credits />}
      {offer && !offer.purchasable && isOperator && (
        <p className="quiet">
          {t(
            "Plans and credits cannot be bought: the setting STRIPE_SECRET_KEY of " +
              "this installation is missing. Only operators see this.",
          )}
        </p>
      )}
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
    <Card title={t("This period")}>
      <p className="quiet">
        {t("{start} to {end}", {
          start: formatDate(period.start, timezone),
          end: formatDate(period.end, timezone),
        })}
      </p>
      {included !== null && (
        <meter
          className="wide-progress"
          min={0}
          max={included}
          value={Math.min(accepted, included)}
          aria-label={t("Emails of the plan that were used")}
        />
      )}
      <CountList
        className="narrow"
        counts={[
          [t("Emails"), accepted],
          ...(included === null ? [] : [[t("Included in the plan"), included] as const]),
          [t("Beyond the plan"), beyond],
          [t("Charged"), formatCents(chargedCents)],
          [t("Credit"), formatCents(balance.cents)],
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
      label: t("Plan"),
      render: ({ key, name }) => (
        <>
          {name} {key === current.key && <span className="tag">{t("Yours")}</span>}
        </>
      ),
    },
    { label: t("A month"), isNumber: true, render: ({ priceCents }) => formatCents(priceCents) },
    {
      label: t("Emails a month"),
      isNumber: true,
      isWide: true,
      render: ({ limits }) =>
        limits.mailsPerMonth === null ? t("Unlimited") : formatNumber(limits.mailsPerMonth),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: ({ key }) =>
        mayWrite &&
        data?.purchasable &&
        key !== current.key &&
        key !== "unlimited" && (
          <Button
            variant="default"
            size="compact-xs"
            loading={choosing.isPending && choosing.variables === key}
            onClick={() => choosing.mutate(key)}
          >
            {t("Choose")}
          </Button>
        ),
    },
  ];
  return (
    <Card title={t("Plan")}>
      <ErrorNote error={error ?? choosing.error ?? portal.error} />
      {subscription && (
        <p className="quiet">
          {subscription.cancelAtPeriodEnd
            ? t("Ends on {date}.", { date: formatDate(subscription.currentPeriodEnd, timezone) })
            : t("Renews on {date}.", { date: formatDate(subscription.currentPeriodEnd, timezone) })}
        </p>
      )}
      {data ? (
        <PlainTable
          label={t("Plans")}
          columns={columns}
          rows={data.plans}
          keyOf={({ key }) => key}
        />
      ) : (
        <Skeleton h={160} />
      )}
      {mayWrite && subscription && (
        <div className="buttons">
          <Button variant="default" loading={portal.isPending} onClick={() => portal.mutate()}>
            {t("Payment method and tax details")}
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={t("Change plan")}
        action={t("Change to {plan}", { plan: previewed?.to ?? "" })}
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
        {t("The plan changes on {effectiveAt}. Due now: {amountDueCents}.", {
          effectiveAt: formatDate(change.effectiveAt, timezone),
          amountDueCents: formatCents(change.amountDueCents),
        })}
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
    run: (packageId: number) =>
      api.billing.createCreditCheckout({
        packageId,
        returnUrl: returnUrl(),
      }),
    refreshes: [],
    onDone: ({ url }) => location.assign(url),
  });
  const columns: PlainColumn<CreditPackage>[] = [
    { label: t("Emails"), isNumber: true, render: ({ mails }) => formatNumber(mails) },
    { label: t("Price"), isNumber: true, render: ({ priceCents }) => formatCents(priceCents) },
    {
      label: t("Actions"),
      isAction: true,
      render: ({ id }) =>
        mayWrite && (
          <Button
            variant="default"
            size="compact-xs"
            loading={buying.isPending && buying.variables === id}
            onClick={() => buying.mutate(id)}
          >
            {t("Buy")}
          </Button>
        ),
    },
  ];
  return (
    <Card title={t("Credits")}>
      <p className="quiet">{t("Credits pay for emails beyond the plan, and do not expire.")}</p>
      <ErrorNote error={error ?? buying.error} />
      {data ? (
        <PlainTable
          label={t("Credit packages")}
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
    { label: t("Invoice"), render: ({ number, id }) => number ?? id },
    { label: t("Date"), isWide: true, render: ({ createdAt }) => formatDate(createdAt, timezone) },
    {
      label: t("Amount"),
      isNumber: true,
      render: ({ amountDueCents }) => formatCents(amountDueCents),
    },
    {
      label: t("File"),
      render: ({ pdfUrl }) =>
        pdfUrl && (
          <a href={pdfUrl} target="_blank" rel="noreferrer">
            {t("PDF")}
          </a>
        ),
    },
  ];
  return (
    <Card title={t("Invoices")}>
      <PlainTable label={t("Invoices")} columns={columns} rows={invoices} keyOf={({ id }) => id} />
    </Card>
  );
}
