// The RSS or Atom feed of a recurring campaign: its fields, and a preview with the live feed.

import { Button, NumberInput, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { CampaignSeries, SeriesPreview } from "pennymail";
import { useMe } from "../../../data/session.ts";
import { formatTime } from "../../../format.ts";
import { t } from "../../../language/translate.ts";
import { EmailPreview } from "../../../parts/email-preview.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";

export type RssChoice = Pick<
  NonNullable<CampaignSeries["rss"]>,
  "url" | "mode" | "maxItems" | "since"
>;
/** Without `since`, only items from now on are sent. */
export type NewRss = Omit<RssChoice, "since"> & Partial<Pick<RssChoice, "since">>;

const mostCampaigns = 10;
const emptyRss: NewRss = { url: "", mode: "digest", maxItems: mostCampaigns };

interface RssFieldsProps {
  /** `null`: the emails show the template as it is. */
  rss: NewRss | null;
  onChange(rss: NewRss | null): void;
}

export function RssFields({ rss, onChange }: RssFieldsProps) {
  return (
    <>
      <Switch
        label={t("News from a feed (RSS or Atom)")}
        description={t("Sends only items that it has not sent yet, and nothing without new ones.")}
        checked={rss !== null}
        onChange={({ currentTarget: { checked } }) => onChange(checked ? emptyRss : null)}
      />
      {rss && <Fields rss={rss} onChange={onChange} />}
    </>
  );
}

function Fields({ rss, onChange }: { rss: NewRss; onChange(rss: NewRss): void }) {
  const isEach = rss.mode === "each";
  const most = isEach ? mostCampaigns : 50;
  return (
    <>
      <TextInput
        label={t("Address of the feed")}
        description={t("The template shows its new items as {{ feed.items }}.")}
        placeholder="https://blog.shop.example/feed.xml"
        required
        maxLength={2048}
        value={rss.url}
        onChange={({ currentTarget: { value } }) => onChange({ ...rss, url: value.trim() })}
      />
      <SegmentedControl
        aria-label={t("Emails")}
        value={rss.mode}
        onChange={(mode) =>
          onChange({
            ...rss,
            mode: mode === "each" ? "each" : "digest",
            maxItems: Math.min(rss.maxItems, mode === "each" ? mostCampaigns : rss.maxItems),
          })
        }
        data={[
          { value: "digest", label: t("One email with all items") },
          { value: "each", label: t("An email for each item") },
        ]}
      />
      <NumberInput
        label={t("Items at a time")}
        description={t("When more are new, the newest are sent, and the others never.")}
        min={1}
        max={most}
        allowDecimal={false}
        clampBehavior="strict"
        value={rss.maxItems}
        onChange={(value) => Number(value) && onChange({ ...rss, maxItems: Number(value) })}
      />
    </>
  );
}

interface SeriesPreviewButtonProps {
  run(): Promise<SeriesPreview>;
  isDisabled?: boolean;
}

/** Shows the next email with the feed as it is now. */
export function SeriesPreviewButton({ run, isDisabled = false }: SeriesPreviewButtonProps) {
  const preview = useMutation({ mutationFn: run });
  return (
    <>
      <div className="buttons">
        <Button
          variant="default"
          disabled={isDisabled}
          loading={preview.isPending}
          onClick={() => preview.mutate()}
        >
          {t("Preview the next email")}
        </Button>
      </div>
      <ErrorNote error={preview.error} />
      {preview.data && <NextEmail preview={preview.data} />}
    </>
  );
}

function NextEmail({ preview: { feed, newItems, samples } }: { preview: SeriesPreview }) {
  const { timezone } = useMe().organization;
  const [sample] = samples;
  return (
    <section className="stack" aria-label={t("Next email")}>
      {feed && (
        <>
          <p role="status">
            {newItems
              ? t("{count, plural, one {# new item} other {# new items}} in {feed}", {
                  count: newItems,
                  feed: feed.title || t("the feed"),
                })
              : t("No new items: nothing would be sent now. The latest items, as an example:")}
          </p>
          <ul>
            {feed.items.map(({ id, title, publishedAt }) => (
              <li key={id}>
                {title || id}{" "}
                {publishedAt && (
                  <small className="quiet">{formatTime(publishedAt, timezone)}</small>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {!sample && <p className="quiet">{t("Nobody would get this campaign now.")}</p>}
      {sample?.error && <p className="tone-bad">{sample.error}</p>}
      {sample && (
        <p>
          <b>{sample.subject}</b>{" "}
          <span className="quiet">{t("to {email}", { email: sample.email })}</span>
        </p>
      )}
      {sample?.html && (
        <EmailPreview
          html={sample.html}
          text={sample.text}
          title={t("Email to {email}", { email: sample.email })}
        />
      )}
    </section>
  );
}

/** Whether the feed could be read. */
export function RssStateNote({ series: { rssState, nextAt } }: { series: CampaignSeries }) {
  const { timezone } = useMe().organization;
  if (!rssState) return null;
  const at = formatTime(rssState.checkedAt, timezone);
  if (rssState.status === "ok")
    return (
      <p className="quiet">
        {t("{feed} was read on {at}.", { feed: rssState.title || t("The feed"), at })}
      </p>
    );
  const next = rssState.status === "retrying" && nextAt ? formatTime(nextAt, timezone) : undefined;
  return (
    <p className="tone-bad">
      {rssState.error}.{" "}
      {next ? t("It is tried again on {next}.", { next }) : t("The next time tries it again.")}
    </p>
  );
}
