import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type {
  CampaignDetail,
  CampaignLink,
  CampaignVariant,
  Dashboard,
  MailingStats,
} from "pennymail";
import { queries } from "../../data/queries.ts";
import { isReported } from "../../data/reported.ts";
import { useMe } from "../../data/session.ts";
import { formatNumber, formatRate, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import { Figure } from "../../parts/figure.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { LeaveReasonCard } from "../reports/leaving-report.tsx";
import { describeDuration, measureOf } from "./ab-test.tsx";
import { ArchiveCard } from "./archive-choice.tsx";
import { Audit } from "./audit.tsx";
import { ConversionResult, describeCertainty, formatRevenue } from "./conversion-result.tsx";
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
      {!isReported(campaign.stats) && <NoReports campaign={campaign} />}
      <Funnel campaign={campaign} />
      <OverTime campaignId={campaign.id} />
      <ConversionResult campaign={campaign} />
      {campaign.variants.length > 0 && <Variants campaign={campaign} />}
      <div className="result-columns">
        <div className="stack">
          <Links campaignId={campaign.id} />
          <NotMailed campaign={campaign} />
          <LeaveReasonCard campaignId={campaign.id} />
          <Comparison campaign={campaign} />
          <Resend campaign={campaign} />
          <ArchiveCard campaign={campaign} />
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
  const { status, accounting, abTest, winner, waitingReason } = campaign;
  const { waitingForLocalTime: waiting } = campaign;
  if (status !== "sending" && status !== "paused") return null;
  const { accepted, queued, sending } = accounting;
  const done = accepted - queued - sending;
  return (
    <section className="card" aria-label={t("Progress")}>
      <p role="status">
        {t("{done} of {accepted} emails are handed over.", {
          done: formatNumber(done),
          accepted: formatNumber(accepted),
        })}{" "}
        {abTest &&
          !winner &&
          t("The others get the winner {duration} after the test.", {
            duration: describeDuration(abTest.durationMinutes),
          })}
      </p>
      {waiting && (
        <p>
          {t("{emails} wait for the local time of their contacts. The last leave at {lastAt}.", {
            emails: formatNumber(waiting.emails),
            lastAt: formatTime(waiting.lastAt, timezone),
          })}
        </p>
      )}
      {waitingReason && <p className="tone-warn">{waitingReason}</p>}
      <progress
        className="wide-progress"
        max={accepted || 1}
        value={done}
        aria-label={t("Progress")}
      />
      <p className="quiet">{t("You can leave this page. Sending goes on.")}</p>
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
  [t("Sent"), "sent", "recipients"],
  [t("Delivered"), "delivered", "sent", "deliveryRate"],
  [t("Opened"), "opened", "delivered", "openRate"],
  [t("Clicked"), "clicked", "delivered", "clickRate"],
  [t("Bounced"), "bounced", "sent", "bounceRate"],
  [t("Unsubscribed"), "unsubscribed", "delivered", "unsubscribeRate"],
  [t("Complained"), "complained", "delivered", "complaintRate"],
];

/** Each figure with its share, and what is usual for the site. */
function Funnel({ campaign: { siteId, stats } }: { campaign: CampaignDetail }) {
  const usual = useQuery(queries.dashboard(siteId, "90d")).data?.totals;
  const isKnown = isReported(stats);
  return (
    <section className="figures result" aria-label={t("Result")}>
      {figures.map(([label, name, of, rate]) =>
        isKnown || name === "sent" ? (
          <Figure key={label} label={label} value={formatNumber(stats[name])}>
            <small>{stats[of] ? formatRate(stats[name] / stats[of]) : "–"}</small>
            {rate && usual && isUsual(usual, stats) && (
              <small>{t("Usually {rate}", { rate: formatRate(usual[rate]) })}</small>
            )}
          </Figure>
        ) : (
          <Figure key={label} label={label} value="–">
            <small>{t("Not known")}</small>
          </Figure>
        ),
      )}
    </section>
  );
}

/** Whether the totals of the site have emails besides those of the campaign. */
const isUsual = (usual: Dashboard["totals"], stats: MailingStats): boolean =>
  usual.sent > stats.sent && isReported(usual);

/** While the provider has said nothing about the emails. */
function NoReports({ campaign: { sendingConfigId } }: { campaign: CampaignDetail }) {
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs;
  const config = configs?.find(({ id }) => id === sendingConfigId);
  if (!config) return null;
  if (config.webhookUrl === null)
    return <p className="quiet">{t("An SMTP server does not report what happens to emails.")}</p>;
  if (config.firstEventAt !== null)
    return (
      <p className="quiet">{t("The provider has not reported anything about these emails yet.")}</p>
    );
  return (
    <div className="error-note" role="status">
      <p>
        {tNodes(
          "The provider of {fromEmail} does not report what happens, so " +
            "deliveries, opens and bounces are not known. <link>Set its reports " +
            "up</link>",
          {
            fromEmail: config.fromEmail,
            link: (text) => (
              <Link to="/settings/{-$section}" params={{ section: "senders" }}>
                {text}
              </Link>
            ),
          },
        )}
      </p>
    </div>
  );
}

const variantColumns: PlainColumn<CampaignVariant>[] = [
  {
    label: t("Variant"),
    render: ({ name, subject, isWinner }) => (
      <>
        {name} {isWinner && <span className="tag">{t("Winner")}</span>}
        <small>{subject}</small>
      </>
    ),
  },
  { label: t("Sent"), isNumber: true, render: ({ recipients }) => formatNumber(recipients) },
  { label: t("Opened"), isNumber: true, render: ({ openRate }) => formatRate(openRate) },
  { label: t("Clicked"), isNumber: true, render: ({ clickRate }) => formatRate(clickRate) },
];

const conversionColumns: PlainColumn<CampaignVariant>[] = [
  {
    label: t("Converted"),
    isNumber: true,
    render: ({ conversionRate }) => formatRate(conversionRate),
  },
  {
    label: t("Revenue"),
    isNumber: true,
    isWide: true,
    render: ({ revenue }) => formatRevenue(revenue),
  },
];

function Variants({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Card title={t("Variants")}>
      <PlainTable
        label={t("Variants")}
        columns={campaign.conversion ? [...variantColumns, ...conversionColumns] : variantColumns}
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
  if (!abTest) return <p className="quiet">{t("The whole audience got the variants.")}</p>;
  const measure = measureOf(abTest);
  if (!winner)
    return (
      <p className="quiet">
        {t(
          "The variant with the most {measure, select, open {opens} click {clicks} other " +
            "{conversions}} is picked when the test emails have been out for {duration}{early, " +
            "select, yes {, or as soon as it is certain} other {}}.",
          {
            measure,
            duration: describeDuration(abTest.durationMinutes),
            early: abTest.stopEarly ? "yes" : "no",
          },
        )}
      </p>
    );
  const nameOf = (variantId: number) => variants.find(({ id }) => id === variantId)?.name;
  const values = {
    measure,
    time: formatTime(winner.decidedAt, timezone),
    variant: nameOf(winner.variantId),
    rates: winner.results
      .map(({ variantId, rate }) => `${nameOf(variantId)} ${formatRate(rate)}`)
      .join(", "),
  };
  const texts = {
    best: t(
      "On {time}, variant {variant} won: it had the most {measure, select, open {opens} click " +
        "{clicks} other {conversions}} ({rates}).",
      values,
    ),
    tie: t(
      "On {time}, variant {variant} won: the best variants were equal, and it has the greatest " +
        "share or came first ({rates}).",
      values,
    ),
    no_data: t(
      "On {time}, variant {variant} won: there were no {measure, select, open {opens} click " +
        "{clicks} other {conversions}}, and it has the greatest share or came first ({rates}).",
      values,
    ),
  };
  return (
    <p>
      {texts[winner.reason]} {winner.certainty !== null && describeCertainty(winner.certainty)}
    </p>
  );
}

/** The unsubscribe link is another one in each email. */
function nameOfLink(url: string | null): string {
  if (url === null) return t("All other links");
  return url.endsWith("/unsubscribe/{token}") ? t("Unsubscribe link") : url;
}

const linkColumns: PlainColumn<CampaignLink>[] = [
  { label: t("Link"), breaks: true, render: ({ url }) => nameOfLink(url) },
  {
    label: t("Recipients"),
    isNumber: true,
    render: ({ uniqueClicks }) => formatNumber(uniqueClicks),
  },
  { label: t("Clicks"), isNumber: true, render: ({ clicks }) => formatNumber(clicks) },
];

function Links({ campaignId }: { campaignId: number }) {
  const { data, error } = useQuery(queries.campaignLinks(campaignId));
  const clicks = data?.links.reduce((sum, link) => sum + link.clicks, 0) ?? 0;
  return (
    <Card title={t("Clicked links")}>
      <ErrorNote error={error} />
      {data?.links.length === 0 && <p className="quiet">{t("Nobody has clicked a link yet.")}</p>}
      {data && data.links.length > 0 && (
        <>
          <PlainTable
            label={t("Clicked links")}
            columns={linkColumns}
            rows={data.links}
            keyOf={({ url }) => url ?? ""}
          />
          <p className="quiet">
            {t(
              "{clicks, plural, one {# click} other {# clicks}} on {links, plural, one {# link} " +
                "other {# links}}, those of machines included.",
              { clicks, links: data.links.length },
            )}
          </p>
        </>
      )}
    </Card>
  );
}

/** Why contacts of the audience get no email, as the API counts them. */
const exclusionReasons = {
  suppressed: t("On the suppression list"),
  unsubscribed: t("Unsubscribed or not confirmed"),
  notInTopic: t("Not subscribed to the topic"),
  snoozed: t("Paused marketing email"),
  capped: t("Got marketing email too recently"),
  heldOut: t("In the hold-out group"),
} as const;

function NotMailed({ campaign: { accounting, stats } }: { campaign: CampaignDetail }) {
  const reasons: [string, number][] = [
    ...Object.entries(exclusionReasons).map(([key, label]): [string, number] => [
      label,
      accounting[key as keyof typeof exclusionReasons],
    ]),
    [t("Address twice in the audience"), accounting.duplicate],
    [t("Address not valid"), accounting.invalid],
    [t("Failed"), accounting.failed],
    [t("Uncertain"), accounting.uncertain],
    [t("Cancelled"), accounting.cancelled],
  ];
  const shown = reasons.filter(([, count]) => count > 0);
  return (
    <Card title={t("Who did not get it")}>
      {shown.length === 0 && (
        <p className="quiet">
          {isReported(stats)
            ? t("An email to everybody in the audience was sent.")
            : t(
                "An email to everybody in the audience was sent. Whether they arrived " +
                  "is not known.",
              )}
        </p>
      )}
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
    label: t("Campaign"),
    render: ({ id, name }) => (
      <Link to="/campaigns/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { label: t("Sent"), isNumber: true, render: ({ stats }) => formatNumber(stats.sent) },
  { label: t("Opened"), isNumber: true, render: ({ stats }) => formatRate(stats.openRate) },
  { label: t("Clicked"), isNumber: true, render: ({ stats }) => formatRate(stats.clickRate) },
  {
    label: t("Unsubscribed"),
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
    <Card title={t("Compared with the latest campaigns")}>
      <PlainTable
        label={t("Comparison")}
        columns={comparisonColumns}
        rows={[campaign, ...others]}
        keyOf={({ id }) => id}
      />
    </Card>
  );
}
