import type { CampaignDetail } from "pennymail";
import { useMe } from "../../data/session.ts";
import { formatDecimal, formatMoney, formatNumber, formatRate, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { Figure } from "../../parts/figure.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";

type Conversions = NonNullable<CampaignDetail["conversions"]>;
type Revenue = Conversions["revenue"];

export const formatRevenue = (revenue: Revenue): string =>
  revenue.map(({ amount, currency }) => formatMoney(amount, currency)).join(", ") || "–";

/** Conversions and revenue of a campaign, and the comparison with its hold-out group. */
export function ConversionResult({ campaign }: { campaign: CampaignDetail }) {
  const { timezone } = useMe().organization;
  const { conversion, conversions } = campaign;
  if (!conversion || !conversions) return null;
  const { contacts, rate, events, revenue, countedUntil, holdOut } = conversions;
  return (
    <Card title={t("Conversions")}>
      <section className="figures result" aria-label={t("Conversions")}>
        <Figure label={t("Contacts")} value={formatNumber(contacts)}>
          <small>{formatRate(rate)}</small>
        </Figure>
        <Figure label={t("Events")} value={formatNumber(events)}>
          <small>{conversion.eventName}</small>
        </Figure>
        {conversion.valueProperty && <Figure label={t("Revenue")} value={formatRevenue(revenue)} />}
      </section>
      {countedUntil && (
        <p className="quiet">
          {t(
            "Events count within {days, plural, one {# day} other {# days}} after {cause, " +
              "select, click {a click} open {an open or a click} other {the email}}, until {time}.",
            {
              days: conversion.windowDays,
              cause: conversion.after,
              time: formatTime(countedUntil, timezone),
            },
          )}
        </p>
      )}
      {holdOut && <HoldOutResult holdOut={holdOut} />}
    </Card>
  );
}

type HoldOut = NonNullable<Conversions["holdOut"]>;
type Group = HoldOut["mailed"] & { name: string };

const groupColumns: PlainColumn<Group>[] = [
  { label: t("Group"), render: ({ name }) => name },
  { label: t("Contacts"), isNumber: true, render: ({ size }) => formatNumber(size) },
  { label: t("Converted"), isNumber: true, render: ({ contacts }) => formatNumber(contacts) },
  { label: t("Rate"), isNumber: true, render: ({ rate }) => formatRate(rate) },
  { label: t("Revenue"), isNumber: true, render: ({ revenue }) => formatRevenue(revenue) },
];

const certainFrom = 0.95;

function HoldOutResult({ holdOut: { mailed, heldOut, lift, certainty } }: { holdOut: HoldOut }) {
  const rows = [
    { ...mailed, name: t("Got the email") },
    { ...heldOut, name: t("Hold-out group") },
  ];
  return (
    <>
      <PlainTable
        label={t("Comparison with the hold-out group")}
        columns={groupColumns}
        rows={rows}
        keyOf={({ name }) => name}
      />
      <p>
        {lift === null
          ? t("Nobody of the hold-out group has converted yet.")
          : t(
              "With the email, {percent} % {direction, select, more {more} other {fewer}} " +
                "contacts converted.",
              {
                percent: formatDecimal(Math.abs(lift) * 100, 0),
                direction: lift >= 0 ? "more" : "fewer",
              },
            )}{" "}
        {describeCertainty(certainty)}
      </p>
    </>
  );
}

export const describeCertainty = (certainty: number): string =>
  certainty >= certainFrom
    ? t("The difference is certain to {certainty}.", { certainty: formatCertainty(certainty) })
    : t("The difference can still be a matter of chance.");

/** Never 100 %, which no sample can prove. */
const formatCertainty = (certainty: number): string => formatRate(Math.min(certainty, 0.999));
