import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignDetail, CampaignLink, CampaignVariant, MailingStats } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { countOf, formatNumber, formatRate, formatTime } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import { Figure } from "../../parts/figure.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { describeDuration } from "./ab-test.tsx";
import { Audit } from "./audit.tsx";
import { LinkMap } from "./link-map.tsx";
import { OverTime } from "./over-time.tsx";
import { Recipients } from "./recipients.tsx";
import { Resend } from "./resend.tsx";
import { SendSection } from "./send-section.tsx";

export function CampaignResult({ campaign }: { campaign: CampaignDetail }) {
  return (
    <>
      {campaign.status === "held" && <Held campaign={campaign} />}
      <Progress campaign={campaign} />
      <Funnel campaign={campaign} />
      <OverTime campaignId={campaign.id} />
      {campaign.variants.length > 0 && <Variants campaign={campaign} />}
      <div className="result-columns">
        <div className="stack">
          <Links campaignId={campaign.id} />
          <NotMailed campaign={campaign} />
          <Comparison campaign={campaign} />
          <Resend campaign={campaign} />
          {campaign.finishedAt && <Audit campaignId={campaign.id} />}
        </div>
        <LinkMap campaignId={campaign.id} />
      </div>
      <Recipients campaign={campaign} />
    </>
  );
}

/** A campaign that the service did not start, because it was late. */
function Held({ campaign }: { campaign: CampaignDetail }) {
  const preview = useQuery(queries.campaignPreview(campaign)).data;
  return <SendSection campaign={campaign} preview={preview} isSaving={false} />;
}

function Progress({ campaign }: { campaign: CampaignDetail }) {
  const { timezone } = useMe().organization;
  const { status, accounting, abTest, winner, waitingForLocalTime: waiting } = campaign;
  if (status !== "sending" && status !== "paused") return null;
  const { accepted, queued, sending } = accounting;
  const done = accepted - queued - sending;
  return (
    <section className="card" aria-label="Progress">
      <p role="status">
        {formatNumber(done)} of {formatNumber(accepted)} emails are handed over.
        {abTest &&
          !winner &&
          ` The others get the winner ${describeDuration(abTest.durationMinutes)} after the test.`}
      </p>
      {waiting && (
        <p>
          {formatNumber(waiting.emails)} wait for the local time of their contacts. The last leave
          at {formatTime(waiting.lastAt, timezone)}.
        </p>
      )}
      <progress className="wide-progress" max={accepted || 1} value={done} aria-label="Progress" />
      <p className="quiet">You can leave this page. Sending goes on.</p>
    </section>
  );
}

type RateName =
  | "deliveryRate"
  | "openRate"
  | "clickRate"
  | "bounceRate"
  | "complaintRate"
  | "unsubscribeRate";

const figures: [
  label: string,
  name: keyof MailingStats,
  of: keyof MailingStats,
  rate?: RateName,
][] = [
  ["Sent", "sent", "recipients"],
  ["Delivered", "delivered", "sent", "deliveryRate"],
  ["Opened", "opened", "delivered", "openRate"],
  ["Clicked", "clicked", "delivered", "clickRate"],
  ["Bounced", "bounced", "sent", "bounceRate"],
  ["Unsubscribed", "unsubscribed", "delivered", "unsubscribeRate"],
  ["Complained", "complained", "delivered", "complaintRate"],
];

/** Each figure with its share, and what is usual for the site. */
function Funnel({ campaign: { siteId, stats } }: { campaign: CampaignDetail }) {
  const usual = useQuery(queries.dashboard(siteId, "90d")).data?.totals;
  return (
    <section className="figures result" aria-label="Result">
      {figures.map(([label, name, of, rate]) => (
        <Figure key={label} label={label} value={formatNumber(stats[name])}>
          <small>{stats[of] ? formatRate(stats[name] / stats[of]) : "–"}</small>
          {rate && usual && usual.sent > 0 && <small>Usually {formatRate(usual[rate])}</small>}
        </Figure>
      ))}
    </section>
  );
}

const variantColumns: PlainColumn<CampaignVariant>[] = [
  {
    label: "Variant",
    render: ({ name, subject, isWinner }) => (
      <>
        {name} {isWinner && <span className="tag">Winner</span>}
        <small>{subject}</small>
      </>
    ),
  },
  { label: "Sent", isNumber: true, render: ({ recipients }) => formatNumber(recipients) },
  { label: "Opened", isNumber: true, render: ({ openRate }) => formatRate(openRate) },
  { label: "Clicked", isNumber: true, render: ({ clickRate }) => formatRate(clickRate) },
];

function Variants({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Card title="Variants">
      <PlainTable
        label="Variants"
        columns={variantColumns}
        rows={campaign.variants}
        keyOf={({ id }) => id}
      />
      <Decision campaign={campaign} />
    </Card>
  );
}

