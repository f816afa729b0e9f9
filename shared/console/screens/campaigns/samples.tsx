import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CampaignDetail, CampaignPreview } from "pennymail";
import { useState } from "react";
import type { Warned } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { EmailPreview } from "../../parts/email-preview.tsx";

interface SamplesProps {
  campaign: CampaignDetail;
  preview: (CampaignPreview & Warned) | undefined;
}

/** The email as some of its recipients will see it. */
export function Samples({ campaign, preview }: SamplesProps) {
  const [index, setIndex] = useState(0);
  const sample = preview?.samples[index] ?? preview?.samples[0];
  if (!preview) return <EmailOnly templateId={campaign.templateId} />;
  return (
    <div className="stack">
      <Warnings warnings={preview.warnings} />
      {sample ? (
        <>
          <Select
            label={t("As it looks for")}
            data={preview.samples.map(({ email }, i) => ({ value: String(i), label: email }))}
            value={String(preview.samples.indexOf(sample))}
            allowDeselect={false}
            searchable
            onChange={(value) => setIndex(Number(value))}
          />
          <p>
            <b>{sample.subject}</b>
            {sample.variantId !== null && (
              <span className="quiet">
                {" "}
                {t("Variant {name}", { name: nameOf(campaign, sample.variantId) })}
              </span>
            )}
          </p>
          <p className="quiet">{describeSender(sample)}</p>
          {sample.missingVariables.length > 0 && (
            <p className="tone-warn">
              {t("Empty for this contact: {variables}", {
                variables: sample.missingVariables.join(", "),
              })}
            </p>
          )}
          {sample.error && <p className="tone-bad">{sample.error}</p>}
          {sample.html && (
            <EmailPreview
              html={sample.html}
              text={sample.text}
              title={t("Email to {email}", { email: sample.email })}
            />
          )}
          {!sample.html && sample.text && <pre className="plain-email">{sample.text}</pre>}
        </>
      ) : (
        <p className="quiet">{t("Nobody would get this campaign now.")}</p>
      )}
    </div>
  );
}

/** The email for no contact, as long as audience or sender are missing. */
function EmailOnly({ templateId }: { templateId: number | null }) {
  const { data } = useQuery({
    ...queries.renderedDraft(templateId ?? 0, {}),
    enabled: templateId !== null,
  });
  if (!data?.html)
    return <p className="quiet">{t("Choose an audience, an email and a sender first.")}</p>;
  return (
    <div className="stack">
      <p>
        <b>{data.subject}</b>
      </p>
      <EmailPreview html={data.html} title={t("Email")} />
    </div>
  );
}

function describeSender(sample: CampaignPreview["samples"][number]): string {
  const { fromName, fromEmail, replyTo } = sample;
  const sender = fromName ? `${fromName} <${fromEmail}>` : fromEmail;
  return replyTo
    ? t("From {sender}, replies to {replyTo}", { sender, replyTo })
    : t("From {sender}", { sender });
}

const nameOf = ({ variants }: CampaignDetail, variantId: number): string =>
  variants.find(({ id }) => id === variantId)?.name ?? "";

function Warnings({ warnings }: { warnings: string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul className="warnings" aria-label={t("Before you send")}>
      {warnings.map((warning) => (
        <li key={warning}>
          <Warning text={warning} />
        </li>
      ))}
    </ul>
  );
}

function Warning({ text }: { text: string }) {
  if (/postal address/.test(text))
    return (
      <>
        {t(
          "Marketing email must show a postal address in many countries. Give " +
            "the organization one.",
        )}
      </>
    );
  if (/is not verified/.test(text))
    return <>{t("The sender is not verified yet, so the provider may refuse the emails.")}</>;
  return text;
}