/** How the winner was found, with the figures of that time. */
function Decision({ campaign: { abTest, winner, variants } }: { campaign: CampaignDetail }) {
  const { timezone } = useMe().organization;
  if (!abTest) return <p className="quiet">The whole audience got the variants.</p>;
  const measure = abTest.metric === "open_rate" ? "opens" : "clicks";
  if (!winner)
    return (
      <p className="quiet">
        The variant with the most {measure} is picked when the test emails have been out for{" "}
        {describeDuration(abTest.durationMinutes)}.
      </p>
    );
  const nameOf = (variantId: number) => variants.find(({ id }) => id === variantId)?.name;
  const why = {
    best: `it had the most ${measure}`,
    tie: "the best variants were equal, and it has the greatest share or came first",
    no_data: `there were no ${measure}, and it has the greatest share or came first`,
  }[winner.reason];
  return (
    <p>
      On {formatTime(winner.decidedAt, timezone)}, variant {nameOf(winner.variantId)} won: {why} (
      {winner.results
        .map(({ variantId, rate }) => `${nameOf(variantId)} ${formatRate(rate)}`)
        .join(", ")}
      ).
    </p>
  );
}

const linkColumns: PlainColumn<CampaignLink>[] = [
  { label: "Link", breaks: true, render: ({ url }) => url ?? "All other links" },
  { label: "Recipients", isNumber: true, render: ({ uniqueClicks }) => formatNumber(uniqueClicks) },
  { label: "Clicks", isNumber: true, render: ({ clicks }) => formatNumber(clicks) },
];

function Links({ campaignId }: { campaignId: number }) {
  const { data, error } = useQuery(queries.campaignLinks(campaignId));
  const clicks = data?.links.reduce((sum, link) => sum + link.clicks, 0) ?? 0;
  return (
    <Card title="Clicked links">
      <ErrorNote error={error} />
      {data?.links.length === 0 && <p className="quiet">Nobody has clicked a link yet.</p>}
      {data && data.links.length > 0 && (
        <>
          <PlainTable
            label="Clicked links"
            columns={linkColumns}
            rows={data.links}
            keyOf={({ url }) => url ?? ""}
          />
          <p className="quiet">
            {countOf(clicks, "click")} on {countOf(data.links.length, "link")}, those of machines
            included.
          </p>
        </>
      )}
    </Card>
  );
}

/** Why contacts of the audience get no email, as the API counts them. */
const exclusionReasons = {
  suppressed: "On the suppression list",
  unsubscribed: "Unsubscribed or not confirmed",
  notInTopic: "Not subscribed to the topic",
  capped: "Got marketing email too recently",
} as const;

function NotMailed({ campaign: { accounting } }: { campaign: CampaignDetail }) {
  const reasons: [string, number][] = [
    ...Object.entries(exclusionReasons).map(([key, label]): [string, number] => [
      label,
      accounting[key as keyof typeof exclusionReasons],
    ]),
    ["Address twice in the audience", accounting.duplicate],
    ["Address not valid", accounting.invalid],
    ["Failed", accounting.failed],
    ["Uncertain", accounting.uncertain],
    ["Cancelled", accounting.cancelled],
  ];
  const shown = reasons.filter(([, count]) => count > 0);
  return (
    <Card title="Who did not get it">
      {shown.length === 0 && <p className="quiet">Everybody in the audience got it.</p>}
      <CountList counts={shown} />
    </Card>
  );
}

interface ComparedCampaign {
  id: number;
  name: string;
  stats: MailingStats;
}

const comparisonColumns: PlainColumn<ComparedCampaign>[] = [
  {
    label: "Campaign",
    render: ({ id, name }) => (
      <Link to="/campaigns/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { label: "Sent", isNumber: true, render: ({ stats }) => formatNumber(stats.sent) },
  { label: "Opened", isNumber: true, render: ({ stats }) => formatRate(stats.openRate) },
  { label: "Clicked", isNumber: true, render: ({ stats }) => formatRate(stats.clickRate) },
  {
    label: "Unsubscribed",
    isNumber: true,
    isWide: true,
    render: ({ stats }) => formatNumber(stats.unsubscribed),
  },
];

/** Beside the latest campaigns of the site. */
function Comparison({ campaign }: { campaign: CampaignDetail }) {
  const recent = useQuery(queries.dashboard(campaign.siteId, "90d")).data?.recentCampaigns ?? [];
  const others = recent.filter(({ id, stats }) => id !== campaign.id && stats.sent > 0);
  if (others.length === 0) return null;
  return (
    <Card title="Compared with the latest campaigns">
      <PlainTable
        label="Comparison"
        columns={comparisonColumns}
        rows={[campaign, ...others]}
        keyOf={({ id }) => id}
      />
    </Card>
  );
}
